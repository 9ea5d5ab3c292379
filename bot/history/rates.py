"""How often feedback is followed, advice accepted, and reviewers' claims confirmed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.grounding.audit import GroundingRates, sum_rates
from bot.history.model import AdviceRecord, HistoryRecord, Ratio, TimeWindow
from bot.iterations.followup import FOLLOWED, ItemResponse
from bot.pull_request.model import FindingStatus, FollowUp, ItemOutcome, Validator
from bot.values import GHOST, Account


@dataclass(frozen=True, slots=True)
class FollowedShares:
    """How many findings were fixed, of those whose outcome is known; and those that count neither way."""

    with_location: Ratio = field(default_factory=Ratio)
    without_location: Ratio = field(default_factory=Ratio)
    withdrawn: int = 0
    dismissed: int = 0


def count_followed(
    records: Iterable[HistoryRecord], window: TimeWindow, tag: str | None = None
) -> FollowedShares:
    """Count the outcomes of the findings reported in the window; a change without a review is pending."""
    reported = [
        (finding, finding.status_at(window.last))
        for record in records
        for finding in record.findings
        if finding.last_report(window) and tag in (None, finding.tag)
    ]
    outcomes = [(finding.path, FOLLOWED[status]) for finding, status in reported if status in FOLLOWED]
    statuses = Counter(status for _, status in reported)
    return FollowedShares(
        Ratio.of(followed for path, followed in outcomes if path),
        Ratio.of(followed for path, followed in outcomes if not path),
        statuses[FindingStatus.WITHDRAWN],
        statuses[FindingStatus.DISMISSED],
    )


MIN_BRIEFS = 5
"""Reviewed briefs below which a rate says nothing."""
LOW_RATE = 0.5
"""An action that was accepted less often should be looked at by a person; nothing changes by itself."""


@dataclass(frozen=True, slots=True)
class AdviceRates:
    """What was advised in a window, and how much of it the next verdict accepted."""

    pull_requests: int = 0
    briefs: int = 0
    accepted: Ratio = field(default_factory=Ratio)
    """Of the briefs that a later verdict followed."""
    types: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Type of feedback → how often it was given (`briefs`), and in how many pull requests."""
    actions: Mapping[str, Ratio] = field(default_factory=dict)
    """Action → accepted of reviewed; those that wait for a verdict are left out."""

    @property
    def low(self) -> tuple[str, ...]:
        """Actions that were reviewed often enough and seldom accepted, the least accepted first."""
        low = [
            (ratio.part / ratio.whole, action)
            for action, ratio in self.actions.items()
            if ratio.whole >= MIN_BRIEFS and ratio.part / ratio.whole < LOW_RATE
        ]
        return tuple(action for _, action in sorted(low))

    @property
    def figures(self) -> dict[str, object]:
        """The figures as the API shows them."""
        return {
            "pull_requests": self.pull_requests,
            "briefs": self.briefs,
            "judged": self.accepted.whole,
            "accepted": self.accepted.part,
            "types": self.types,
            "actions": {name: _figures(ratio) for name, ratio in self.actions.items()},
        }

    @property
    def low_figures(self) -> list[dict[str, object]]:
        """The actions that a person should look at, as the API shows them."""
        return [{"action": action, **_figures(self.actions[action])} for action in self.low]


def advice_rates(records: Iterable[HistoryRecord], window: TimeWindow) -> AdviceRates:
    """Compute the rates of the briefs that were given in the window."""
    numbered = [(record.number, brief) for record in records for brief in record.advice if brief.at in window]
    briefs = [brief for _, brief in numbered if brief.actions]
    numbers: dict[str, list[int]] = {}
    for number, brief in numbered:
        numbers.setdefault(brief.feedback_type, []).append(number)
    actions = {
        action: _accepted(brief for brief in briefs if action in brief.actions)
        for action in sorted({action for brief in briefs for action in brief.actions})
    }
    return AdviceRates(
        pull_requests=len({number for number, brief in numbered if brief.actions}),
        briefs=len(briefs),
        accepted=_accepted(briefs),
        types={
            kind: {"briefs": len(given), "pull_requests": len(set(given))}
            for kind, given in sorted(numbers.items())
        },
        actions={action: ratio for action, ratio in actions.items() if ratio.whole},
    )


def advice_rates_by_author(
    records: Iterable[HistoryRecord], window: TimeWindow
) -> tuple[tuple[Account, AdviceRates], ...]:
    """Compute the rates of each author who got feedback, by login."""
    by_author: dict[int, list[HistoryRecord]] = {}
    for record in sorted(records, key=lambda record: record.last_active):
        by_author.setdefault(record.author.id, []).append(record)
    rates = [(theirs[-1].author, advice_rates(theirs, window)) for theirs in by_author.values()]
    return tuple(sorted((pair for pair in rates if pair[1].types), key=lambda pair: pair[0].login))


def _accepted(briefs: Iterable[AdviceRecord]) -> Ratio:
    return Ratio.of(brief.success for brief in briefs if brief.success is not None)


def _figures(ratio: Ratio) -> dict[str, object]:
    return {"judged": ratio.whole, "accepted": ratio.part, "rate": ratio.rate}


@dataclass(frozen=True, slots=True)
class FollowRate:
    """How often the quality rose after feedback, and how clear the feedback was."""

    improved: Ratio
    """Of the items whose next score is known."""
    mean_clarity: float | None = None
    """Of the feedback that the items belong to."""


def item_outcomes(
    responses: Sequence[ItemResponse], tracking: FollowUp, author: str, at: datetime
) -> tuple[ItemOutcome, ...]:
    """Return the outcome of each item of an iteration."""
    return tuple(
        ItemOutcome(
            at=at,
            author=author,
            reviewer=response.validator.key,
            tag=response.item.tag,
            placed=response.item.place is not None,
            followed=response.is_followed,
            delta=tracking.delta,
            url=response.item.url if response.item.place else "",
            clarity=tracking.clarity,
        )
        for response in responses
        if response.is_followed is not None
    )


def item_outcomes_in_window(
    records: Iterable[HistoryRecord], window: TimeWindow, tag: str | None = None
) -> tuple[ItemOutcome, ...]:
    """Return the item outcomes that iterations of the window showed, of one tag or of all."""
    outcomes = (outcome for record in records for outcome in record.observed)
    return tuple(one for one in outcomes if one.at in window and tag in (None, one.tag))


def overall_follow_rate(outcomes: Sequence[ItemOutcome]) -> FollowRate | None:
    """Return one rate for all items; None if nothing was tracked."""
    if not outcomes:
        return None
    improved = Ratio.of(outcome.delta > 0 for outcome in outcomes if outcome.delta is not None)
    clarity = [outcome.clarity for outcome in outcomes if outcome.clarity is not None]
    return FollowRate(improved, round(sum(clarity) / len(clarity), 3) if clarity else None)


@dataclass(frozen=True, slots=True)
class ReviewerRates:
    """One validator's claims, and how many of their items were vague."""

    validator: Validator
    claims: GroundingRates
    vague: Ratio

    @property
    def figures(self) -> dict[str, object]:
        """The figures as the API shows them."""
        return {**self.claims.figures, "items": self.vague.whole, "vague_items": self.vague.part}


def compute_reviewer_rates(records: Iterable[HistoryRecord], window: TimeWindow) -> tuple[ReviewerRates, ...]:
    """Compute the rates of each validator with a verdict in the window, those with the most claims first."""
    by_validator: dict[str, list[ReviewerRates]] = {}
    for record in records:
        stats = {review.verdict: review for review in record.stated}
        for verdict in record.verdicts:
            if verdict.at in window and (review := stats.get(verdict.id)):
                # All who were forgotten share one name.
                validator = verdict.validator
                key = GHOST.login if validator.name == GHOST.login else validator.key
                rates = ReviewerRates(validator, review.claims, Ratio(review.vague, review.items))
                by_validator.setdefault(key, []).append(rates)
    combined = (
        replace(combine_reviewer_rates(theirs), validator=theirs[-1].validator)
        for theirs in by_validator.values()
    )
    return tuple(
        sorted(combined, key=lambda rates: (-rates.claims.claims, -rates.vague.whole, rates.validator.name))
    )


def combine_reviewer_rates(rates: Iterable[ReviewerRates]) -> ReviewerRates:
    """Combine the rates of several validators; the result has no name."""
    combined = tuple(rates)
    vague = [one.vague for one in combined]
    return ReviewerRates(
        Validator("", ""),
        sum_rates(one.claims for one in combined),
        Ratio(sum(ratio.part for ratio in vague), sum(ratio.whole for ratio in vague)),
    )
