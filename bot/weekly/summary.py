"""Summarize a repository's week in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo

from bot.gates.config import AuthorNaming, AuthorRules
from bot.gates.model import Gates
from bot.history.model import (
    INACTIVE_AFTER,
    HistoryRecord,
    TimeWindow,
    Week,
    earliest_activity,
    window_end_including,
)
from bot.history.outcomes import PullRequestOutcome, outcomes_in_window, was_fixed_next
from bot.history.patterns import (
    Tally,
    Trend,
    compare_rates,
    count_issues,
    count_only_blockers,
    count_outcomes,
    group_by_author,
)
from bot.history.rates import (
    AdviceRates,
    FollowedShares,
    FollowRate,
    ReviewerRates,
    advice_rates,
    compute_reviewer_rates,
    count_followed,
    outcomes_in_window_of,
    overall_follow_rate,
)
from bot.pull_request.model import Stance
from bot.values import Repository


@dataclass(frozen=True, slots=True)
class AuthorWeek:
    """One author, or several people who are only counted."""

    login: str | None
    people: int
    tally: Tally
    trend: Trend


def summarize_authors(
    rows: Sequence[PullRequestOutcome],
    previous: Sequence[PullRequestOutcome],
    named: AuthorNaming,
    agents: AuthorRules,
) -> tuple[AuthorWeek, ...]:
    """The named ones by their number of pull requests, then the people together."""
    if named is AuthorNaming.NONE:
        return ()
    shown = {
        author: mine
        for author, mine in group_by_author(rows).items()
        if named is AuthorNaming.ALL or _is_agent(mine[0], agents)
    }
    then = group_by_author(previous)
    lines = [_line(mine[0].author.login, 1, mine, then.get(author, ())) for author, mine in shown.items()]
    people = [row for row in rows if row.author.id not in shown]
    if people:
        before = [row for row in previous if not _is_agent(row, agents)]
        lines.append(_line(None, len({row.author.id for row in people}), people, before))
    return tuple(sorted(lines, key=_order))


def _is_agent(row: PullRequestOutcome, agents: AuthorRules) -> bool:
    return agents.is_agent(row.author.login, bot=row.author.bot)


def _line(
    login: str | None, people: int, rows: Iterable[PullRequestOutcome], before: Iterable[PullRequestOutcome]
) -> AuthorWeek:
    now, then = count_outcomes(rows), count_outcomes(before)
    return AuthorWeek(login, people, now, compare_rates(now, then))


def _order(line: AuthorWeek) -> tuple[bool, int, str]:
    return line.login is None, -line.tally.total, line.login or ""


CHART_WEEKS = 12
"""How many the chart shows."""
QUIET_AFTER_WEEKS = 8
"""A gate that nobody broke for so long is named."""
MIN_REVIEWED = 3
"""Judged pull requests from which the clock's run says anything."""


@dataclass(frozen=True, slots=True)
class WeekQuery:
    """Which week of which repository, and by whose rules."""

    repository: Repository
    week: Week
    zone: tzinfo
    named: AuthorNaming = AuthorNaming.AGENTS
    agents: AuthorRules = field(default_factory=AuthorRules)
    as_of: datetime | None = None
    """Now, where the week is still running."""
    inactive_after: timedelta = INACTIVE_AFTER

    @property
    def window(self) -> TimeWindow:
        """The week, up to now where it is running."""
        whole = self.week.window(self.zone)
        return (
            whole
            if self.as_of is None
            else TimeWindow(whole.start, min(whole.end, window_end_including(self.as_of)))
        )


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
class WeeklySummary:
    """The week in numbers."""

    ask: WeekQuery
    now: Tally
    before: Tally
    trend: Trend
    unjudged: int = 0
    """Merged without any verdict."""
    later_iterations: tuple[int, ...] = ()
    """How many iterations each accepted pull request took that was not accepted at once."""
    gates: tuple[GateWeek, ...] = ()
    only_blocker: Mapping[str, int] = field(default_factory=dict)
    followed: FollowedShares = field(default_factory=FollowedShares)
    not_broken: tuple[str, ...] = ()
    weeks: tuple[WeekTotal, ...] = ()
    authors: tuple[AuthorWeek, ...] = ()
    uncounted: Mapping[str, int] = field(default_factory=dict)
    """Reviewer → rejecting reviews that did not count, because they are no validator."""
    reviews: tuple[ReviewerRates, ...] = ()
    """What became of each validator's claims, and how vague their feedback was."""
    tracked: FollowRate | None = None
    """How the feedback turned out that iterations of the week could tell about; None where none could."""
    advice: AdviceRates = field(default_factory=AdviceRates)
    """Which of the actions that authors were advised to take were accepted."""


def summarize_week(records: Sequence[HistoryRecord], gates: Gates, ask: WeekQuery) -> WeeklySummary:
    """What the records since `needed_since` tell about the week."""
    window, last_week = ask.window, ask.week.back(1).window(ask.zone)
    rows = outcomes_in_window(records, window, ask.inactive_after)
    previous = outcomes_in_window(records, last_week, ask.inactive_after)
    return WeeklySummary(
        ask=ask,
        now=count_outcomes(rows),
        before=count_outcomes(previous),
        trend=compare_rates(count_outcomes(rows), count_outcomes(previous)),
        unjudged=sum(not row.judged for row in rows),
        later_iterations=tuple(row.iterations for row in rows if not row.rejected and not row.first_pass),
        gates=_gate_weeks(records, rows, previous, window),
        only_blocker=count_only_blockers(rows, gates),
        followed=count_followed(records, window),
        not_broken=_not_broken(records, gates, ask),
        weeks=_totals(records, ask),
        authors=summarize_authors(rows, previous, ask.named, ask.agents),
        uncounted=_uncounted(records, window),
        reviews=compute_reviewer_rates(records, window),
        tracked=overall_follow_rate(outcomes_in_window_of(records, window)),
        advice=advice_rates(records, window),
    )


def summary_needed_since(ask: WeekQuery) -> datetime:
    """Records that were last active earlier make no difference to the summary."""
    return earliest_activity(ask.week.back(CHART_WEEKS - 1).window(ask.zone), ask.inactive_after)


def has_enough_reviews(found: WeeklySummary, minimum: int = MIN_REVIEWED) -> bool:
    """Whether enough pull requests were judged; a merge without a verdict is no judgement."""
    return found.now.total - found.unjudged >= minimum


def _gate_weeks(
    records: Iterable[HistoryRecord],
    rows: Sequence[PullRequestOutcome],
    previous: Iterable[PullRequestOutcome],
    window: TimeWindow,
) -> tuple[GateWeek, ...]:
    before = count_issues(previous)
    known = {record.number: record for record in records}
    return tuple(
        GateWeek(
            tag,
            broken,
            before.get(tag, 0),
            sum(was_fixed_next(known[row.number], tag, window) for row in rows if tag in row.tags),
            sum(_was_overturned(known[row.number], tag, window) for row in rows if tag in row.tags),
        )
        for tag, broken in count_issues(rows).items()
    )


def _was_overturned(record: HistoryRecord, tag: str, window: TimeWindow) -> bool:
    return any(found.tag == tag and found.at in window for found in record.overturned)


def _not_broken(records: Iterable[HistoryRecord], gates: Gates, ask: WeekQuery) -> tuple[str, ...]:
    start = ask.week.back(QUIET_AFTER_WEEKS - 1).window(ask.zone).start
    said = [verdict for record in records for verdict in record.verdicts if verdict.counted]
    # As far back as records are needed at all: what is older may be at hand or not.
    before = TimeWindow(ask.week.back(CHART_WEEKS - 1).window(ask.zone).start, start)
    # A gate that nobody ever broke may be one that this repository has no use for: it is no news.
    known = {item.tag for verdict in said if verdict.at in before for item in verdict.items}
    lately = TimeWindow(start, ask.window.end)
    broken = {item.tag for verdict in said if verdict.at in lately for item in verdict.items}
    return tuple(tag for tag in gates.tags if tag in known - broken)


def _totals(records: Sequence[HistoryRecord], ask: WeekQuery) -> tuple[WeekTotal, ...]:
    weeks = [ask.week.back(weeks) for weeks in reversed(range(CHART_WEEKS))]
    windows = [*(week.window(ask.zone) for week in weeks[:-1]), ask.window]
    rows = (outcomes_in_window(records, window, ask.inactive_after) for window in windows)
    return tuple(
        WeekTotal(week, counted.total, counted.rejected)
        for week, counted in zip(weeks, map(count_outcomes, rows), strict=True)
    )


def _uncounted(records: Iterable[HistoryRecord], window: TimeWindow) -> dict[str, int]:
    found: dict[str, int] = {}
    for record in records:
        for verdict in record.verdicts:
            if not verdict.counted and verdict.stance is Stance.REJECTS and verdict.at in window:
                found[verdict.validator.name] = found.get(verdict.validator.name, 0) + 1
    return dict(sorted(found.items(), key=lambda account: (-account[1], account[0])))
