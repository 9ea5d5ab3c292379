"""Render the sticky comment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot import regex
from bot.feedback import document as documents
from bot.feedback import progress_text
from bot.feedback.marker import FEEDBACK_MARKER, fit_marker, marker_data
from bot.feedback.model import FailedGate, Feedback, GateItem
from bot.gates.config import GroundingRules
from bot.grounding.items import claim_with_source, unconfirmed_message
from bot.iterations import selection
from bot.iterations.model import current_dismissals
from bot.markdown.escape import CODE_LIMIT, code_span, escape_mentions, one_line, render_marker, truncate
from bot.markdown.format import format_count, join_words
from bot.markdown.links import GitHubLinks, LinkContext, format_login, short_sha
from bot.pull_request.model import Ruling, Stance, Validator, Verdict
from bot.values import Location

_MAX_REASON = 120  # characters of a reason at its gate


def render_dismissals(rulings: Sequence[Ruling]) -> str:
    """Render the line that names what was dismissed, by whom and why; empty for nothing."""
    parts = [
        f"{code_span(ruling.tag)} by {format_login(ruling.by)} at {code_span(short_sha(ruling.head))} "
        f"({code_span(ruling.reason, _MAX_REASON)})"
        for ruling in rulings
    ]
    return f"Dismissed: {join_words(parts)}." if parts else ""


def render_appeal(ruling: Ruling) -> str:
    """Render the appeal at a gate."""
    return f"Appealed: by {format_login(ruling.by)}, {code_span(ruling.reason, _MAX_REASON)}"


_MAX_ACTION = 300  # characters of what somebody says to do
_MAX_WORDS = 500  # of words that stand where a gate is described: nothing else says what is wrong


def render_gate(
    failed: FailedGate, where: str = "", rules: GroundingRules | None = None, guide: str = ""
) -> str:
    """Render a gate: name, description, fix with tag, then locations and suggestion where known.

    The tag links to the gate's guide, where there is one.
    """
    icon = "BLOCK" if failed.blocking else "WARN"
    what = escape_mentions(failed.gate.description) if failed.gate else _unknown_gate_text(failed)
    auto = " (auto-fixable)" if failed.is_auto_fixable else ""
    name = escape_mentions(failed.name) if failed.gate or not failed.tag else code_span(failed.tag)
    lines = [f"**[{icon}] {name}**: {what}{auto}", f"  - Fix: {_fix_text(failed, guide)}"]
    if where:
        lines.append(f"  - Where: {where}")
    if write := _suggestion_text(failed):
        lines.append(f"  - Write: {write}")
    if failed.appeal:
        lines.append(f"  - {failed.appeal}")
    elif grounding := next(
        (finding.grounding for finding in failed.findings if is_unconfirmed(finding)), None
    ):
        catalogue = (rules or GroundingRules()).catalogue
        lines.append(
            f"  - Not confirmed: {unconfirmed_message(grounding.decisive, catalogue, grounding.also)}"
        )
    elif failed.recurrence:
        lines.append(f"  - Again: {failed.recurrence}")
    return "\n".join(lines)


def render_locations(
    failed: FailedGate,
    places: list[str],
    head: str,
    rules: GroundingRules | None = None,
    *,
    bare: bool = False,
) -> str:
    """Render the locations, the validator's text, and the source.

    Empty where only the tag was stated, unless `bare` asks for its author.
    """
    finding = representative_item(failed)
    if not places and not (finding.item.words and failed.tag) and not bare:
        return ""
    # Without a tag there is no gate to describe it: the words stand in its place.
    words = f" — {code_span(finding.item.words)}" if finding.item.words and failed.tag else ""
    claim = f"{', '.join(places) or 'no place given'}{words}"
    return claim_with_source(
        claim, finding.grounding, f"{_origin_text(finding)} @ {head[:7]}", rules or GroundingRules()
    )


def is_unconfirmed(finding: GateItem) -> bool:
    """Whether something that the item claims was not confirmed."""
    return finding.grounding is not None and finding.grounding.doubted


def representative_item(failed: FailedGate) -> GateItem:
    """Return the item whose text represents the gate."""
    return next((finding for finding in failed.findings if finding.item.words), failed.findings[0])


def _origin_text(finding: GateItem) -> str:
    way = "check" if finding.validator.check and not finding.validator.is_log else f"{finding.origin.way} by"
    return f"{way} {code_span(finding.validator.name)}"


def _unknown_gate_text(failed: FailedGate) -> str:
    if not failed.tag:
        return code_span(representative_item(failed).item.words or "nothing more was said", _MAX_WORDS)
    near = f"; the nearest known tag is {code_span(failed.nearest)}" if failed.nearest else ""
    return f"no gate of this repository has this tag{near}"


def _fix_text(failed: FailedGate, guide: str) -> str:
    fix = escape_mentions(failed.gate.fix) if failed.gate else documents.GENERIC_FIX
    if not failed.tag:
        action = representative_item(failed).item.action
        return code_span(action, _MAX_ACTION) if action else fix
    tag = code_span(failed.tag)
    inferred = (
        f" (understood from plain words, confidence {failed.confidence:.2f})" if failed.confidence else ""
    )
    return f"{fix} {f'[{tag}]({guide})' if guide else tag}{inferred}"


def _suggestion_text(failed: FailedGate) -> str:
    """Return the suggestion, or where it is: joined or shortened lines would be something else."""
    item = next((finding.item for finding in failed.findings if finding.item.suggestion), None)
    if item is None or not item.suggestion:
        return ""
    lines = len(item.suggestion.strip().splitlines())
    if lines <= 1 and len(item.suggestion.strip()) <= CODE_LIMIT:
        return code_span(item.suggestion)
    what = "the line" if lines == 1 else f"the {lines} lines"
    return (
        f"[{what} of the suggestion]({item.url})"
        if item.offered and item.url
        else f"{what} under `example` in the document"
    )


MAX_DOUBTS = 10
MAX_TAGS_LISTED = 40


def fold_warnings(warnings: list[FailedGate], lines: list[str], of: int) -> str:
    """Fold the warnings beside blocking gates."""
    if not warnings:
        return ""
    names = ", ".join(dict.fromkeys(gate.name if gate.gate else (gate.tag or gate.name) for gate in warnings))
    return _fold(f"{format_count(of, 'warning')}, not blocking: {_inline_text(names)}", "\n\n".join(lines))


def list_remaining(names: list[str], more: int) -> str:
    """List the gates that are only named, and count the omitted ones."""
    left_out = len(names) + more
    if not left_out:
        return ""
    tags = ", ".join(code_span(tag) for tag in names[:MAX_TAGS_LISTED])
    return f"and {left_out} more: {tags}" if tags else f"and {left_out} more"


def fold_unverified(feedback: Feedback, shown: int) -> str:
    """Fold the items with unconfirmed claims that their gates do not show already."""
    doubted = [
        (gate, finding)
        for rank, gate in enumerate(feedback.gates)
        for finding in [each for each in gate.findings if is_unconfirmed(each)][
            _count_shown_doubts(gate) if rank < shown else 0 :
        ]
    ]
    if not doubted:
        return ""
    lines = [_doubt_line(gate, finding, feedback) for gate, finding in doubted[:MAX_DOUBTS]]
    return _fold(f"Could not verify {format_count(len(doubted), 'more item')}", "\n".join(lines))


def fold_quality(feedback: Feedback, web: GitHubLinks) -> str:
    """Fold the scores from the second iteration on; once it is closed, the selection report."""
    progress, report = feedback.progress, feedback.report
    if progress is None:
        return ""
    if report is not None:
        result = progress_text.progress_summary(progress.trajectory, way_back=False)
        return _fold(result, selection.render_selection_report(report).rstrip())
    pull_request = feedback.pull_request
    fold = progress_text.fold_progress(
        progress.trajectory, progress.present, progress.gates, web, pull_request.repository
    )
    override = (
        pull_request.override
        if pull_request.override and pull_request.override.head == pull_request.head
        else None
    )
    return "\n\n".join(
        part for part in (progress_text.override_line(override) if override else "", fold) if part
    )


def fold_document(copy: documents.DocumentJson | None) -> str:
    """Fold the document, where the comment has room for one."""
    items = copy.get("feedback_items") if copy else None
    if copy is None or not isinstance(items, list) or not items:
        return ""
    more = copy.get("more", 0)
    count = len(items) + (more if isinstance(more, int) else 0)
    return _fold(
        f"Machine-readable feedback (JSON, {format_count(count, 'item')})", documents.document_fence(copy)
    )


def _count_shown_doubts(gate: FailedGate) -> int:
    """Return how many doubts the gate's own lines show: an appeal replaces the one."""
    return 0 if gate.appeal else 1


def _doubt_line(gate: FailedGate, finding: GateItem, feedback: Feedback) -> str:
    place = code_span(str(finding.item.place), 200) if finding.item.place else "no place given"
    catalogue = feedback.grounding.catalogue
    message = unconfirmed_message(finding.grounding.decisive, catalogue) if finding.grounding else ""
    return f"- {code_span(gate.tag or gate.name)}, {place}: {message}"


def _fold(result: str, inside: str) -> str:
    return f"<details><summary>{result}</summary>\n\n{inside}\n\n</details>"


def _inline_text(text: str) -> str:
    """Escape text in a summary element, where HTML, mentions and references work but Markdown does not."""
    text = _REFERENCE.sub(_break_reference, truncate(one_line(text), 200))
    return text.replace("&", "&amp;").replace("<", "&lt;")


_REFERENCE = regex.Regex(r"[@#/]|gh-|[0-9a-f]{7,}", ignore_case=True)


def _break_reference(match: regex.RegexMatch) -> str:
    """Insert a word joiner that keeps GitHub from making a link: behind the sign, or in the number."""
    text, at = match[0], match.start()
    if text.lower() == "gh-" and regex.is_word(match.string[at - 1 : at]):
        return str(text)
    return "\u2060".join(text[start : start + 6] for start in range(0, len(text), 6)) + "\u2060" * (
        len(text) < 6
    )


def comment_heading(blocking: int, warnings: int) -> str:
    """Return the comment's heading."""
    if blocking:
        tail = f", {format_count(warnings, 'warning')}" if warnings else ""
        return f"**Rejected** — {format_count(blocking, 'blocking issue')}{tail}"
    if warnings:
        return f"**Warnings** — {format_count(warnings, 'non-blocking issue')}"
    return "**Rejected** — no issue named"


def no_blocking_line(feedback: Feedback) -> str:
    """Name who requests changes, where nothing that they name blocks."""
    if feedback.blocking:
        return ""
    names = _join_distinct([_validator_text(verdict.validator) for verdict in feedback.rejecting])
    verb = "requests" if len(feedback.rejecting) == 1 else "request"
    what = "a blocking gate" if feedback.gates else "a gate"
    return f"{names} {verb} changes without naming {what}."


def status_line(feedback: Feedback, web: GitHubLinks) -> str:
    """Name the iteration, its reviewers, and the changes since the one before."""
    iteration = feedback.iteration
    current = [verdict for verdict in iteration.standing if verdict.head in {iteration.head, None}]
    at, by = head_link(feedback, web), _reviewers_text(feedback, current)
    line = f"Iteration {documents.format_iteration_budget(feedback)} at {at}, {by}."
    if earlier := [verdict for verdict in feedback.rejecting if current and verdict not in current]:
        names = _join_distinct([_validator_text(verdict.validator) for verdict in earlier])
        line += f" The earlier verdict of {names} still stands."
    if feedback.previous:
        changes = feedback.changes
        line += (
            f" Since iteration {feedback.previous.number}: {len(changes.fixed)} fixed, "
            f"{len(changes.still_open)} still open, {len(changes.new)} new."
        )
    return line


def next_step_line(feedback: Feedback) -> str:
    """Return the next step, in at most two sentences."""
    if feedback.verdict == "escalate":
        return f"**Next**: stop, a person decides: {escalation_reason(feedback)}."
    blocking = len(feedback.blocking)
    if not feedback.gates:
        return f"**Next**: ask {code_span(feedback.source)} what to change."
    if not blocking:
        what = "the warning" if len(feedback.gates) == 1 else f"the {len(feedback.gates)} warnings"
        return f"**Next**: mend {what}, or ask {code_span(feedback.source)} what else blocks."
    what = "the blocking issue" if blocking == 1 else f"the {blocking} blocking issues in this order"
    return f"**Next**: fix {what}{_checks_text(feedback)}.{_shorter_path_text(feedback)}"


def escalation_reason(feedback: Feedback) -> str:
    """Return why a person has to decide."""
    if feedback.iteration.number >= feedback.max_iterations:
        return f"all {feedback.max_iterations} iterations are used up"
    tags = _join_distinct([code_span(tag) for tag in feedback.repeated])
    return f"{tags} {'keeps' if len(feedback.repeated) == 1 else 'keep'} coming back"


def head_link(feedback: Feedback, web: GitHubLinks) -> str:
    """Return a link to the reviewed head."""
    return web.commit(feedback.pull_request.repository, feedback.iteration.head)


def _reviewers_text(feedback: Feedback, current: list[Verdict]) -> str:
    """Name the reviewers of this revision, and who of them approves."""
    approving = [verdict for verdict in current if verdict.stance is Stance.APPROVES]
    other_verdicts = [verdict for verdict in current if verdict not in approving]
    reviewers = _join_distinct(
        [_validator_text(verdict.validator) for verdict in other_verdicts or approving or feedback.rejecting]
    )
    verb = "approves" if len(approving) == 1 else "approve"
    if not approving:
        return f"judged by {reviewers}"
    names = _join_distinct([_validator_text(verdict.validator) for verdict in approving])
    return (
        f"judged by {reviewers}; {names} {verb}" if other_verdicts else f"judged by {reviewers}, who {verb}"
    )


def _shorter_path_text(feedback: Feedback) -> str:
    progress, tags = feedback.progress, [gate.tag for gate in feedback.blocking]
    way = progress_text.shorter_path_line(progress.trajectory, progress.gates, tags) if progress else ""
    return f" {way}" if way else ""


def _checks_text(feedback: Feedback) -> str:
    tools = [verdict.validator for verdict in feedback.rejecting if verdict.validator.check]
    checks = _join_distinct([code_span(tool.name) for tool in tools if not tool.is_log])
    logs = _join_distinct([code_span(tool.name) for tool in tools if tool.is_log])
    steps = [f"make {checks} pass"] if checks else []
    steps += [f"hand in a clean log of {logs}"] if logs else []
    return f", then {' and '.join(steps)}" if steps else ""


def _validator_text(validator: Validator) -> str:
    name = code_span(validator.name)
    if validator.is_log:
        return f"the log of {name}"
    return f"the check {name}" if validator.check else name


def _join_distinct(names: list[str]) -> str:
    unique = tuple(dict.fromkeys(names))
    return join_words(unique) if unique else ""


MAX_COMMENT_LENGTH = 20_000
MAX_GATES_IN_FULL = 10
MAX_LOCATIONS_PER_GATE = 3
COMMAND_HINTS = (
    "<sub>Unclear: `/feedback-explain TAG` · wrong: `/feedback-appeal TAG reason: …` · "
    "your record: `/feedback-history`</sub>"
)
"""The last line of a rejection: what its reader can do besides fixing it."""


def render_comment(feedback: Feedback, site: LinkContext, whole: documents.DocumentJson) -> str:
    """Render the comment with a copy of the document, at most 20,000 characters, with one marker."""
    if not feedback.rejecting:
        return _render_resolved(feedback, site)
    for gates, items in ((10, 10), (10, 5), (10, 2), (5, 1), (3, 1), (1, 1), (1, 0), (0, 0)):
        text = _render_rejected(
            feedback, site, gates, documents.shorten_document(whole, items) if items else None
        )
        if len(text) <= MAX_COMMENT_LENGTH:
            return text
    return truncate(text, MAX_COMMENT_LENGTH)


def render_superseded(successor_url: str) -> str:
    """Render what is left of a comment that a newer one replaces; it carries no marker."""
    return f"Superseded by [a newer comment]({successor_url})."


def _render_rejected(
    feedback: Feedback, site: LinkContext, max_gates: int, copy: documents.DocumentJson | None
) -> str:
    blocks = [
        render_marker(FEEDBACK_MARKER, marker_data(feedback)),
        comment_heading(len(feedback.blocking), len(feedback.warnings)),
        no_blocking_line(feedback),
        status_line(feedback, site.web),
        render_dismissals(current_dismissals(feedback.pull_request, feedback.iteration.ledger)),
        next_step_line(feedback),
    ]
    full = feedback.gates[: min(max_gates, MAX_GATES_IN_FULL)]
    blocks += [_render_gate(gate, feedback, site) for gate in full if gate.blocking or not feedback.blocking]
    if feedback.blocking:
        warnings = [gate for gate in full if not gate.blocking]
        texts = [_render_gate(gate, feedback, site) for gate in warnings]
        blocks.append(fold_warnings(warnings, texts, len(feedback.warnings)))
    blocks.append(
        list_remaining([gate.tag or gate.name for gate in feedback.gates[len(full) :]], feedback.more)
    )
    blocks.append(fold_unverified(feedback, len(full)))
    blocks.append(feedback.hint)
    blocks.append(fold_quality(feedback, site.web))
    blocks.append(fold_document(copy))
    blocks.append(COMMAND_HINTS)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _render_resolved(feedback: Feedback, site: LinkContext) -> str:
    counts = [f"{count} {status.value}" for status, count in feedback.closed.items() if count]
    what = ", ".join(counts) or "no verdict rejects it any more"
    result = (
        f"**Resolved** — {what} at {head_link(feedback, site.web)}, iteration {feedback.iteration.number}"
    )
    dismissed = render_dismissals(current_dismissals(feedback.pull_request, feedback.iteration.ledger))
    blocks = [
        render_marker(FEEDBACK_MARKER, marker_data(feedback)),
        result,
        dismissed,
        fold_quality(feedback, site.web),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _render_gate(failed: FailedGate, feedback: Feedback, site: LinkContext) -> str:
    repository, head = feedback.pull_request.repository, feedback.iteration.head
    links = [
        site.web.blob(repository, head, place) + _location_notes(failed, place)
        for place in failed.places[:MAX_LOCATIONS_PER_GATE]
    ]
    if len(failed.places) > MAX_LOCATIONS_PER_GATE:
        links.append(f"{len(failed.places) - MAX_LOCATIONS_PER_GATE} more")
    locations = render_locations(failed, links, head, feedback.grounding, bare=not _is_one_review(feedback))
    guide = failed.gate.guide if failed.gate else None
    address = site.web.guide_url(repository, guide) if guide else ""
    return render_gate(failed, locations, feedback.grounding, address)


def _is_one_review(feedback: Feedback) -> bool:
    """Whether all items are from one review, which the line above the gates names already."""
    return len(feedback.rejecting) == 1 and feedback.rejecting[0].id.startswith("review:")


def _location_notes(failed: FailedGate, location: Location) -> str:
    """Return the notes of all items at one location, each once: it shows the text of only one of them."""
    notes = [_location_note(finding) for finding in failed.findings if finding.item.place == location]
    distinct = list(dict.fromkeys(note for note in notes if note))
    more = (
        [f"{len(distinct) - MAX_LOCATIONS_PER_GATE} more"] if len(distinct) > MAX_LOCATIONS_PER_GATE else []
    )
    return f" ({', '.join([*distinct[:MAX_LOCATIONS_PER_GATE], *more])})" if distinct else ""


def _location_note(finding: GateItem) -> str:
    """Return the part of the file, or the line that the location moved from."""
    grounding, location = finding.grounding, finding.item.place
    if location and location.line is None and finding.item.part:
        return code_span(finding.item.part[1])
    if grounding is None or grounding.moved_from is None or grounding.place is None:
        return ""
    return f"moved: line {grounding.moved_from} → {grounding.place.end_line or grounding.place.line}"


def render_tags(
    failed: tuple[FailedGate, ...], issues: tuple[str, ...], source: str, at: datetime, identity: str
) -> str:
    """Render a comment from tags alone, within the same limits as one in a thread."""
    first = _marker(failed, issues, source, at, identity)
    for most in (MAX_GATES_IN_FULL, 5, 3, 1, 0):
        text = _render_tag_text(first, failed, source, most)
        if len(text) <= MAX_COMMENT_LENGTH:
            return text
    return truncate(text, MAX_COMMENT_LENGTH)


def _marker(
    failed: tuple[FailedGate, ...], issues: tuple[str, ...], source: str, at: datetime, identity: str
) -> str:
    known = {"source": truncate(source, 100), "ts": at.isoformat(timespec="seconds"), "v": 1, "id": identity}
    blocking = [gate.tag for gate in failed if gate.blocking and gate.tag]

    def made(issues: list[str], blocking: list[str], left_out: int) -> dict[str, object]:
        more = {"more": left_out} if left_out else {}
        return {"issues": issues, **known, "verdict": "refine", "blocking": blocking, **more}

    return render_marker(FEEDBACK_MARKER, fit_marker(list(issues), blocking, 0, made))


def _render_tag_text(first: str, failed: tuple[FailedGate, ...], source: str, most: int) -> str:
    blocking = sum(gate.blocking for gate in failed)
    asks = "" if blocking else f"{code_span(source)} requests changes without naming a blocking gate."
    full = failed[:most]
    blocks = [first, comment_heading(blocking, len(failed) - blocking), asks]
    blocks += [render_gate(gate) for gate in full if gate.blocking or not blocking]
    if blocking:
        warnings = [gate for gate in full if not gate.blocking]
        blocks.append(
            fold_warnings(warnings, [render_gate(gate) for gate in warnings], len(failed) - blocking)
        )
    blocks.append(list_remaining([gate.tag or gate.name for gate in failed[most:]], 0))
    return "\n\n".join(block for block in blocks if block) + "\n"
