"""How often feedback is followed and helps: by author, by reviewer, by gate, with and without a place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.following import Answer
from bot.domain.memory import Record, Window
from bot.domain.model import PullRequest
from bot.domain.tracked import By, Observation, Tracking


@dataclass(frozen=True, slots=True)
class Rate:
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


def observations(
    found: Sequence[Answer], tracking: Tracking, author: str, at: datetime
) -> tuple[Observation, ...]:
    """Return one observation for each item of an iteration."""
    return tuple(
        Observation(
            at=at,
            author=author,
            reviewer=answer.by.key,
            tag=answer.item.tag,
            placed=answer.item.place is not None,
            followed=answer.followed,
            delta=tracking.delta,
            url=answer.item.url if answer.item.place else "",
            clarity=tracking.clarity,
        )
        for answer in found
    )


def kept(pull_requests: Iterable[PullRequest], since: datetime | None = None) -> tuple[Observation, ...]:
    """Return what was observed in these pull requests, from then on."""
    return tuple(
        each
        for pull_request in pull_requests
        for tracked in pull_request.tracked
        for each in tracked.observations
        if since is None or each.at >= since
    )


def tracked_in(records: Iterable[Record], window: Window) -> tuple[Observation, ...]:
    """Return what the records remember of iterations that were judged in the window."""
    return tuple(each for record in records for each in record.observed if each.at in window)


def followed_items(pull_request: PullRequest) -> tuple[str, ...]:
    """Return the addresses of the items whose lines were changed or whose threads were resolved."""
    changed = (each.url for each in kept([pull_request]) if each.followed and each.url)
    return tuple(dict.fromkeys((*pull_request.resolved_threads, *changed)))


def rates(seen: Iterable[Observation], by: By) -> tuple[Rate, ...]:
    """Return a rate for each group, the largest group first."""
    groups: dict[str, list[Observation]] = {}
    for each in seen:
        groups.setdefault(each.key(by), []).append(each)
    return tuple(
        sorted((_rate(*group) for group in groups.items()), key=lambda rate: (-rate.items, rate.key))
    )


def together(seen: Sequence[Observation]) -> Rate | None:
    """Return one rate for everything; None where nothing was tracked."""
    return _rate("", seen) if seen else None


def _rate(key: str, seen: Sequence[Observation]) -> Rate:
    deltas = [each.delta for each in seen if each.delta is not None]
    clear = [each.clarity for each in seen if each.clarity is not None]
    return Rate(
        key=key,
        items=len(seen),
        followed=sum(each.followed for each in seen),
        measured=len(deltas),
        improved=sum(change > 0 for change in deltas),
        mean_clarity=round(sum(clear) / len(clear), 3) if clear else None,
    )
