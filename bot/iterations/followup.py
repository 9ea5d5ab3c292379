"""Decide whether feedback was followed in the next iteration, and whether it helped."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bot.iterations.line_tracking import TrackedFile
from bot.iterations.model import Iteration
from bot.iterations.scoring import ScoredIteration, quality_delta
from bot.pull_request.model import FollowUp, Item, Stance, Validator, Verdict
from bot.values import Location
from bot.verdicts.quality import QualityProblem, clarity_score

_ENOUGH = 0.5
"""The share of followed items from which the feedback counts as followed."""


@dataclass(frozen=True, slots=True)
class ItemResponse:
    """What the author did about one item by the next iteration."""

    item: Item
    validator: Validator
    has_changed: bool | None
    """Its lines changed; None where that is not known."""
    is_resolved: bool
    """Its thread was resolved."""
    is_gone: bool
    """The same validator's next verdict leaves it out."""

    @property
    def is_followed(self) -> bool:
        """Whether any sign shows that it was followed."""
        return bool(self.has_changed) or self.is_resolved or self.is_gone


def was_touched(place: Location | None, files: Mapping[str, TrackedFile]) -> bool | None:
    """Return whether the location changed: its lines, or the file where it names none; None: not known."""
    file = files.get(place.path) if place else None
    if place is None or file is None:
        return None
    if place.line is None or not file.has_changed:
        return file.has_changed
    return None if file.lines is None else file.lines.has_changed(place.line, place.end_line or place.line)


def item_responses(
    before: Iteration, after: Iteration, files: Mapping[str, TrackedFile], resolved: Collection[str] = ()
) -> tuple[ItemResponse, ...]:
    """Return the response to every open item; `resolved` are the URLs of resolved threads."""
    return tuple(
        ItemResponse(
            item=item,
            validator=verdict.validator,
            has_changed=was_touched(item.place, files),
            is_resolved=bool(item.url) and item.url in resolved,
            is_gone=_is_gone(item, verdict, after),
        )
        for verdict in before.standing
        if verdict.stance is Stance.REJECTS
        for item in verdict.items
    )


def track_feedback(
    responses: Sequence[ItemResponse],
    before: ScoredIteration,
    after: ScoredIteration,
    problems: Sequence[Sequence[QualityProblem]],
) -> FollowUp:
    """Return how the feedback turned out; `problems` are the quality problems of each of its items."""
    share = sum(response.is_followed for response in responses) / len(responses) if responses else 0.0
    followed = share >= _ENOUGH and bool(responses)
    return FollowUp(followed, quality_delta(before, after), clarity_score(problems, followed=followed))


def _is_gone(item: Item, verdict: Verdict, after: Iteration) -> bool:
    """Whether the validator's next verdict leaves the item out; a dismissal is no such verdict."""
    next_verdict = next(
        (each for each in after.standing if each.validator.key == verdict.validator.key), None
    )
    if next_verdict is None or next_verdict.at < verdict.at:
        return False
    if next_verdict.stance is Stance.APPROVES:
        return True
    return not any(_is_same(item, other) for other in next_verdict.items)


def _is_same(item: Item, other: Item) -> bool:
    if item.tag is not None or other.tag is not None:
        return item.tag == other.tag
    return (item.aspect, item.words) == (other.aspect, other.words)
