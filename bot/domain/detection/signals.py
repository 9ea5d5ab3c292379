"""Which of the source document's context signals a text shows."""

from __future__ import annotations

import re

from bot.domain.detection.evidence import Evidence
from bot.domain.detection.rules import FeedbackType, Says

_REDO = re.compile(
    r"\b(?:try again|start over|from scratch|redo|re-?do|rewrite|rework|do (?:it|this) again|revert)\b"
)
_REDO_PARTS = ("again", "over", "scratch", "redo", "re-do", "rewrite", "rework", "revert")
_INTENT = re.compile(
    r"\b(?:i meant|i mean|what i (?:want|need|asked)|i(?: would|['’]d) (?:rather|prefer)|instead"
    r"|should (?:be|rather)|the (?:goal|point|idea|intention) (?:is|was))\b"
)
_MOST_CUES = 6


def signals(found: FeedbackType, evidence: Evidence, text: str) -> tuple[str, ...]:
    """Return the signals of this type, then each cue that spoke for it with its words."""
    says = found.says
    cues = [
        f"{match.name}: {match.words}" for match in evidence.matches if match.says is says and match.points
    ]
    return (*_context(found, evidence, text), *tuple(dict.fromkeys(cues))[:_MOST_CUES])


def has_error_message(evidence: Evidence) -> bool:
    """Say whether a stack trace or an error message was pasted."""
    return any(shown.structure.name in _ERRORS for shown in evidence.shown)


def has_test_name(evidence: Evidence) -> bool:
    """Say whether a specific test is named."""
    return any(shown.structure.name == "test_name" for shown in evidence.shown)


def requests_redo(text: str) -> bool:
    """Say whether the author is told to do it again."""
    lowered = text.lower()
    return any(part in lowered for part in _REDO_PARTS) and _REDO.search(lowered) is not None


def requests_change(evidence: Evidence) -> bool:
    """Say whether something specific is asked for."""
    return any(match.name in ("asks_for_change", "slips", "then_merge") for match in evidence.matches)


_ERRORS = frozenset(("stack_trace", "signal", "exception_type", "error_line"))


def _context(found: FeedbackType, evidence: Evidence, text: str) -> tuple[str, ...]:
    match found:
        case FeedbackType.RUNTIME_ERROR | FeedbackType.VERIFICATION_FAILURE:
            pasted = (
                shown.structure.signal for shown in evidence.shown if shown.structure.says is found.says
            )
            return tuple(dict.fromkeys(pasted))
        case FeedbackType.USER_REJECTION:
            return _rejection(evidence, text)
        case FeedbackType.PARTIAL_SUCCESS:
            return _partial(evidence)


def _rejection(evidence: Evidence, text: str) -> tuple[str, ...]:
    negative = any(match.says is Says.USER_REJECTION and match.points for match in evidence.matches)
    listed = (
        (negative, "negative sentiment"),
        (requests_redo(text), "request to redo"),
        (_INTENT.search(text.lower()) is not None, "clarification of intent"),
    )
    return tuple(name for is_there, name in listed if is_there)


def _partial(evidence: Evidence) -> tuple[str, ...]:
    approves = any(match.says is Says.APPROVAL for match in evidence.matches)
    remainders = {match.words for match in evidence.matches if match.name in _SINGLE}
    listed = (
        (approves, "positive-negative combination"),
        (requests_change(evidence), "specific adjustment requested"),
        (len(remainders) == 1, "single issue mentioned"),
    )
    return tuple(name for is_there, name in listed if is_there)


_SINGLE = frozenset(("nit", "one_more", "slips", "apart_from", "document_partial_2"))
