"""What does a comment only name, or fold away?"""

from __future__ import annotations

from bot.domain import document as documents
from bot.domain import quality_fold, regex, selection_report
from bot.domain.escape import code_span, cut, one_line
from bot.domain.feedback import FailedGate, Feedback, Finding
from bot.domain.gate_text import is_doubted
from bot.domain.grounding.words import not_confirmed
from bot.domain.links import Web
from bot.domain.phrasing import counted

MOST_DOUBTS = 10
MOST_TAGS_NAMED = 40


def folded(warnings: list[FailedGate], told: list[str], of: int) -> str:
    """Warnings beside what blocks: these, as they are told, of so many."""
    if not warnings:
        return ""
    names = ", ".join(dict.fromkeys(gate.name if gate.gate else (gate.tag or gate.name) for gate in warnings))
    return _fold(f"{counted(of, 'warning')}, not blocking: {_plain(names)}", "\n\n".join(told))


def only_named(names: list[str], more: int) -> str:
    """What is only named, and how much there is besides that is not even named."""
    left_out = len(names) + more
    if not left_out:
        return ""
    tags = ", ".join(code_span(tag) for tag in names[:MOST_TAGS_NAMED])
    return f"and {left_out} more: {tags}" if tags else f"and {left_out} more"


def could_not_verify(feedback: Feedback, shown: int) -> str:
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
    return _fold(f"Could not verify {counted(len(doubted), 'more item')}", "\n".join(lines))


def folded_quality(feedback: Feedback, web: Web) -> str:
    """From the second iteration on how the quality went; once it is closed, which iteration is selected."""
    course, report = feedback.course, feedback.report
    if course is None:
        return ""
    if report is not None:
        result = quality_fold.summary(course.trajectory, way_back=False)
        return _fold(result, selection_report.render(report).rstrip())
    known = feedback.pull_request
    fold = quality_fold.fold(course.trajectory, course.present, course.gates, web, known.repository)
    made = known.override if known.override and known.override.head == known.head else None
    return "\n\n".join(part for part in (quality_fold.decided(made) if made else "", fold) if part)


def folded_document(copy: documents.Json | None) -> str:
    """The document, where the comment has room for one."""
    items = copy.get("feedback_items") if copy else None
    if copy is None or not isinstance(items, list) or not items:
        return ""
    more = copy.get("more", 0)
    count = len(items) + (more if isinstance(more, int) else 0)
    return _fold(f"Machine-readable feedback (JSON, {counted(count, 'item')})", documents.fenced(copy))


def _said_at_gate(gate: FailedGate) -> int:
    """How many of a gate's doubts stand in its own lines: an appeal takes the place of the one."""
    return 0 if gate.appealed else 1


def _doubt(gate: FailedGate, finding: Finding, feedback: Feedback) -> str:
    place = code_span(str(finding.item.place), 200) if finding.item.place else "no place given"
    known = feedback.grounding.catalogue
    said = not_confirmed(finding.grounding.decisive, known) if finding.grounding else ""
    return f"- {code_span(gate.tag or gate.name)}, {place}: {said}"


def _fold(result: str, inside: str) -> str:
    return f"<details><summary>{result}</summary>\n\n{inside}\n\n</details>"


def _plain(text: str) -> str:
    """Text inside a summary element, where Markdown is not read but HTML, mentions and references are."""
    text = _LIVE.sub(_inert, cut(one_line(text), 200))
    return text.replace("&", "&amp;").replace("<", "&lt;")


_LIVE = regex.Pattern(r"[@#/]|gh-|[0-9a-f]{7,}", ignore_case=True)


def _inert(found: regex.Match) -> str:
    """Put a word joiner where it keeps GitHub from making a link: behind the sign, or in the number."""
    text, at = found[0], found.start()
    if text.lower() == "gh-" and regex.is_word(found.string[at - 1 : at]):
        return str(text)
    return "\u2060".join(text[start : start + 6] for start in range(0, len(text), 6)) + "\u2060" * (
        len(text) < 6
    )


"""After what a word joiner keeps a mention, a number, an address or a commit from being one."""
