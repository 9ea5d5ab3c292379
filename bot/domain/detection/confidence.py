"""How sure the detector is of a type.

Half for a type whose own cue stands in the text, the source document's boosts, a tenth for a second
independent cue, and never more than 0.95, which is what a formal state gives.
"""

from __future__ import annotations

from bot.domain.detection.evidence import Evidence
from bot.domain.detection.rules import FeedbackType
from bot.domain.detection.signals import (
    has_error_message,
    has_test_name,
    requests_change,
    requests_redo,
)

BASE = 0.5
WITHOUT_CUE = 0.4
"""For a type that single words speak for, and no cue."""
SECOND_CUE = 0.1
SURE = 0.95


def confidence(found: FeedbackType, evidence: Evidence, text: str, *, is_own: bool) -> float:
    """Return how sure the detector is that the text is feedback of this type, between 0 and 0.95."""
    says = found.says
    cues = {match.name for match in evidence.matches if match.says is says and match.points}
    cues |= {
        shown.structure.name for shown in evidence.shown if shown.structure.says is says and shown.points
    }
    known = len(cues) + is_own
    sure = (BASE if known else WITHOUT_CUE) + (SECOND_CUE if known > 1 else 0.0)
    return round(min(SURE, sure + _boost(found, evidence, text)), 2)


def _boost(found: FeedbackType, evidence: Evidence, text: str) -> float:
    match found:
        case FeedbackType.RUNTIME_ERROR:
            return 0.3 if has_error_message(evidence) else 0.0
        case FeedbackType.VERIFICATION_FAILURE:
            return 0.2 if has_test_name(evidence) else 0.0
        case FeedbackType.USER_REJECTION:
            return 0.2 if requests_redo(text) else 0.0
        case FeedbackType.PARTIAL_SUCCESS:
            return 0.1 if requests_change(evidence) else 0.0
