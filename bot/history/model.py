"""History records, time windows and weeks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from bot import regex
from bot.grounding.audit import GroundingRates, first_observations, grounding_rates
from bot.iterations.model import sort_verdicts
from bot.pull_request.model import Item, ItemOutcome, OverturnedTag, PostedBrief, PullRequest, Verdict
from bot.values import Account
from bot.verdicts import quality


@dataclass(frozen=True, slots=True)
class AdviceRecord:
    """One brief: how the feedback was understood, the actions it asked for, and what came of it."""

    at: datetime
    feedback_type: str
    actions: tuple[str, ...] = ()
    success: bool | None = None
    """Whether the next verdict accepted; None while there is none."""


def collect_advice(pull_request: PullRequest) -> tuple[AdviceRecord, ...]:
    """What is remembered of each brief that was posted, oldest first: the last of its rounds."""
    briefs = pull_request.briefs
    posted = (told for told, then in zip(briefs, (*briefs[1:], None), strict=False) if _is_last(told, then))
    return tuple(AdviceRecord(told.at, told.feedback_type, told.actions, told.success) for told in posted)


def _is_last(told: PostedBrief, then: PostedBrief | None) -> bool:
    return then is None or then.iteration != told.iteration or then.round <= told.round


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """How much is stored about somebody in a repository."""

    pull_requests: int = 0
    verdicts: int = 0
    commands: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is stored but deliveries."""
        return not (self.pull_requests or self.verdicts or self.commands)


@dataclass(frozen=True, slots=True)
class ReviewStats:
    """Of one verdict; nobody's words, and no name but the verdict's id."""

    verdict: str
    claims: GroundingRates
    items: int = 0
    """Items with words of their own."""
    vague: int = 0
    """Those whose words can't be acted on or checked."""


def compute_review_stats(pull_request: PullRequest) -> tuple[ReviewStats, ...]:
    """What is remembered of how each verdict was put; nothing of a check, which has no choice of words."""
    log = first_observations(pull_request.grounding)
    found = (
        _of_verdict(verdict, grounding_rates(entry for entry in log if entry.verdict == verdict.id))
        for verdict in pull_request.verdicts
        if verdict.counted and not verdict.validator.check
    )
    return tuple(each for each in found if each.claims.claims or each.items)


def _of_verdict(verdict: Verdict, claims: GroundingRates) -> ReviewStats:
    words = [item.words for item in verdict.items if item.words.strip()]
    return ReviewStats(verdict.id, claims, len(words), sum(map(_is_vague, words)))


@lru_cache(1024)  # the same words are asked about at every turn
def _is_vague(words: str) -> bool:
    return bool(quality.wording_problems(words))


INACTIVE_AFTER = timedelta(days=14)
"""An open, rejected pull request without a push for so long is dead; that day is its activity."""

MAX_ITEM_OUTCOMES = 100
"""Items of a pull request of which it is remembered what came of them, the newest."""

_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class HistoryRecord:
    """What the memory keeps of a pull request: who judged what and when, without anybody's words."""

    number: int
    author: Account
    created_at: datetime
    pushed_at: tuple[datetime, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    closed_at: datetime | None = None
    merged: bool = False
    overturned: tuple[OverturnedTag, ...] = ()
    followed: tuple[str, ...] = ()
    """Addresses of the items whose lines were changed or whose threads were resolved afterwards."""
    observed: tuple[ItemOutcome, ...] = ()
    """What came of the items that the next iteration could tell about, without anybody's name."""
    stated: tuple[ReviewStats, ...] = ()
    """How each verdict was put, in numbers."""
    advice: tuple[AdviceRecord, ...] = ()
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
class TimeWindow:
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
    def before(self) -> TimeWindow:
        """The span of the same length that ends where this one starts."""
        return TimeWindow(self.start - (self.end - self.start), self.start)


def window_of_last_hours(hours: int, now: datetime) -> TimeWindow:
    """The hours up to this instant, which belongs to them."""
    end = window_end_including(now)
    return TimeWindow(end - timedelta(hours=hours), end)


def window_end_including(now: datetime) -> datetime:
    """The end of a window that this instant belongs to."""
    return now + _INSTANT


def earliest_activity(window: TimeWindow, inactive_after: timedelta = INACTIVE_AFTER) -> datetime:
    """No record whose `last_active` is earlier counts in the window; later ones may."""
    return window.start - inactive_after


def build_history_record(
    pull_request: PullRequest, overturned: tuple[OverturnedTag, ...] = ()
) -> HistoryRecord:
    """What the memory keeps: verdicts with tags and places, no words."""
    return HistoryRecord(
        number=pull_request.number,
        author=pull_request.author,
        created_at=pull_request.created_at,
        pushed_at=tuple(revision.seen_at for revision in pull_request.revisions),
        verdicts=tuple(
            _without_text(verdict, pull_request) for verdict in sort_verdicts(pull_request.verdicts)
        ),
        closed_at=None if pull_request.open else pull_request.closed_at,
        merged=pull_request.merged,
        overturned=overturned,
        observed=_item_outcomes(pull_request),
        advice=collect_advice(pull_request),
    )


def _item_outcomes(pull_request: PullRequest) -> tuple[ItemOutcome, ...]:
    found = [
        replace(each, author="", reviewer="", url="")
        for tracked in pull_request.tracked
        for each in tracked.observations
    ]
    return tuple(found[-MAX_ITEM_OUTCOMES:])


def _without_text(verdict: Verdict, pull_request: PullRequest) -> Verdict:
    items = tuple(Item(item.tag, place=item.place, url=item.url) for item in verdict.items if item.tag)
    head = verdict.head or _head_at(pull_request, verdict.at)
    return replace(verdict, items=items, head=head, said="")


def _head_at(pull_request: PullRequest, at: datetime) -> str:
    seen = [revision for revision in pull_request.revisions if revision.seen_at <= at]
    return seen[-1].head if seen else pull_request.head


_NAME = regex.Regex(r"(\d{4})-W(\d{2})")


@dataclass(frozen=True, slots=True, order=True)
class Week:
    """An ISO week: Monday to Sunday, the first one holds the year's first Thursday."""

    year: int
    number: int

    def __str__(self) -> str:
        """`2026-W46`."""
        return f"{self.year}-W{self.number:02}"

    @property
    def monday(self) -> date:
        """Its first day."""
        return date.fromisocalendar(self.year, self.number, 1)

    def back(self, weeks: int) -> Week:
        """The week so many weeks earlier."""
        return _of_day(self.monday - timedelta(weeks=weeks))

    def window(self, zone: tzinfo) -> TimeWindow:
        """From midnight to midnight there, which is an hour more or less where clocks are changed."""
        return TimeWindow(_midnight(self.monday, zone), _midnight(self.monday + timedelta(weeks=1), zone))


def week_containing(moment: datetime, zone: tzinfo) -> Week:
    """The week that people there have at this moment."""
    return _of_day(moment.astimezone(zone).date())


def parse_week(name: str) -> Week | None:
    """The week of a name such as `2026-W46`; None for anything else."""
    found = _NAME.fullmatch(name)
    if found is None or not _exists(week := Week(int(found[1]), int(found[2]))):
        return None
    return week


def summary_due_at(week: Week, zone: tzinfo, weekday: int, at: time) -> datetime:
    """When the summary of a finished week is due: that weekday (Monday is 0) and time of the week after."""
    day = week.monday + timedelta(weeks=1, days=weekday)
    return datetime.combine(day, at, zone).astimezone(UTC)


def latest_due_week(now: datetime, zone: tzinfo, weekday: int, at: time) -> Week:
    """The last finished week whose summary is due by now: after downtime only that one is caught up."""
    week = week_containing(now, zone).back(1)
    return week if summary_due_at(week, zone, weekday, at) <= now else week.back(1)


def _of_day(day: date) -> Week:
    year, number, _ = day.isocalendar()
    return Week(year, number)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _exists(week: Week) -> bool:
    try:
        return _of_day(week.monday) == week
    except ValueError:
        return False
