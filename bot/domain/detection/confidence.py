"""How sure the detector is of a type.

Half for a type whose own cue stands in the text, the source document's boosts, a tenth for a second
independent cue, and never more than 0.95, which is what a formal state gives.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.detection.evidence import Evidence, Match
from bot.domain.detection.rules import FeedbackType
from bot.domain.detection.signals import CHANGE, REDO, has_error_message, has_test_name

BASE = 0.5
WITHOUT_CUE = 0.4
"""For a type that single words speak for, and no cue."""
SECOND_CUE = 0.1
SURE = 0.95


def confidence(
    found: FeedbackType, cued: list[Match], evidence: Evidence, signals: tuple[str, ...], *, is_own: bool
) -> float:
    """Return how sure the detector is that the text is feedback of this type, between 0 and 0.95."""
    cues = {match.name for match in cued}
    if evidence.shown:
        says = found.says
        cues |= {shown.structure.name for shown in evidence.shown if shown.structure.says is says}
    known = len(cues) + is_own
    sure = (BASE if known else WITHOUT_CUE) + (SECOND_CUE if known > 1 else 0.0)
    return round(min(SURE, sure + _boost(found, evidence, signals)), 2)


def _boost(found: FeedbackType, evidence: Evidence, signals: tuple[str, ...]) -> float:
    boost, is_there = _BOOSTS[found]
    return boost if is_there(evidence, signals) else 0.0


_BOOSTS: dict[FeedbackType, tuple[float, Callable[[Evidence, tuple[str, ...]], bool]]] = {
    FeedbackType.RUNTIME_ERROR: (0.3, lambda evidence, _: has_error_message(evidence)),
    FeedbackType.VERIFICATION_FAILURE: (0.2, lambda evidence, _: has_test_name(evidence)),
    FeedbackType.USER_REJECTION: (0.2, lambda _, signals: REDO in signals),
    FeedbackType.PARTIAL_SUCCESS: (0.1, lambda _, signals: CHANGE in signals),
}
