"""How sure the detector is of a type.

Half for a type whose own cue stands in the text, the source document's boosts, a tenth for a second
independent cue, and never more than 0.95, which is what a formal state gives.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from bot.domain.detection.evidence import Evidence, Match, Shown
from bot.domain.detection.rules import FeedbackType
from bot.domain.detection.signals import CHANGE, REDO, has_error_message, has_test_name
from bot.domain.prose import Kind

BASE = 0.5
WITHOUT_CUE = 0.4
"""For a type that single words speak for, and no cue."""
SECOND_CUE = 0.1
SURE = 0.95
_MOST = 12
"""How many of the things that were found are compared with each other."""


def confidence(
    found: FeedbackType, cued: list[Match], evidence: Evidence, signals: tuple[str, ...], *, is_own: bool
) -> float:
    """Return how sure the detector is that the text is feedback of this type, between 0 and 0.95."""
    pasted = evidence.pasted(found)
    several = is_own + bool(cued or pasted) + _are_independent(cued, pasted)
    sure = (BASE if several else WITHOUT_CUE) + (SECOND_CUE if several > 1 else 0.0)
    return round(min(SURE, sure + _boost(found, evidence, signals)), 2)


def _are_independent(cued: list[Match], pasted: list[Shown]) -> bool:
    """Say whether two different things were found, each with words or output that the other lacks."""
    return (
        any(_are_apart(one, other) for one, other in combinations(cued[:_MOST], 2))
        or len({shown.structure.name for shown in pasted}) > 1
        or any(_is_apart(match, shown) for match in cued[:_MOST] for shown in pasted)
    )


def _are_apart(one: Match, other: Match) -> bool:
    if one.name == other.name:
        return False
    first, last = sorted((one, other), key=_place)
    return one.sentence is not other.sentence or (first.start < last.start and first.end < last.end)


def _place(match: Match) -> tuple[int, int]:
    return match.start, match.end


def _is_apart(match: Match, shown: Shown) -> bool:
    """Say whether output was not merely said in the same words that the cue was found in."""
    return shown.where is not Kind.TEXT or set(match.words.split()).isdisjoint(shown.text.lower().split())


def _boost(found: FeedbackType, evidence: Evidence, signals: tuple[str, ...]) -> float:
    boost, is_there = _BOOSTS[found]
    return boost if is_there(evidence, signals) else 0.0


_BOOSTS: dict[FeedbackType, tuple[float, Callable[[Evidence, tuple[str, ...]], bool]]] = {
    FeedbackType.RUNTIME_ERROR: (0.3, lambda evidence, _: has_error_message(evidence)),
    FeedbackType.VERIFICATION_FAILURE: (0.2, lambda evidence, _: has_test_name(evidence)),
    FeedbackType.USER_REJECTION: (0.2, lambda _, signals: REDO in signals),
    FeedbackType.PARTIAL_SUCCESS: (0.1, lambda _, signals: CHANGE in signals),
}
