"""How does feedback read in the thread? One comment that a person and a machine can act on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bot.domain import document as documents
from bot.domain import quality_fold, selection_report
from bot.domain.commands.ruling_text import dismissed_line
from bot.domain.escape import code_span, cut, marker, one_line
from bot.domain.feedback import FailedGate, Feedback, Finding
from bot.domain.gate_text import gate_block, is_doubted, where
from bot.domain.grounding.words import not_confirmed
from bot.domain.links import Web
from bot.domain.model import Place, Stance, Validator, Verdict
from bot.domain.rulings import dismissed_now

MARKER = "REJECTION"
MOST_CHARACTERS = 20_000
MOST_MARKER = 1_000
MOST_IN_FULL = 10
MOST_PLACES = 3
MOST_DOUBTS = 10
MOST_TAGS_NAMED = 40
COMMANDS = (
    "<sub>Unclear: `/feedback-explain TAG` · wrong: `/feedback-appeal TAG reason: …` · "
    "your record: `/feedback-history`</sub>"
)
"""The last line of a rejection: what its reader can do besides mending it."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where links lead: the web address of GitHub, and that of our own schemas."""

    web: Web
    schema: str = documents.SCHEMA_ID
    public_url: str | None = None
    """Where our own server is reached, as far as known."""


def render(feedback: Feedback, site: Site) -> str:
    """The comment's text, at most 20,000 characters, with exactly one marker."""
    if not feedback.rejecting:
        return _resolved(feedback, site)
    whole = documents.document(feedback, site.schema)
    for gates, items in ((10, 10), (10, 5), (10, 2), (5, 1), (3, 1), (1, 1), (1, 0), (0, 0)):
        text = _rejected(feedback, site, gates, documents.brief_copy(whole, items) if items else None)
        if len(text) <= MOST_CHARACTERS:
            return text
    return cut(text, MOST_CHARACTERS)


def superseded(successor_url: str) -> str:
    """What is left of a comment that a newer one replaces; it carries no marker."""
    return f"Superseded by [a newer comment]({successor_url})."


def marker_data(feedback: Feedback) -> dict[str, object]:
    """The marker's object, small enough for one line: tags that don't fit are counted."""
    blocking = [gate.tag for gate in feedback.blocking if gate.tag]
    return fitting(list(feedback.issues), blocking, feedback.more, partial(_marker, feedback))


def fitting(
    issues: list[str],
    blocking: list[str],
    left_out: int,
    made: Callable[[list[str], list[str], int], dict[str, object]],
) -> dict[str, object]:
    """The object that is made of as many tags as fit into one line, and of the number of the others."""
    while True:
        data = made(issues, blocking, left_out)
        if len(marker(MARKER, data)) <= MOST_MARKER or not (issues or blocking):
            return data
        dropped = (issues or blocking).pop()
        left_out += 1
        blocking = [tag for tag in blocking if tag != dropped]


def _marker(feedback: Feedback, issues: list[str], blocking: list[str], left_out: int) -> dict[str, object]:
    data: dict[str, object] = {
        "issues": issues,
        "source": cut(feedback.source, 100),
        "ts": feedback.at.isoformat(timespec="seconds"),
        "v": 1,
        "id": feedback.id,
        "verdict": feedback.verdict,
        "blocking": blocking,
        "head": feedback.iteration.head,
        "iteration": feedback.iteration.number,
        "max_iterations": feedback.max_iterations,
        "best": {"iteration": feedback.best.number, "head": feedback.best.head},
    }
    return {**data, "more": left_out} if left_out else data


def _rejected(feedback: Feedback, site: Site, most: int, copy: documents.Json | None) -> str:
    blocks = [
        marker(MARKER, marker_data(feedback)),
        heading(len(feedback.blocking), len(feedback.warnings)),
        _without_blocking(feedback),
        _where_we_are(feedback, site),
        dismissed_line(dismissed_now(feedback.pull_request)),
        _next(feedback),
    ]
    full = feedback.gates[: min(most, MOST_IN_FULL)]
    blocks += [_gate(gate, feedback, site) for gate in full if gate.blocking or not feedback.blocking]
    if feedback.blocking:
        warnings = [gate for gate in full if not gate.blocking]
        told = [_gate(gate, feedback, site) for gate in warnings]
        blocks.append(folded(warnings, told, len(feedback.warnings)))
    blocks.append(only_named([gate.tag or gate.name for gate in feedback.gates[len(full) :]], feedback.more))
    blocks.append(_could_not_verify(feedback, len(full)))
    blocks.append(feedback.hint)
    blocks.append(_folded_quality(feedback, site))
    blocks.append(_folded_document(copy))
    blocks.append(COMMANDS)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _resolved(feedback: Feedback, site: Site) -> str:
    issues = feedback.was_open
    gone = "the issue is gone" if issues == 1 else f"all {issues} issues are gone"
    gone = gone if issues else "no verdict rejects it any more"
    heading = f"**Resolved** — {gone} at {_head(feedback, site)}, iteration {feedback.iteration.number}"
    dismissed = dismissed_line(dismissed_now(feedback.pull_request))
    blocks = [marker(MARKER, marker_data(feedback)), heading, dismissed, _folded_quality(feedback, site)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def heading(blocking: int, warnings: int) -> str:
    """How bad it is, in one line."""
    if blocking:
        tail = f", {_count(warnings, 'warning')}" if warnings else ""
        return f"**Rejected** — {_count(blocking, 'blocking issue')}{tail}"
    if warnings:
        return f"**Warnings** — {_count(warnings, 'non-blocking issue')}"
    return "**Rejected** — no issue named"


def _without_blocking(feedback: Feedback) -> str:
    if feedback.blocking:
        return ""
    who = _all_of([_validator(verdict.validator) for verdict in feedback.rejecting])
    verb = "requests" if len(feedback.rejecting) == 1 else "request"
    what = "a blocking gate" if feedback.gates else "a gate"
    return f"{who} {verb} changes without naming {what}."


def _where_we_are(feedback: Feedback, site: Site) -> str:
    iteration = feedback.iteration
    here = [verdict for verdict in iteration.standing if verdict.head in {iteration.head, None}]
    line = (
        f"Iteration {documents.of_budget(feedback)} at {_head(feedback, site)}, {_judged_by(feedback, here)}."
    )
    if earlier := [verdict for verdict in feedback.rejecting if here and verdict not in here]:
        names = _all_of([_validator(verdict.validator) for verdict in earlier])
        line += f" The earlier verdict of {names} still stands."
    if feedback.previous:
        changes = feedback.changes
        line += (
            f" Since iteration {feedback.previous.number}: {len(changes.fixed)} fixed, "
            f"{len(changes.still_open)} still open, {len(changes.new)} new."
        )
    return line


def _judged_by(feedback: Feedback, here: list[Verdict]) -> str:
    """Who judged this revision, and who of them approves."""
    approving = [verdict for verdict in here if verdict.stance is Stance.APPROVES]
    others = [verdict for verdict in here if verdict not in approving]
    judges = _all_of([_validator(verdict.validator) for verdict in others or approving or feedback.rejecting])
    verb = "approves" if len(approving) == 1 else "approve"
    if not approving:
        return f"judged by {judges}"
    names = _all_of([_validator(verdict.validator) for verdict in approving])
    return f"judged by {judges}; {names} {verb}" if others else f"judged by {judges}, who {verb}"


def _next(feedback: Feedback) -> str:
    if feedback.verdict == "escalate":
        return f"**Next**: stop, a person decides: {why_escalated(feedback)}."
    blocking = len(feedback.blocking)
    if not feedback.gates:
        return f"**Next**: ask {code_span(feedback.source)} what to change."
    if not blocking:
        what = "the warning" if len(feedback.gates) == 1 else f"the {len(feedback.gates)} warnings"
        return f"**Next**: mend {what}, or ask {code_span(feedback.source)} what else blocks."
    what = "the blocking issue" if blocking == 1 else f"the {blocking} blocking issues in this order"
    return f"**Next**: fix {what}{_then_checks(feedback)}.{_shorter(feedback)}"


def why_escalated(feedback: Feedback) -> str:
    """Why a person has to decide."""
    if feedback.iteration.number >= feedback.max_iterations:
        return f"all {feedback.max_iterations} iterations are used up"
    tags = _all_of([code_span(tag) for tag in feedback.repeated])
    return f"{tags} {'keeps' if len(feedback.repeated) == 1 else 'keep'} coming back"


def _shorter(feedback: Feedback) -> str:
    course, tags = feedback.course, [gate.tag for gate in feedback.blocking]
    way = quality_fold.shorter_way(course.trajectory, course.gates, tags) if course else ""
    return f" {way}" if way else ""


def _then_checks(feedback: Feedback) -> str:
    tools = [verdict.validator for verdict in feedback.rejecting if verdict.validator.check]
    checks = _all_of([code_span(tool.name) for tool in tools if not tool.is_log])
    logs = _all_of([code_span(tool.name) for tool in tools if tool.is_log])
    todo = [f"make {checks} pass"] if checks else []
    todo += [f"hand in a clean log of {logs}"] if logs else []
    return f", then {' and '.join(todo)}" if todo else ""


def _gate(failed: FailedGate, feedback: Feedback, site: Site) -> str:
    repository, head = feedback.pull_request.repository, feedback.iteration.head
    places = [
        site.web.blob(repository, head, place) + _notes(failed, place)
        for place in failed.places[:MOST_PLACES]
    ]
    if len(failed.places) > MOST_PLACES:
        places.append(f"{len(failed.places) - MOST_PLACES} more")
    said = where(failed, places, head, feedback.grounding, bare=not _is_one_review(feedback))
    guide = failed.gate.guide if failed.gate else None
    address = site.web.guide_url(repository, guide) if guide else ""
    return gate_block(failed, said, feedback.grounding, address)


def _is_one_review(feedback: Feedback) -> bool:
    """Whether everything was said in one review, which the line above the gates names already."""
    return len(feedback.rejecting) == 1 and feedback.rejecting[0].id.startswith("review:")


def _notes(failed: FailedGate, place: Place) -> str:
    """What the items of one place note of it, each once: beside it stand the words of only one of them."""
    said = [_note(finding) for finding in failed.findings if finding.item.place == place]
    notes = list(dict.fromkeys(note for note in said if note))
    more = [f"{len(notes) - MOST_PLACES} more"] if len(notes) > MOST_PLACES else []
    return f" ({', '.join([*notes[:MOST_PLACES], *more])})" if notes else ""


def _note(finding: Finding) -> str:
    """What inside the file; or that a line was found again, and where it was before."""
    found, place = finding.grounding, finding.item.place
    if place and place.line is None and finding.item.part:
        return code_span(finding.item.part[1])
    if found is None or found.moved_from is None or found.place is None:
        return ""
    return f"moved: line {found.moved_from} → {found.place.end_line or found.place.line}"


def _could_not_verify(feedback: Feedback, shown: int) -> str:
    """The items whose claims were not confirmed and whose gate does not say so already."""
    doubted = [
        (gate, finding)
        for rank, gate in enumerate(feedback.gates)
        for finding in [each for each in gate.findings if is_doubted(each)][
            _said_at_gate(gate) if rank < shown else 0 :
        ]
    ]
    if not doubted:
        return ""
    lines = [_doubt(gate, finding, feedback) for gate, finding in doubted[:MOST_DOUBTS]]
    return _fold(f"Could not verify {_count(len(doubted), 'more item')}", "\n".join(lines))


def _said_at_gate(gate: FailedGate) -> int:
    """How many of a gate's doubts stand in its own lines: an appeal takes the place of the one."""
    return 0 if gate.appealed else 1


def _doubt(gate: FailedGate, finding: Finding, feedback: Feedback) -> str:
    place = code_span(str(finding.item.place), 200) if finding.item.place else "no place given"
    known = feedback.grounding.catalogue
    said = not_confirmed(finding.grounding.decisive, known) if finding.grounding else ""
    return f"- {code_span(gate.tag or gate.name)}, {place}: {said}"


def folded(warnings: list[FailedGate], told: list[str], of: int) -> str:
    """Warnings beside what blocks: these, as they are told, of so many."""
    if not warnings:
        return ""
    names = ", ".join(dict.fromkeys(gate.name if gate.gate else (gate.tag or gate.name) for gate in warnings))
    return _fold(f"{_count(of, 'warning')}, not blocking: {_plain(names)}", "\n\n".join(told))


def only_named(names: list[str], more: int) -> str:
    """What is only named, and how much there is besides that is not even named."""
    left_out = len(names) + more
    if not left_out:
        return ""
    tags = ", ".join(code_span(tag) for tag in names[:MOST_TAGS_NAMED])
    return f"and {left_out} more: {tags}" if tags else f"and {left_out} more"


def _folded_quality(feedback: Feedback, site: Site) -> str:
    """From the second iteration on how the quality went; once it is closed, which iteration is selected."""
    course, report = feedback.course, feedback.report
    if course is None:
        return ""
    if report is not None:
        result = quality_fold.summary(course.trajectory, way_back=False)
        return _fold(result, selection_report.render(report).rstrip())
    known = feedback.pull_request
    fold = quality_fold.fold(course.trajectory, course.present, course.gates, site.web, known.repository)
    made = known.override if known.override and known.override.head == known.head else None
    return "\n\n".join(part for part in (quality_fold.decided(made) if made else "", fold) if part)


def _folded_document(copy: documents.Json | None) -> str:
    items = copy.get("feedback_items") if copy else None
    if copy is None or not isinstance(items, list) or not items:
        return ""
    more = copy.get("more", 0)
    count = len(items) + (more if isinstance(more, int) else 0)
    return _fold(f"Machine-readable feedback (JSON, {_count(count, 'item')})", documents.fenced(copy))


def _fold(result: str, inside: str) -> str:
    return f"<details><summary>{result}</summary>\n\n{inside}\n\n</details>"


def _head(feedback: Feedback, site: Site) -> str:
    return site.web.commit(feedback.pull_request.repository, feedback.iteration.head)


def _validator(validator: Validator) -> str:
    name = code_span(validator.name)
    if validator.is_log:
        return f"the log of {name}"
    return f"the check {name}" if validator.check else name


def _all_of(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    return " and ".join([", ".join(unique[:-1]), unique[-1]] if len(unique) > 1 else unique)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _plain(text: str) -> str:
    """Text inside a summary element, where Markdown is not read but HTML, mentions and references are."""
    text = _LIVE.sub("\\g<0>\u2060", cut(one_line(text), 200))
    return text.replace("&", "&amp;").replace("<", "&lt;")


_LIVE = re.compile(r"[@#]|\bgh-|/|[0-9a-f]{6}(?=[0-9a-f])", re.IGNORECASE)
"""After what a word joiner keeps a mention, a number, an address or a commit from being one."""
