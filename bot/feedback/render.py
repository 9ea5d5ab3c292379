"""Render the sticky comment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from bot import regex
from bot.feedback import document as documents
from bot.feedback.entry_text import EntryContext, render_entry
from bot.feedback.marker import feedback_marker, fit_marker
from bot.feedback.model import FailedGate, Feedback
from bot.feedback.progress_text import fold_progress
from bot.feedback.status_text import (
    closing_heading,
    feedback_heading,
    next_line,
    pushed_since_text,
    rejection_heading,
    rulings_line,
    short_next_line,
    where_line,
)
from bot.gates.config import DocumentPolicy
from bot.markdown.escape import code_span, one_line, truncate
from bot.markdown.format import fold, format_count
from bot.markdown.links import LinkContext

MAX_COMMENT_LENGTH = 20_000
MAX_GATES_IN_FULL = 10
MAX_TAGS_LISTED = 40
MAX_THREADS_LISTED = 20
_MIN_THREADS = 2
_SIZES = ((10, 10), (10, 5), (10, 2), (5, 1), (3, 1), (1, 1), (1, 0), (0, 0))
"""Entries in full and items of the document, until the comment is short enough."""
_SHORT_HINT = "<sub>This comment updates as you push. Disagree? Reply in the thread.</sub>"


def render_comment(feedback: Feedback, site: LinkContext, whole: documents.DocumentJson) -> str:
    """Render the comment with a copy of the document, at most 20,000 characters, with one marker."""
    if not feedback.pull_request.open or not feedback.rejecting:
        return _render_closing(feedback, site)
    if is_short_form(feedback):
        return _render_short(feedback)
    return _fit(lambda size: _render_rejected(feedback, site, whole, size))


def render_superseded(successor_url: str) -> str:
    """Render what is left of a comment that a newer one replaces; it carries no marker."""
    return f"Superseded by [a newer comment]({successor_url})."


def render_tags(
    failed: tuple[FailedGate, ...], issues: tuple[str, ...], source: str, at: datetime, identity: str
) -> str:
    """Render a comment from tags alone, within the same limits as one in a thread."""
    data = {
        "issues": list(issues),
        "source": truncate(source, 100),
        "ts": at.isoformat(timespec="seconds"),
        "v": 1,
        "id": identity,
        "verdict": "refine",
        "blocking": [gate.tag for gate in failed if gate.blocking and gate.tag],
    }
    marker = fit_marker(data)
    blocking = sum(gate.blocking for gate in failed)
    heading = rejection_heading(blocking, len(failed) - blocking, is_formal=False)
    return _fit(lambda size: _join(marker, heading, *_entry_blocks(failed, size[0], None)))


def is_short_form(feedback: Feedback) -> bool:
    """Whether all that is open are several threads of one person, and the author is not an agent."""
    validators = {verdict.validator.key: verdict.validator for verdict in feedback.rejecting}
    validators |= {finding.validator.key: finding.validator for finding in feedback.findings}
    is_by_people = not any(validator.bot or validator.check for validator in validators.values())
    return (
        not feedback.is_agent
        and is_by_people
        and len(validators) == 1
        and not feedback.more
        and len(feedback.findings) >= _MIN_THREADS
        and not any(gate.tag for gate in feedback.gates)
        and all(finding.item.comment_id is not None and finding.item.url for finding in feedback.findings)
    )


def _fit(render: Callable[[tuple[int, int]], str]) -> str:
    """Render with as much as fits into one comment."""
    for size in _SIZES:
        text = render(size)
        if len(text) <= MAX_COMMENT_LENGTH:
            return text
    return truncate(text, MAX_COMMENT_LENGTH)


def _join(*blocks: str) -> str:
    return "\n\n".join(block for block in blocks if block) + "\n"


def _render_rejected(
    feedback: Feedback, site: LinkContext, whole: documents.DocumentJson, size: tuple[int, int]
) -> str:
    return _join(
        feedback_marker(feedback),
        feedback_heading(feedback),
        next_line(feedback),
        where_line(feedback, site.web),
        rulings_line(feedback),
        *_entry_blocks(feedback.gates, size[0], EntryContext.of(feedback, site), feedback.more),
        *feedback.notes,
        fold_progress(feedback, site.web),
        _fold_document(feedback, whole, size[1]),
        _command_hints(feedback),
    )


def _render_closing(feedback: Feedback, site: LinkContext) -> str:
    """Render the comment once nothing rejects it, or it was merged or closed: no advice any more."""
    return _join(
        feedback_marker(feedback),
        closing_heading(feedback, site.web),
        next_line(feedback),
        pushed_since_text(feedback),
        rulings_line(feedback),
        fold_progress(feedback, site.web),
    )


def _render_short(feedback: Feedback) -> str:
    """Render several threads of one person: links only, since the words are directly above."""
    reviewer = feedback.gates[0].findings[0].validator.name
    blocking, warnings = feedback.blocking, feedback.warnings
    blocks = []
    if blocking:
        threads, one = format_count(len(blocking), "thread"), len(blocking) == 1
        blocks.append(
            f"**[BLOCK] Review comments**: {threads} by {code_span(reviewer)} {'is' if one else 'are'} open\n"
            f"  - Fix: Change the code or reply in {'it' if one else 'each'}: {_thread_links(blocking)}"
        )
    if warnings:
        count = len(warnings)
        what = "1 question or suggestion" if count == 1 else f"{count} questions or suggestions"
        blocks.append(
            f"**[WARN] Review comments**: {what}\n  - Fix: Answer or ignore: {_thread_links(warnings)}"
        )
    return _join(
        feedback_marker(feedback),
        feedback_heading(feedback),
        short_next_line(feedback, reviewer),
        pushed_since_text(feedback),
        *blocks,
        _SHORT_HINT,
    )


def _thread_links(gates: Sequence[FailedGate]) -> str:
    items = [finding.item for gate in gates for finding in gate.findings]
    links = [f"[{code_span(str(item.place or 'thread'), 200)}]({item.url})" for item in items]
    more = [f"and {len(links) - MAX_THREADS_LISTED} more"] if len(links) > MAX_THREADS_LISTED else []
    return ", ".join([*links[:MAX_THREADS_LISTED], *more])


def _entry_blocks(
    failed: Sequence[FailedGate], most: int, context: EntryContext | None, more: int = 0
) -> list[str]:
    """Render the entries: blocking ones, folded warnings, and one line for those without room."""
    full = failed[: min(most, MAX_GATES_IN_FULL)]
    has_blocking = any(gate.blocking for gate in failed)
    blocks = [render_entry(gate, context) for gate in full if gate.blocking or not has_blocking]
    warnings = [gate for gate in full if not gate.blocking]
    if has_blocking and warnings:
        count = sum(not gate.blocking for gate in failed)
        names = ", ".join(dict.fromkeys(gate.name for gate in warnings))
        texts = "\n\n".join(render_entry(gate, context) for gate in warnings)
        blocks.append(fold(f"{format_count(count, 'warning')}, not blocking: {_inline_text(names)}", texts))
    blocks.append(_remaining_line(failed[len(full) :], more))
    return blocks


def _remaining_line(gates: Sequence[FailedGate], more: int) -> str:
    """Name the entries without room, and count the tags that the review named beyond what is read."""
    listed = ", ".join(code_span(gate.label) for gate in gates[:MAX_TAGS_LISTED])
    line = f"and {len(gates)} more{f': {listed}' if listed else ''}" if gates else ""
    if len(gates) > MAX_TAGS_LISTED:
        line += ", …"
    if not more:
        return line
    verb = "is" if more == 1 else "are"
    unread = f"{format_count(more, 'further tag')} named in the review {verb} not counted"
    return f"{line}; {unread}" if line else unread


def _fold_document(feedback: Feedback, whole: documents.DocumentJson, most: int) -> str:
    """Fold the comment's copy of the document, where it has room and the config wants one."""
    is_wanted = feedback.document is DocumentPolicy.ALWAYS or (
        feedback.document is DocumentPolicy.AGENTS and feedback.is_agent
    )
    count = len(whole["feedback_items"])
    if not (is_wanted and most and count):
        return ""
    fence = documents.document_fence(documents.shorten_document(whole, most))
    return fold(f"Machine-readable feedback (JSON, {format_count(count, 'finding')})", fence)


def _command_hints(feedback: Feedback) -> str:
    """Return the last line: what its reader can do besides fixing it, with names from this comment."""
    last_first = (*reversed(feedback.blocking), *feedback.warnings)
    tagged = next((gate.tag for gate in last_first if gate.tag and gate.gate), None)
    disputed = next((gate.tag or gate.id for gate in last_first), None)
    hints = [f"Disagree? `/feedback-appeal {disputed} reason: …`"] if disputed else []
    hints += [f"More about a gate: `/feedback-explain {tagged}`"] if tagged else []
    return f"<sub>{' · '.join((*hints, 'Your history: `/feedback-history`'))}</sub>"


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
