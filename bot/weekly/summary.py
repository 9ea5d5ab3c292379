"""Summarize a repository's week in numbers."""

from __future__ import annotations

from collections import Counter
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
from bot.history.outcomes import PullRequestOutcome, has_status_in, outcomes_in_window, was_fixed_next
from bot.history.patterns import (
    Tally,
    Trend,
    UntaggedShare,
    compare_rates,
    count_issues,
    count_only_blockers,
    count_outcomes,
    count_untagged,
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
    item_outcomes_in_window,
    overall_follow_rate,
)
from bot.pull_request.model import FindingStatus, Stance, Validator
from bot.values import Repository


@dataclass(frozen=True, slots=True)
class AuthorWeek:
    """The week of one author, or of several people who are only counted."""

    login: str | None
    people: int
    tally: Tally
    trend: Trend
    most_broken: tuple[tuple[str, int], ...] = ()
    """The tags that a named author broke most often, with the number of pull requests."""


def summarize_authors(
    rows: Sequence[PullRequestOutcome],
    previous: Sequence[PullRequestOutcome],
    naming: AuthorNaming,
    agents: AuthorRules,
) -> tuple[AuthorWeek, ...]:
    """Summarize the named authors by their number of pull requests, then the other people together."""
    if naming is AuthorNaming.NONE:
        return ()
    shown = {
        author: mine
        for author, mine in group_by_author(rows).items()
        if naming is AuthorNaming.ALL or _is_agent(mine[0], agents)
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
    login: str | None, people: int, rows: Sequence[PullRequestOutcome], before: Iterable[PullRequestOutcome]
) -> AuthorWeek:
    now, then = count_outcomes(rows), count_outcomes(before)
    most_broken = tuple(count_issues(rows).items())[:MAX_AUTHOR_GATES] if login else ()
    return AuthorWeek(login, people, now, compare_rates(now, then), most_broken)


def _order(line: AuthorWeek) -> tuple[bool, int, str]:
    return line.login is None, -line.tally.total, line.login or ""


MAX_AUTHOR_GATES = 2
"""Gates that an author's row names."""
CHART_WEEKS = 12
QUIET_AFTER_WEEKS = 8
"""A gate that nobody broke for this many weeks is named."""
MIN_REVIEWED = 3
"""Reviewed pull requests that the scheduled summary needs."""


@dataclass(frozen=True, slots=True)
class WeekQuery:
    """A week of a repository, with the rules that apply to its summary."""

    repository: Repository
    week: Week
    zone: tzinfo
    naming: AuthorNaming = AuthorNaming.AGENTS
    agents: AuthorRules = field(default_factory=AuthorRules)
    as_of: datetime | None = None
    """Now, where the week is not over."""
    inactive_after: timedelta = INACTIVE_AFTER

    @property
    def window(self) -> TimeWindow:
        """The week, up to now if it is not over."""
        week = self.week.window(self.zone)
        if self.as_of is None:
            return week
        return TimeWindow(week.start, min(week.end, window_end_including(self.as_of)))


@dataclass(frozen=True, slots=True)
class GateWeek:
    """In how many pull requests a gate was broken, fixed and overturned."""

    tag: str
    broken: int
    before: int
    fixed_next: int
    overturned: int


@dataclass(frozen=True, slots=True)
class UncountedReviews:
    """Rejecting reviews that did not count, because the reviewer is not a validator."""

    named: Mapping[Validator, int] = field(default_factory=dict)
    """App or agent → reviews, most first."""
    by_people: int = 0
    people: int = 0


@dataclass(frozen=True, slots=True)
class WeeklySummary:
    """The week in numbers."""

    query: WeekQuery
    now: Tally
    before: Tally
    trend: Trend
    merged_unreviewed: int = 0
    later_iterations: tuple[int, ...] = ()
    """How many iterations each accepted pull request took that was not accepted at once."""
    gates: tuple[GateWeek, ...] = ()
    only_blocker: Mapping[str, int] = field(default_factory=dict)
    untagged: UntaggedShare = field(default_factory=UntaggedShare)
    followed: FollowedShares = field(default_factory=FollowedShares)
    not_broken: tuple[str, ...] = ()
    weeks: tuple[tuple[Week, Tally], ...] = ()
    authors: tuple[AuthorWeek, ...] = ()
    uncounted: UncountedReviews = field(default_factory=UncountedReviews)
    reviews: tuple[ReviewerRates, ...] = ()
    """Each validator's confirmed claims and vague items."""
    tracked: FollowRate | None = None
    """How often feedback was followed, as the week's iterations show; None if none does."""
    advice: AdviceRates = field(default_factory=AdviceRates)
    """How often advised actions were accepted."""


def summarize_week(records: Sequence[HistoryRecord], gates: Gates, query: WeekQuery) -> WeeklySummary:
    """Summarize the week from the records since `summary_needed_since`."""
    window, last_week = query.window, query.week.back(1).window(query.zone)
    rows = outcomes_in_window(records, window, query.inactive_after)
    previous = outcomes_in_window(records, last_week, query.inactive_after)
    now, before = count_outcomes(rows), count_outcomes(previous)
    return WeeklySummary(
        query=query,
        now=now,
        before=before,
        trend=compare_rates(now, before),
        merged_unreviewed=sum(not row.is_reviewed for row in rows),
        later_iterations=tuple(row.iterations for row in rows if not row.rejected and not row.first_pass),
        gates=_gate_weeks(records, rows, previous, window),
        only_blocker=count_only_blockers(rows, gates),
        untagged=count_untagged(rows),
        followed=count_followed(records, window),
        not_broken=_not_broken(records, gates, query),
        weeks=_totals(records, query),
        authors=summarize_authors(rows, previous, query.naming, query.agents),
        uncounted=_uncounted(records, window, query.agents),
        reviews=compute_reviewer_rates(records, window),
        tracked=overall_follow_rate(item_outcomes_in_window(records, window)),
        advice=advice_rates(records, window),
    )


def summary_needed_since(query: WeekQuery) -> datetime:
    """Return since when records are needed: earlier ones make no difference to the summary."""
    return earliest_activity(query.week.back(CHART_WEEKS - 1).window(query.zone), query.inactive_after)


def has_enough_reviews(summary: WeeklySummary, minimum: int = MIN_REVIEWED) -> bool:
    """Whether enough pull requests were reviewed; a merge without a verdict is not a review."""
    return summary.now.total - summary.merged_unreviewed >= minimum


def _gate_weeks(
    records: Iterable[HistoryRecord],
    rows: Sequence[PullRequestOutcome],
    previous: Iterable[PullRequestOutcome],
    window: TimeWindow,
) -> tuple[GateWeek, ...]:
    before = count_issues(previous)
    by_number = {record.number: record for record in records}
    weeks = []
    for tag, broken in count_issues(rows).items():
        theirs = [by_number[row.number] for row in rows if tag in row.tags]
        fixed = sum(was_fixed_next(record, tag, window) for record in theirs)
        overturned = sum(has_status_in(record, tag, FindingStatus.DISMISSED, window) for record in theirs)
        weeks.append(GateWeek(tag, broken, before.get(tag, 0), fixed, overturned))
    return tuple(weeks)


def _not_broken(records: Iterable[HistoryRecord], gates: Gates, query: WeekQuery) -> tuple[str, ...]:
    start = query.week.back(QUIET_AFTER_WEEKS - 1).window(query.zone).start
    findings = [finding for record in records for finding in record.findings]
    # As far back as records are needed at all: older ones may or may not be among these.
    before = TimeWindow(query.week.back(CHART_WEEKS - 1).window(query.zone).start, start)
    # A gate that nobody ever broke may be one that this repository has no use for: it is no news.
    broken_before = {finding.tag for finding in findings if finding.last_report(before)}
    recently = TimeWindow(start, query.window.end)
    broken = {finding.tag for finding in findings if finding.last_report(recently)}
    return tuple(tag for tag in gates.tags if tag in broken_before - broken)


def _totals(records: Sequence[HistoryRecord], query: WeekQuery) -> tuple[tuple[Week, Tally], ...]:
    weeks = [query.week.back(weeks) for weeks in reversed(range(CHART_WEEKS))]
    windows = [*(week.window(query.zone) for week in weeks[:-1]), query.window]
    rows = (outcomes_in_window(records, window, query.inactive_after) for window in windows)
    return tuple(zip(weeks, map(count_outcomes, rows), strict=True))


def _uncounted(records: Iterable[HistoryRecord], window: TimeWindow, agents: AuthorRules) -> UncountedReviews:
    counts = Counter(
        verdict.validator
        for record in records
        for verdict in record.verdicts
        if not verdict.counted and verdict.stance is Stance.REJECTS and verdict.at in window
    )
    named = [reviewer for reviewer in counts if agents.is_agent(reviewer.name, bot=reviewer.bot)]
    named.sort(key=lambda reviewer: (-counts[reviewer], reviewer.name))
    by_named = {reviewer: counts.pop(reviewer) for reviewer in named}
    return UncountedReviews(by_named, counts.total(), len(counts))
