"""How often feedback is followed, advice accepted, and reviewers' claims confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.grounding.audit import GroundingRates, sum_rates
from bot.history.model import HistoryRecord, ReviewStats, TimeWindow
from bot.history.outcomes import review_verdicts, verdict_names_tag
from bot.iterations.followup import ItemResponse
from bot.pull_request.model import (
    FollowUp,
    GroupBy,
    Item,
    ItemOutcome,
    PullRequest,
    Stance,
    Validator,
    Verdict,
)
from bot.values import GHOST, Account


@dataclass(frozen=True, slots=True)
class Ratio:
    """So many of so many."""

    part: int = 0
    whole: int = 0


@dataclass(frozen=True, slots=True)
class FollowedShares:
    """How much of the feedback was followed, of that whose fate is known."""

    with_place: Ratio = Ratio()
    without_place: Ratio = Ratio()


def count_followed(records: Iterable[HistoryRecord], window: TimeWindow) -> FollowedShares:
    """What became of the items named in the window."""
    known = tuple(fate for record in records for fate in item_fates(record, window))
    return FollowedShares(
        _share(fate.followed for fate in known if fate.item.place),
        _share(fate.followed for fate in known if not fate.item.place),
    )


@dataclass(frozen=True, slots=True)
class ItemFate:
    """What became of one item."""

    verdict: Verdict
    item: Item
    followed: bool


def item_fates(record: HistoryRecord, window: TimeWindow) -> Iterator[ItemFate]:
    """Each item with whether it was followed; those that wait for the next verdict are left out."""
    said = review_verdicts(record, window.last)
    for verdict in said:
        if verdict.at not in window or verdict.stance is not Stance.REJECTS:
            continue
        following = _next_verdict(verdict, said)
        for item in verdict.items:
            changed = bool(item.url) and item.url in record.followed
            if changed or following:
                again = (
                    following is not None and item.tag is not None and verdict_names_tag(following, item.tag)
                )
                yield ItemFate(verdict, item, changed or not again)


def _next_verdict(verdict: Verdict, said: Iterable[Verdict]) -> Verdict | None:
    """The same validator's next verdict, on another revision."""
    return next(
        (
            later
            for later in said
            if later.at > verdict.at
            and later.validator.key == verdict.validator.key
            and later.head != verdict.head
        ),
        None,
    )


def _share(fates: Iterable[bool]) -> Ratio:
    known = tuple(fates)
    return Ratio(sum(known), len(known))


MIN_BRIEFS = 5
"""Judged briefs from which a rate says anything."""
LOW_RATE = 0.5
"""An action that was accepted less often should be looked at by a person; nothing changes by itself."""


@dataclass(frozen=True, slots=True)
class FeedbackTypeCount:
    """How often feedback of one type led to a brief, and in how many pull requests."""

    briefs: int
    pull_requests: int


@dataclass(frozen=True, slots=True)
class AdviceRates:
    """What was advised in a span of time, and how much of it the next verdict accepted."""

    pull_requests: int = 0
    briefs: int = 0
    accepted: Ratio = field(default_factory=Ratio)
    """Of the briefs that a later verdict judged."""
    types: Mapping[str, FeedbackTypeCount] = field(default_factory=dict)
    actions: Mapping[str, Ratio] = field(default_factory=dict)
    """Action → accepted of judged; those that wait for a verdict are left out."""

    @property
    def low(self) -> tuple[str, ...]:
        """Actions judged often enough and accepted seldom, the least accepted first."""
        rates = {action: _ratio(share) for action, share in self.actions.items() if share.whole >= MIN_BRIEFS}
        return tuple(
            sorted((each for each in rates if rates[each] < LOW_RATE), key=lambda each: (rates[each], each))
        )

    @property
    def figures(self) -> dict[str, object]:
        """As the API gives them."""
        return {
            "pull_requests": self.pull_requests,
            "briefs": self.briefs,
            "judged": self.accepted.whole,
            "accepted": self.accepted.part,
            "types": {
                name: {"briefs": kind.briefs, "pull_requests": kind.pull_requests}
                for name, kind in self.types.items()
            },
            "actions": {name: _figures(share) for name, share in self.actions.items()},
        }

    @property
    def low_figures(self) -> list[dict[str, object]]:
        """The actions that a person should look at, as the API gives them."""
        return [{"action": action, **_figures(self.actions[action])} for action in self.low]


def advice_rates(records: Iterable[HistoryRecord], window: TimeWindow) -> AdviceRates:
    """What the briefs that were given in the window came to."""
    given = [(record.number, told) for record in records for told in record.advice if told.at in window]
    told = [each for _, each in given]
    asked = sorted({action for each in told for action in each.actions})
    actions = {name: _accepted_ratio(each.success for each in told if name in each.actions) for name in asked}
    kinds = sorted({each.feedback_type for each in told})
    return AdviceRates(
        pull_requests=len({number for number, _ in given}),
        briefs=len(given),
        accepted=_accepted_ratio(each.success for each in told),
        types={
            kind: _type_count([number for number, each in given if each.feedback_type == kind])
            for kind in kinds
        },
        actions={name: share for name, share in actions.items() if share.whole},
    )


def advice_rates_by_author(
    records: Iterable[HistoryRecord], window: TimeWindow
) -> tuple[tuple[Account, AdviceRates], ...]:
    """The same for each author who was advised, by login."""
    theirs: dict[int, list[HistoryRecord]] = {}
    for record in sorted(records, key=lambda each: each.last_active):
        theirs.setdefault(record.author.id, []).append(record)
    found = [(each[-1].author, advice_rates(each, window)) for each in theirs.values()]
    return tuple(sorted((one for one in found if one[1].briefs), key=lambda one: one[0].login))


def _accepted_ratio(fates: Iterable[bool | None]) -> Ratio:
    known = [fate for fate in fates if fate is not None]
    return Ratio(sum(known), len(known))


def _type_count(numbers: list[int]) -> FeedbackTypeCount:
    return FeedbackTypeCount(len(numbers), len(set(numbers)))


def _ratio(share: Ratio) -> float:
    return share.part / share.whole


def _figures(share: Ratio) -> dict[str, object]:
    return {"judged": share.whole, "accepted": share.part, "rate": round(_ratio(share), 3)}


@dataclass(frozen=True, slots=True)
class FollowRate:
    """How the items of one group turned out."""

    key: str
    items: int
    followed: int
    measured: int
    """Of how many the next score is known."""
    improved: int
    mean_clarity: float | None = None
    """Of the feedback that the items belong to."""

    @property
    def follow_rate(self) -> float:
        """The share that was followed."""
        return round(self.followed / self.items, 3)

    @property
    def improvement_rate(self) -> float | None:
        """The share after which the quality rose, of those where it is known."""
        return round(self.improved / self.measured, 3) if self.measured else None


def item_outcomes(
    found: Sequence[ItemResponse], tracking: FollowUp, author: str, at: datetime
) -> tuple[ItemOutcome, ...]:
    """Return one observation for each item of an iteration."""
    return tuple(
        ItemOutcome(
            at=at,
            author=author,
            reviewer=answer.validator.key,
            tag=answer.item.tag,
            placed=answer.item.place is not None,
            followed=answer.is_followed,
            delta=tracking.delta,
            url=answer.item.url if answer.item.place else "",
            clarity=tracking.clarity,
        )
        for answer in found
    )


def outcomes_since(
    pull_requests: Iterable[PullRequest], since: datetime | None = None
) -> tuple[ItemOutcome, ...]:
    """Return what was observed in these pull requests, from then on."""
    return tuple(
        each
        for pull_request in pull_requests
        for tracked in pull_request.tracked
        for each in tracked.observations
        if since is None or each.at >= since
    )


def outcomes_in_window_of(records: Iterable[HistoryRecord], window: TimeWindow) -> tuple[ItemOutcome, ...]:
    """Return what the records remember of iterations that were judged in the window."""
    return tuple(each for record in records for each in record.observed if each.at in window)


def followed_item_urls(pull_request: PullRequest) -> tuple[str, ...]:
    """Return the addresses of the items whose lines were changed or whose threads were resolved."""
    changed = (each.url for each in outcomes_since([pull_request]) if each.followed and each.url)
    return tuple(dict.fromkeys((*pull_request.resolved_threads, *changed)))


def follow_rates(seen: Iterable[ItemOutcome], by: GroupBy) -> tuple[FollowRate, ...]:
    """Return a rate for each group, the largest group first."""
    groups: dict[str, list[ItemOutcome]] = {}
    for each in seen:
        groups.setdefault(each.key(by), []).append(each)
    return tuple(
        sorted((_follow_rate(*group) for group in groups.items()), key=lambda rate: (-rate.items, rate.key))
    )


def overall_follow_rate(seen: Sequence[ItemOutcome]) -> FollowRate | None:
    """Return one rate for everything; None where nothing was tracked."""
    return _follow_rate("", seen) if seen else None


def _follow_rate(key: str, seen: Sequence[ItemOutcome]) -> FollowRate:
    deltas = [each.delta for each in seen if each.delta is not None]
    clear = [each.clarity for each in seen if each.clarity is not None]
    return FollowRate(
        key=key,
        items=len(seen),
        followed=sum(each.followed for each in seen),
        measured=len(deltas),
        improved=sum(change > 0 for change in deltas),
        mean_clarity=round(sum(clear) / len(clear), 3) if clear else None,
    )


@dataclass(frozen=True, slots=True)
class ReviewerRates:
    """One validator's claims, and how many of their items were vague."""

    validator: Validator
    claims: GroundingRates
    vague: Ratio

    @property
    def figures(self) -> dict[str, object]:
        """As the API gives them."""
        return {**self.claims.figures, "items": self.vague.whole, "vague_items": self.vague.part}


def compute_reviewer_rates(records: Iterable[HistoryRecord], window: TimeWindow) -> tuple[ReviewerRates, ...]:
    """Each validator who spoke in the window, those with the most claims first."""
    said: dict[str, list[tuple[Validator, ReviewStats]]] = {}
    for record in records:
        known = {each.verdict: each for each in record.stated}
        for verdict in record.verdicts:
            if verdict.at in window and verdict.id in known:
                said.setdefault(_key(verdict.validator), []).append((verdict.validator, known[verdict.id]))
    found = [_combined(each[-1][0], [put for _, put in each]) for each in said.values()]
    return tuple(sorted(found, key=lambda one: (-one.claims.claims, -one.vague.whole, one.validator.name)))


def combine_reviewer_rates(found: Iterable[ReviewerRates], validator: Validator) -> ReviewerRates:
    """Several validators as one."""
    known = tuple(found)
    return ReviewerRates(
        validator,
        sum_rates(one.claims for one in known),
        Ratio(sum(one.vague.part for one in known), sum(one.vague.whole for one in known)),
    )


def _key(validator: Validator) -> str:
    """Whoever was forgotten is nobody in particular."""
    return GHOST.login if validator.name == GHOST.login else validator.key


def _combined(validator: Validator, said: list[ReviewStats]) -> ReviewerRates:
    vague = Ratio(sum(each.vague for each in said), sum(each.items for each in said))
    return ReviewerRates(validator, sum_rates(each.claims for each in said), vague)
