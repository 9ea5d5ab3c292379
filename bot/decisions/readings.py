"""What does each round of a brief go by: the event and its gates, then annotations, then what was looked up?

Hardly anything is read for a brief alone: annotations are read when the check is heard, claims when the
comment is about to be written; only for an error without a framework is a manifest read, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.domain import regex
from bot.domain.brief import Known, OpenItem, Reading
from bot.domain.choices import ClaimType
from bot.domain.feedback import FailedGate, Feedback, Finding
from bot.domain.framework import in_trace
from bot.domain.grounding.result import Outcome
from bot.domain.model import Item
from bot.domain.prose import Kind, mask

MOST_READ = 6_000
"""Characters of what was said, and of what was printed, that a brief goes by."""

_COMMENT = regex.Pattern(r"(?s)<!--.*?(?:-->|\z)")
_FAILS = regex.Pattern(r"(?i)\b(?:fail\w*|broken?|red|errors?)\b")


def readings(feedback: Feedback, said: str) -> tuple[Reading, ...]:
    """What is known after each round, in the order in which it costs."""
    known = _of_event(feedback, said)
    annotated = _with_annotations(known, feedback)
    return (
        Reading(1, _items(feedback, annotated=False), known),
        Reading(2, _items(feedback, annotated=True), annotated),
        Reading(3, _resolved(feedback), _looked_up(annotated, feedback)),
    )


def failed_checks(feedback: Feedback) -> tuple[str, ...]:
    """The names of the checks that reject it."""
    tools = (verdict.validator for verdict in feedback.rejecting)
    return tuple(dict.fromkeys(tool.name for tool in tools if tool.check and not tool.is_log))


def failed_logs(feedback: Feedback) -> tuple[str, ...]:
    """The names of the tools whose logs reject it that were handed in."""
    tools = (verdict.validator for verdict in feedback.rejecting)
    return tuple(dict.fromkeys(tool.name for tool in tools if tool.is_log))


def output_of(feedback: Feedback) -> str:
    """What the failed checks printed, the newest first."""
    printed = (verdict.said for verdict in reversed(feedback.rejecting) if verdict.validator.check)
    return "\n\n".join(each for each in printed if each)[:MOST_READ]


def _of_event(feedback: Feedback, said: str) -> Known:
    evidence = (item.evidence for item in _stated(feedback) if not _is_annotation(item))
    output = output_of(feedback)
    return Known(
        asked=feedback.source,
        said=_without_tags(said, feedback),
        output=_COMMENT.sub(" ", output),
        checks=failed_checks(feedback),
        logs=failed_logs(feedback),
        framework=in_trace(f"{output}\n{said}"),
        seen=tuple(dict.fromkeys(shown for shown in evidence if shown)),
        only_checks=all(verdict.validator.check for verdict in feedback.rejecting),
    )


def _with_annotations(known: Known, feedback: Feedback) -> Known:
    found = [item for item in _stated(feedback) if _is_annotation(item)]
    titles = ((item.evidence or "").removesuffix(item.words).rstrip(": ") for item in found)
    return replace(
        known,
        annotations=tuple(dict.fromkeys(item.evidence or item.words for item in found)),
        titles=tuple(dict.fromkeys(title for title in titles if title)),
    )


def _looked_up(known: Known, feedback: Feedback) -> Known:
    """What is known together with what was seen of the head: places that hold, checks that failed."""
    shown = [
        finding.grounding.decisive
        for gate in feedback.gates
        for finding in gate.findings
        if finding.grounding and finding.grounding.confirmed and not finding.by.check
    ]
    failed = (
        each.check for each in shown if each.type == ClaimType.TEST_RESULTS and _FAILS.search(each.claim)
    )
    return replace(
        known,
        checks=tuple(dict.fromkeys((*known.checks, *(check for check in failed if check)))),
        framework=known.framework or feedback.pull_request.framework or "",
        seen=tuple(dict.fromkeys((*known.seen, *(each.source for each in shown)))),
    )


def _items(feedback: Feedback, *, annotated: bool) -> tuple[OpenItem, ...]:
    """What is open, as the verdicts themselves have it."""
    return tuple(
        _item(gate, tuple(_findings(feedback, gate, annotated=annotated)), feedback)
        for gate in feedback.gates
    )


def _resolved(feedback: Feedback) -> tuple[OpenItem, ...]:
    """What is open, each item at the place where it was found."""
    return tuple(_item(gate, gate.findings, feedback) for gate in feedback.gates)


def _findings(feedback: Feedback, gate: FailedGate, *, annotated: bool) -> Iterator[Finding]:
    aspects = {finding.item.aspect for finding in gate.findings}
    for verdict in feedback.rejecting:
        for item in verdict.items:
            same = item.tag == gate.tag and (item.tag is not None or item.aspect in aspects)
            if same and (annotated or not _is_annotation(item)):
                yield Finding(item, verdict.validator)


def _item(gate: FailedGate, findings: Sequence[Finding], feedback: Feedback) -> OpenItem:
    items = [finding.item for finding in findings]
    telling = next((item for item in items if item.words), None)
    wrong = _not_there(feedback)
    places = (item.place for item in items if item.place and str(item.place)[:200] not in wrong)
    fix = (telling and telling.action) or (gate.gate.fix if gate.gate else "")
    shown = any(finding.by.is_log or _is_annotation(finding.item) for finding in findings)
    return OpenItem(
        name=gate.name,
        words=telling.words if telling else "",
        fix=fix,
        places=tuple(dict.fromkeys(places)),
        is_blocking=gate.blocking,
        suggestion=next((item.suggestion for item in items if item.suggestion), None),
        expects=fix if shown else "",
    )


def _not_there(feedback: Feedback) -> frozenset[str]:
    """The claims that were found wrong at this head: a place among them is no place to look at."""
    return frozenset(
        entry.claim
        for entry in feedback.pull_request.grounding
        if entry.head == feedback.iteration.head and entry.outcome == Outcome.CONTRADICTED
    )


def _stated(feedback: Feedback) -> tuple[Item, ...]:
    return tuple(item for verdict in feedback.rejecting for item in verdict.items)


def _is_annotation(item: Item) -> bool:
    return item.origin is not None and item.origin.way == "annotation"


def _without_tags(said: str, feedback: Feedback) -> str:
    """The own words without what is meant for machines: a tag such as `flaky_test` is no test's name."""
    plain = mask(_COMMENT.sub(" ", said), Kind.QUOTE)
    for tag in feedback.issues:
        if tag in plain:
            plain = regex.Pattern(rf"\[?({regex.escape(tag)})\]?:?[ \t]*").sub(_unless_part, plain)
    return plain


def _unless_part(found: regex.Match) -> str:
    """Return nothing for a tag, and all of what is part of a longer word."""
    start, end = found.span(1)
    is_part = any(map(regex.is_word, (found.string[start - 1 : start], found.string[end : end + 1])))
    return str(found[0]) if is_part else ""
