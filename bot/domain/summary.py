"""What a week was like in a repository, in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo

from bot.domain.advice import Followed, followed
from bot.domain.advice_rates import AdviceRates, advice_rates
from bot.domain.authors import AuthorWeek, author_weeks
from bot.domain.choices import Named
from bot.domain.fixes import was_fixed_next
from bot.domain.follow_rates import Rate, together, tracked_in
from bot.domain.gates import Gates
from bot.domain.history import only_blockers
from bot.domain.judged import Judged, judged
from bot.domain.memory import DEAD_AFTER, Record, Window, just_after, reaches_back
from bot.domain.model import Repository, Stance
from bot.domain.patterns import Tally, Trend, issue_breakdown, tally, trend
from bot.domain.reviewing import Reviewing, reviewing
from bot.domain.rules import Authors
from bot.domain.weeks import Week

WEEKS = 12
"""How many the chart shows."""
QUIET_WEEKS = 8
"""A gate that nobody broke for so long is named."""
MINIMUM = 3
"""Judged pull requests from which the clock's run says anything."""


@dataclass(frozen=True, slots=True)
class WeekAsk:
    """Which week of which repository, and by whose rules."""

    repository: Repository
    week: Week
    zone: tzinfo
    named: Named = Named.AGENTS
    agents: Authors = field(default_factory=Authors)
    so_far: datetime | None = None
    """Now, where the week is still running."""
    dead_after: timedelta = DEAD_AFTER

    @property
    def window(self) -> Window:
        """The week, up to now where it is running."""
        whole = self.week.window(self.zone)
        return whole if self.so_far is None else Window(whole.start, min(whole.end, just_after(self.so_far)))


@dataclass(frozen=True, slots=True)
class GateWeek:
    """How a gate fared: in how many pull requests each."""

    tag: str
    broken: int
    before: int
    fixed_next: int
    overturned: int


@dataclass(frozen=True, slots=True)
class WeekTotal:
    """One bar of the chart."""

    week: Week
    judged: int
    rejected: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The week in numbers."""

    ask: WeekAsk
    now: Tally
    before: Tally
    trend: Trend
    unjudged: int = 0
    """Merged without any verdict."""
    later_iterations: tuple[int, ...] = ()
    """How many iterations each accepted pull request took that was not accepted at once."""
    gates: tuple[GateWeek, ...] = ()
    only_blocker: Mapping[str, int] = field(default_factory=dict)
    followed: Followed = field(default_factory=Followed)
    not_broken: tuple[str, ...] = ()
    weeks: tuple[WeekTotal, ...] = ()
    authors: tuple[AuthorWeek, ...] = ()
    uncounted: Mapping[str, int] = field(default_factory=dict)
    """Reviewer → rejecting reviews that did not count, because they are no validator."""
    reviews: tuple[Reviewing, ...] = ()
    """What became of each validator's claims, and how vague their feedback was."""
    tracked: Rate | None = None
    """How the feedback turned out that iterations of the week could tell about; None where none could."""
    advice: AdviceRates = field(default_factory=AdviceRates)
    """Which of the actions that authors were advised to take were accepted."""


def summary(records: Sequence[Record], gates: Gates, ask: WeekAsk) -> Summary:
    """What the records since `needed_since` tell about the week."""
    window, last_week = ask.window, ask.week.back(1).window(ask.zone)
    rows = judged(records, window, ask.dead_after)
    previous = judged(records, last_week, ask.dead_after)
    return Summary(
        ask=ask,
        now=tally(rows),
        before=tally(previous),
        trend=trend(tally(rows), tally(previous)),
        unjudged=sum(not row.judged for row in rows),
        later_iterations=tuple(row.iterations for row in rows if not row.rejected and not row.first_pass),
        gates=_gate_weeks(records, rows, previous, window),
        only_blocker=only_blockers(rows, gates),
        followed=followed(records, window),
        not_broken=_not_broken(records, gates, ask),
        weeks=_totals(records, ask),
        authors=author_weeks(rows, previous, ask.named, ask.agents),
        uncounted=_uncounted(records, window),
        reviews=reviewing(records, window),
        tracked=together(tracked_in(records, window)),
        advice=advice_rates(records, window),
    )


def needed_since(ask: WeekAsk) -> datetime:
    """Records that were last active earlier make no difference to the summary."""
    return reaches_back(ask.week.back(WEEKS - 1).window(ask.zone), ask.dead_after)


def is_worth_telling(found: Summary, minimum: int = MINIMUM) -> bool:
    """Whether enough pull requests were judged; a merge without a verdict is no judgement."""
    return found.now.total - found.unjudged >= minimum


def _gate_weeks(
    records: Iterable[Record], rows: Sequence[Judged], previous: Iterable[Judged], window: Window
) -> tuple[GateWeek, ...]:
    before = issue_breakdown(previous)
    known = {record.number: record for record in records}
    return tuple(
        GateWeek(
            tag,
            broken,
            before.get(tag, 0),
            sum(was_fixed_next(known[row.number], tag, window) for row in rows if tag in row.tags),
            sum(_was_overturned(known[row.number], tag, window) for row in rows if tag in row.tags),
        )
        for tag, broken in issue_breakdown(rows).items()
    )


def _was_overturned(record: Record, tag: str, window: Window) -> bool:
    return any(found.tag == tag and found.at in window for found in record.overturned)


def _not_broken(records: Iterable[Record], gates: Gates, ask: WeekAsk) -> tuple[str, ...]:
    start = ask.week.back(QUIET_WEEKS - 1).window(ask.zone).start
    said = [verdict for record in records for verdict in record.verdicts if verdict.counted]
    # As far back as records are needed at all: what is older may be at hand or not.
    before = Window(ask.week.back(WEEKS - 1).window(ask.zone).start, start)
    # A gate that nobody ever broke may be one that this repository has no use for: it is no news.
    known = {item.tag for verdict in said if verdict.at in before for item in verdict.items}
    lately = Window(start, ask.window.end)
    broken = {item.tag for verdict in said if verdict.at in lately for item in verdict.items}
    return tuple(tag for tag in gates.tags if tag in known - broken)


def _totals(records: Sequence[Record], ask: WeekAsk) -> tuple[WeekTotal, ...]:
    weeks = [ask.week.back(weeks) for weeks in reversed(range(WEEKS))]
    windows = [*(week.window(ask.zone) for week in weeks[:-1]), ask.window]
    rows = (judged(records, window, ask.dead_after) for window in windows)
    return tuple(
        WeekTotal(week, counted.total, counted.rejected)
        for week, counted in zip(weeks, map(tally, rows), strict=True)
    )


def _uncounted(records: Iterable[Record], window: Window) -> dict[str, int]:
    found: dict[str, int] = {}
    for record in records:
        for verdict in record.verdicts:
            if not verdict.counted and verdict.stance is Stance.REJECTS and verdict.at in window:
                found[verdict.validator.name] = found.get(verdict.validator.name, 0) + 1
    return dict(sorted(found.items(), key=lambda account: (-account[1], account[0])))
