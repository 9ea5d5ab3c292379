"""Decide whether feedback was followed in the next iteration, and whether it helped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.findings.model import Finding
from bot.iterations.model import Iteration
from bot.iterations.scoring import ScoredIteration, quality_delta
from bot.pull_request.model import FindingStatus, FollowUp, Item, Validator
from bot.verdicts.quality import QualityProblem, clarity_score

_ENOUGH = 0.5
"""The share of followed items from which the feedback counts as followed."""

FOLLOWED = {FindingStatus.FIXED: True, FindingStatus.OPEN: False, FindingStatus.REGRESSED: False}
"""Whether a finding of this status was followed; others are pending, or count neither way."""


@dataclass(frozen=True, slots=True)
class ItemResponse:
    """The outcome of one finding by the next iteration."""

    item: Item
    validator: Validator
    is_followed: bool | None
    """None if its validator has not looked at the change yet."""


def item_responses(before: Iteration, after: Iteration) -> tuple[ItemResponse, ...]:
    """Return the response to every finding that was open, without those withdrawn or dismissed."""
    later = {finding.number: finding for finding in after.ledger.findings}
    rejecting = {verdict.validator.key for verdict in before.rejecting}
    return tuple(
        ItemResponse(finding.item, finding.validator, _is_followed(later[finding.number], after.head))
        for finding in before.ledger.open
        if finding.validator.key in rejecting
        and finding.number in later
        and later[finding.number].status not in {FindingStatus.WITHDRAWN, FindingStatus.DISMISSED}
    )


def _is_followed(finding: Finding, head: str) -> bool | None:
    # What was reported again at this head was not followed there, whatever a later push changes, and even
    # where the push of this head is not known yet.
    if finding.is_open and finding.head == head:
        return False
    return FOLLOWED.get(finding.status)


def track_feedback(
    responses: Sequence[ItemResponse],
    before: ScoredIteration,
    after: ScoredIteration,
    problems: Sequence[Sequence[QualityProblem]],
) -> FollowUp:
    """Return how the feedback turned out; `problems` are the quality problems of each of its items."""
    counted = [response.is_followed for response in responses if response.is_followed is not None]
    followed = bool(counted) and sum(counted) / len(counted) >= _ENOUGH
    return FollowUp(followed, quality_delta(before, after), clarity_score(problems, followed=followed))
