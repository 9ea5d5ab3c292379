"""What is remembered of a pull request, and the spans of time in which it is looked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.advised import Advised, advised
from bot.domain.iterations import in_order
from bot.domain.model import Account, Item, PullRequest, Verdict
from bot.domain.stated import Stated
from bot.domain.tracked import Observation

DEAD_AFTER = timedelta(days=14)
"""An open, rejected pull request without a push for so long is dead; that day is its activity."""

MOST_OBSERVED = 100
"""Items of a pull request of which it is remembered what came of them, the newest."""

_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Overturned:
    """A maintainer found that the tag was wrongly given: dismissed it, or upheld an appeal."""

    tag: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """What the memory keeps of a pull request: who judged what and when, without anybody's words."""

    number: int
    author: Account
    created_at: datetime
    pushed_at: tuple[datetime, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    closed_at: datetime | None = None
    merged: bool = False
    overturned: tuple[Overturned, ...] = ()
    followed: tuple[str, ...] = ()
    """Addresses of the items whose lines were changed or whose threads were resolved afterwards."""
    observed: tuple[Observation, ...] = ()
    """What came of the items that the next iteration could tell about, without anybody's name."""
    stated: tuple[Stated, ...] = ()
    """How each verdict was put, in numbers."""
    advice: tuple[Advised, ...] = ()
    """What its author was told to do next, in codes, and whether that was accepted."""
    repository: str = ""
    """`owner/name`, where it is another repository's that shares its history; empty for the one asked."""

    @property
    def key(self) -> tuple[str, int]:
        """Which pull request it is, among those of several repositories."""
        return self.repository, self.number

    @property
    def last_active(self) -> datetime:
        """When it was last judged, pushed to or closed; a store finds records by it (see `reaches_back`)."""
        moments = [self.created_at, *self.pushed_at, *(verdict.at for verdict in self.verdicts)]
        return max(moments if self.closed_at is None else [*moments, self.closed_at])


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time, its start in it and its end not."""

    start: datetime
    end: datetime

    def __contains__(self, moment: datetime) -> bool:
        """Whether the moment lies in it."""
        return self.start <= moment < self.end

    @property
    def last(self) -> datetime:
        """Its last instant: what stands then stands at its end."""
        return self.end - _INSTANT

    @property
    def before(self) -> Window:
        """The span of the same length that ends where this one starts."""
        return Window(self.start - (self.end - self.start), self.start)


def last_hours(hours: int, now: datetime) -> Window:
    """The hours up to this instant, which belongs to them."""
    end = just_after(now)
    return Window(end - timedelta(hours=hours), end)


def just_after(now: datetime) -> datetime:
    """The end of a window that this instant belongs to."""
    return now + _INSTANT


def reaches_back(window: Window, dead_after: timedelta = DEAD_AFTER) -> datetime:
    """No record whose `last_active` is earlier counts in the window; later ones may."""
    return window.start - dead_after


def record_of(pull_request: PullRequest, overturned: tuple[Overturned, ...] = ()) -> Record:
    """What the memory keeps: verdicts with tags and places, no words."""
    return Record(
        number=pull_request.number,
        author=pull_request.author,
        created_at=pull_request.created_at,
        pushed_at=tuple(revision.seen_at for revision in pull_request.revisions),
        verdicts=tuple(_wordless(verdict, pull_request) for verdict in in_order(pull_request.verdicts)),
        closed_at=None if pull_request.open else pull_request.closed_at,
        merged=pull_request.merged,
        overturned=overturned,
        observed=_observed(pull_request),
        advice=advised(pull_request),
    )


def _observed(pull_request: PullRequest) -> tuple[Observation, ...]:
    found = [
        replace(each, author="", reviewer="", url="")
        for tracked in pull_request.tracked
        for each in tracked.observations
    ]
    return tuple(found[-MOST_OBSERVED:])


def _wordless(verdict: Verdict, pull_request: PullRequest) -> Verdict:
    items = tuple(Item(item.tag, place=item.place, url=item.url) for item in verdict.items if item.tag)
    head = verdict.head or _head_at(pull_request, verdict.at)
    return replace(verdict, items=items, head=head, said="")


def _head_at(pull_request: PullRequest, at: datetime) -> str:
    seen = [revision for revision in pull_request.revisions if revision.seen_at <= at]
    return seen[-1].head if seen else pull_request.head
