"""Render one entry of the comment: all findings of a tag, or one finding without a tag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot import regex
from bot.feedback.document import GENERIC_FIX
from bot.feedback.model import FailedGate, Feedback, GateItem
from bot.gates.config import GroundingRules, GroundingTool
from bot.grounding.items import claim_with_source, unconfirmed_message
from bot.markdown.escape import CODE_LIMIT, code_span, escape_mentions
from bot.markdown.format import join_words
from bot.markdown.links import GitHubLinks, LinkContext
from bot.values import Location, Repository

MAX_LOCATIONS_PER_GATE = 3
SHOWN_CONFIDENCE = 0.6
"""The confidence from which a tag that plain words suggest is shown."""
_MAX_ACTION = 300  # characters of what somebody says to do
_MAX_WORDS = 500  # of words that stand where a gate is described: nothing else says what is wrong
_NO_LOCATION = "no location given"
_WAYS = {"inline comment": "review"}
"""How a source is called in the comment, where that is not its own name."""


@dataclass(frozen=True, slots=True)
class EntryContext:
    """What the entries of one comment have in common."""

    repository: Repository
    head: str
    web: GitHubLinks
    rules: GroundingRules
    thread: str = ""
    """The address of the pull request's own page."""
    heads: Mapping[str, str] = field(default_factory=dict)
    """The head that each finding was last reported at, by id."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What the validators are called, by key."""
    names_every_source: bool = False
    """There are several sources, so that even an entry without a location names its own."""

    @classmethod
    def of(cls, feedback: Feedback, site: LinkContext) -> EntryContext:
        """Collect it from the feedback."""
        return cls(
            feedback.pull_request.repository,
            feedback.iteration.head,
            site.web,
            feedback.grounding,
            site.web.pull_url(feedback.pull_request.repository, feedback.pull_request.number),
            {finding.id: finding.head for finding in feedback.iteration.ledger.open},
            feedback.names,
            len(feedback.rejecting) > 1 or not feedback.rejecting[0].id.startswith("review:"),
        )


def render_entry(failed: FailedGate, context: EntryContext | None = None) -> str:
    """Render an entry: name, description, fix, then locations, suggestion and one note where known."""
    icon = "BLOCK" if failed.blocking else "WARN"
    name = escape_mentions(failed.name) if failed.gate or not failed.tag else code_span(failed.tag)
    auto = " (auto-fixable)" if failed.is_auto_fixable else ""
    lines = [f"**[{icon}] {name}**: {_description(failed)}{auto}", f"  - Fix: {_fix_text(failed, context)}"]
    if context:
        lines += [f"  - Where: {where}" for where in _where_lines(failed, context)]
    thread = context.thread if context else ""
    if failed.tag and (suggestion := _suggestion_text(failed, thread)):
        lines.append(f"  - Suggested change: {suggestion}")
    if note := _note(failed, context.rules if context else GroundingRules()):
        lines.append(f"  - {note}")
    return "\n".join(lines)


def _is_location_unconfirmed(finding: GateItem) -> bool:
    """Whether the doubt is about the location itself, not about what its file is said to contain."""
    grounding, place = finding.grounding, finding.item.place
    if grounding is None or place is None or not grounding.doubted:
        return False
    return any(
        claim.path == place.path and (claim.is_place or claim.tool in {"", GroundingTool.TREE})
        for claim in (grounding.decisive, *grounding.also)
    )


def safe_link(label: str, url: str, thread: str) -> str:
    """Return a link, or nothing for an address that would break the text or touch another thread.

    The address of a check's result is whatever its tool gave GitHub.
    """
    if not url.startswith(("https://", "http://")) or _UNSAFE.search(url):
        return ""
    is_own = bool(thread) and url.startswith(f"{thread}#")
    return f"[{label}]({url})" if is_own or not _THREAD.search(url) else ""


_UNSAFE = regex.Regex(r"[^!-~]|[()<>\[\]`\"\\]|\.\.")
_THREAD = regex.Regex(r"/(?:pulls?|issues|discussions|commit)/", ignore_case=True)


def _description(failed: FailedGate) -> str:
    if failed.gate:
        return escape_mentions(failed.gate.description)
    if not failed.tag:
        words = (finding.item.words for finding in failed.findings)
        return code_span(next(filter(None, words), "no further explanation"), _MAX_WORDS)
    near = f"; the nearest known tag is {code_span(failed.nearest)}" if failed.nearest else ""
    return f"no gate of this repository has this tag{near}"


def _fix_text(failed: FailedGate, context: EntryContext | None) -> str:
    if not failed.tag:
        return f"{_untagged_fix(failed, context.thread if context else '')}{_likely_tag(failed)}"
    tag, guide = code_span(failed.tag), failed.gate.guide if failed.gate else None
    if context and guide:
        tag = f"[{tag}]({context.web.guide_url(context.repository, guide)})"
    tests = (finding.failing_test for finding in failed.findings)
    test, error = next((pair for pair in tests if pair[0]), ("", ""))
    if test:
        return f"Make {code_span(test)} pass{f': {code_span(error)}' if error else ''}. {tag}"
    return f"{escape_mentions(failed.gate.fix) if failed.gate else GENERIC_FIX} {tag}"


def _untagged_fix(failed: FailedGate, thread: str) -> str:
    """Return what to do about a finding without a tag: what its validator suggests, or an answer."""
    item = failed.findings[0].item
    name = f" {code_span(failed.id)}" if failed.id else ""
    if suggestion := _suggestion_text(failed, thread):
        return f"{suggestion}{name}"
    if item.action:
        return f"{code_span(item.action, _MAX_ACTION)}{name}"
    if link := safe_link("the thread" if item.comment_id else "the review", item.url, thread):
        return f"Change it, or reply {'in' if item.comment_id else 'to'} {link}.{name}"
    return f"Change it, or answer it.{name}"


def _likely_tag(failed: FailedGate) -> str:
    items = (finding.item for finding in failed.findings)
    likely = (item.looks_like for item in items if (item.inferred or 0) >= SHOWN_CONFIDENCE)
    tag = next(filter(None, likely), None)
    return f" (looks like {code_span(tag)})" if tag else ""


def _suggestion_text(failed: FailedGate, thread: str) -> str:
    """Return the suggestion, or where it is: joined or shortened lines would be something else."""
    item = next((finding.item for finding in failed.findings if finding.item.suggestion), None)
    if item is None or not item.suggestion:
        return ""
    lines = len(item.suggestion.strip().splitlines())
    if lines <= 1 and len(item.suggestion.strip()) <= CODE_LIMIT:
        return code_span(item.suggestion)
    what = "the line" if lines == 1 else f"the {lines} lines"
    link = safe_link(f"{what} of the suggestion", item.url, thread) if item.offered else ""
    return link or f"{what} under `example` in the document"


def _note(failed: FailedGate, rules: GroundingRules) -> str:
    """Return the one note: an appeal, what was not verified, where it came back, or how often."""
    groundings = [finding.grounding for finding in failed.findings if finding.grounding]
    doubts = [grounding for grounding in groundings if grounding.doubted]
    doubt = unconfirmed_message(doubts[0].decisive, rules.catalogue, doubts[0].also) if doubts else ""
    if len(doubts) > 1:
        doubt += f" And {len(doubts) - 1} more, in the document."
    if failed.appeal:
        return f"Appealed: {failed.appeal}{f'; not verified: {doubt}' if doubt else ''}"
    if doubt:
        return f"Not verified: {doubt}"
    if failed.regression:
        return f"Regressed: {failed.regression}"
    return f"Recurring: {failed.recurrence}" if failed.recurrence else ""


def _where_lines(failed: FailedGate, context: EntryContext) -> list[str]:
    """Return a line for each location, the last one with the source of all of them."""
    by_place: dict[Location | None, list[GateItem]] = {}
    for finding in failed.findings:
        if finding.item.place or (failed.tag and _shown_words(finding)):
            by_place.setdefault(finding.item.place, []).append(finding)
    # Words without a location say more than a bare location does, and less than a located remark.
    groups = sorted(by_place.items(), key=lambda group: group[0] is None)
    if not groups:
        return [_add_source(_NO_LOCATION, failed.findings, context)] if context.names_every_source else []
    lines = [
        _location_line(failed, place, findings, context)
        for place, findings in groups[:MAX_LOCATIONS_PER_GATE]
    ]
    if more := len(groups) - len(lines):
        lines[-1] += f", and {more} more"
    return [*lines[:-1], _add_source(lines[-1], failed.findings, context)]


def _location_line(
    failed: FailedGate, place: Location | None, findings: Sequence[GateItem], context: EntryContext
) -> str:
    words = dict.fromkeys(_shown_words(finding) for finding in findings) if failed.tag else {}
    quoted = "; ".join([code_span(text) for text in words if text][:MAX_LOCATIONS_PER_GATE])
    runs = dict.fromkeys(finding.item.url for finding in findings if finding.failing_test[0])
    run = next((f", {link}" for url in runs if (link := safe_link("run", url, context.thread))), "")
    if place is None:
        return f"{_NO_LOCATION}{run}{f', {quoted}' if quoted else ''}"
    # A location that could not be confirmed may not exist: no link leads there.
    is_confirmed = not all(map(_is_location_unconfirmed, findings))
    link = context.web.blob(context.repository, context.head, place) if is_confirmed else ""
    location = link or code_span(str(place), 200)
    return f"{location}{_location_notes(findings)}{run}{f' {quoted}' if quoted else ''}"


def _shown_words(finding: GateItem) -> str:
    """Return the words that the location shows; those of a failing test are in the fix already."""
    return "" if finding.failing_test[0] else finding.item.words


def _location_notes(findings: Iterable[GateItem]) -> str:
    """Return the notes of all items at one location, each once."""
    notes = list(dict.fromkeys(filter(None, map(_location_note, findings))))
    more = len(notes) - MAX_LOCATIONS_PER_GATE
    shown = notes[:MAX_LOCATIONS_PER_GATE] + [f"{more} more"] * (more > 0)
    return f" ({', '.join(shown)})" if notes else ""


def _location_note(finding: GateItem) -> str:
    """Return the part of the file, or the line that the location moved from."""
    grounding, location = finding.grounding, finding.item.place
    if location and location.line is None and finding.item.part and finding.item.part[0] != "test":
        return code_span(finding.item.part[1])
    if grounding is None or grounding.moved_from is None or grounding.place is None:
        return ""
    return f"moved: line {grounding.moved_from} → {grounding.place.end_line or grounding.place.line}"


def _add_source(claim: str, findings: Sequence[GateItem], context: EntryContext) -> str:
    """Append the source once: who reported it, and with what a single remark was verified."""
    confirmed = [finding for finding in findings if not (finding.grounding and finding.grounding.doubted)]
    if not confirmed:
        return claim
    validators = {finding.validator.key for finding in confirmed}
    grounding = next((finding.grounding for finding in confirmed if finding.grounding), None)
    return claim_with_source(
        claim,
        grounding if len(validators) == 1 else None,
        _sources(confirmed, context),
        context.rules,
    )


def _sources(findings: Iterable[GateItem], context: EntryContext) -> str:
    """Name who reported it, by kind and head: "reviews by `alice` and `bob` @ 9f2c1e4"."""
    names: dict[tuple[str, str], dict[str, None]] = {}
    for finding in findings:
        is_check = finding.validator.check and not finding.validator.is_log
        way = "check" if is_check else _WAYS.get(finding.origin.way, finding.origin.way)
        head = context.heads.get(finding.item.finding, context.head)
        names.setdefault((way, head), {})[context.names[finding.validator.key]] = None
    return ", ".join(
        f"{way}{'s' if len(people) > 1 else ''}{'' if way == 'check' else ' by'} "
        f"{join_words(tuple(people))} @ {head[:7]}"
        for (way, head), people in names.items()
    )
