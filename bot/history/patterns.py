"""Per-author patterns: broken gates, trends, and the answer to `/feedback-history`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from bot.gates.model import Gates
from bot.history.model import (
    INACTIVE_AFTER,
    HistoryRecord,
    Ratio,
    TimeWindow,
    Week,
    earliest_activity,
    week_containing,
    window_of_last_hours,
)
from bot.history.outcomes import (
    PullRequestOutcome,
    TagFix,
    find_all_fixes,
    outcomes_in_window,
)
from bot.history.rates import FollowedShares, count_followed, item_outcomes_in_window
from bot.markdown.format import format_count, to_percent
from bot.pull_request.model import ItemOutcome

MAX_TOP_ISSUES = 5
"""Issues that come with guidance."""
MIN_FOR_TREND = 5
"""Pull requests that each window needs for a trend."""
MAX_LIKELY_GATES = 2
"""Gates that are named for the findings without a tag."""
UNKNOWN_FIX = "See the repository's quality gates."
"""What to do about a tag that no gate explains."""

_POINTS = 5  # of 100; a smaller difference of the rejection rates is no trend


class Trend(StrEnum):
    """How the rejection rate compares with the window before."""

    IMPROVING = "improving"
    STABLE = "stable"
    WORSENING = "worsening"
    NO_DATA = "no_data"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many pull requests a window has, and their outcomes."""

    total: int
    rejected: int
    first_pass: int

    @property
    def accepted(self) -> int:
        """Those that nothing rejects."""
        return self.total - self.rejected

    @property
    def approval_rate(self) -> float | None:
        """The share that was accepted; None of nothing."""
        return Ratio(self.accepted, self.total).rate


@dataclass(frozen=True, slots=True)
class Patterns:
    """An author's record in a window."""

    agent: str
    period_hours: int
    tally: Tally
    top_issues: tuple[Mapping[str, object], ...]
    """The tags that were broken most often, with what to do about them."""
    issue_breakdown: Mapping[str, int]
    trend: Trend

    def as_json(self) -> dict[str, object]:
        """Return the keys of rows 180 to 188, always all of them."""
        return {
            "agent": self.agent,
            "period_hours": self.period_hours,
            "total_prs": self.tally.total,
            "rejected_prs": self.tally.rejected,
            "approval_rate": self.tally.approval_rate,
            "first_pass_prs": self.tally.first_pass,
            "top_issues": list(self.top_issues),
            "issue_breakdown": dict(self.issue_breakdown),
            "trend": self.trend.value,
        }


def compute_patterns(
    rows: Sequence[PullRequestOutcome],
    previous: Sequence[PullRequestOutcome],
    gates: Gates,
    agent: str,
    hours: int,
) -> Patterns:
    """Compute one author's patterns from their pull requests, with the trend since the window before."""
    breakdown = count_issues(rows)
    return Patterns(
        agent=agent,
        period_hours=hours,
        tally=count_outcomes(rows),
        top_issues=tuple(
            _top_issue(tag, count, len(rows), gates)
            for tag, count in tuple(breakdown.items())[:MAX_TOP_ISSUES]
        ),
        issue_breakdown=breakdown,
        trend=compare_rates(count_outcomes(rows), count_outcomes(previous)),
    )


def compute_all_patterns(
    rows: Sequence[PullRequestOutcome], previous: Sequence[PullRequestOutcome], gates: Gates, hours: int
) -> dict[str, Patterns]:
    """Compute every author's patterns by login; an account keeps its record when its login changes."""
    now, then = group_by_author(rows), group_by_author(previous)
    return {
        mine[0].author.login: compute_patterns(mine, then.get(author, ()), gates, mine[0].author.login, hours)
        for author, mine in now.items()
    }


def group_by_author(rows: Iterable[PullRequestOutcome]) -> dict[int, tuple[PullRequestOutcome, ...]]:
    """Group the outcomes by account, in the order given."""
    grouped: dict[int, list[PullRequestOutcome]] = {}
    for row in rows:
        grouped.setdefault(row.author.id, []).append(row)
    return {author: tuple(mine) for author, mine in grouped.items()}


def count_outcomes(rows: Iterable[PullRequestOutcome]) -> Tally:
    """Count these pull requests."""
    counted = tuple(rows)
    return Tally(len(counted), sum(row.rejected for row in counted), sum(row.first_pass for row in counted))


def count_issues(rows: Iterable[PullRequestOutcome]) -> dict[str, int]:
    """Count the pull requests that broke each tag, the most first; a tag counts once a pull request."""
    return rank(Counter(tag for row in rows for tag in set(row.tags)))


def rank(counts: Mapping[str, int]) -> dict[str, int]:
    """Sort the counts, the highest first."""
    return dict(sorted(counts.items(), key=lambda counted: (-counted[1], counted[0])))


def compare_rates(now: Tally, before: Tally) -> Trend:
    """Compare the rejection rates, in whole numbers so that exactly five points are stable."""
    if min(now.total, before.total) < MIN_FOR_TREND:
        return Trend.NO_DATA
    fewer = 100 * (before.rejected * now.total - now.rejected * before.total)
    limit = _POINTS * now.total * before.total
    if fewer > limit:
        return Trend.IMPROVING
    return Trend.WORSENING if fewer < -limit else Trend.STABLE


def _top_issue(tag: str, count: int, total: int, gates: Gates) -> dict[str, object]:
    gate = gates.get(tag)
    return {
        "tag": tag,
        "count": count,
        "pct": round(count / total * 100, 1),
        "gate": gate.gate if gate else tag,
        "fix": gate.fix if gate else UNKNOWN_FIX,
        "auto_fixable": gate is not None and gate.auto_fixable,
    }


DEFAULT_PERIODS = (7, 30, 90)
"""Days that are tried, the shortest first, where no period is given."""
MIN_PULL_REQUESTS = 5
"""Pull requests that make a period worth showing."""


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """Whose history, over which period, in which time zone."""

    login: str
    now: datetime
    zone: tzinfo
    hours: int | None = None
    tag: str | None = None
    periods: tuple[int, ...] = DEFAULT_PERIODS
    minimum: int = MIN_PULL_REQUESTS
    inactive_after: timedelta = INACTIVE_AFTER
    author_id: int = -1
    """No account has this id: the history is empty."""


@dataclass(frozen=True, slots=True)
class TagOccurrence:
    """A pull request in which a tag was named, and when it last was."""

    at: datetime
    outcome: PullRequestOutcome


@dataclass(frozen=True, slots=True)
class UntaggedShare:
    """How many of the findings had no tag, and which gates they look like."""

    count: Ratio = field(default_factory=Ratio)
    looks_like: tuple[str, ...] = ()
    """The likeliest tags, the most frequent first."""


@dataclass(frozen=True, slots=True)
class AuthorHistory:
    """An author's record with what a reader can act on."""

    query: HistoryQuery
    patterns: Patterns
    before: Tally
    rows: tuple[PullRequestOutcome, ...]
    previous: tuple[PullRequestOutcome, ...]
    only_blocker: Mapping[str, int] = field(default_factory=dict)
    """Tag → rejected pull requests in which it alone blocks."""
    occurrences: Mapping[str, tuple[TagOccurrence, ...]] = field(default_factory=dict)
    """Tag → where it was named in the window, the latest first."""
    fixes: Mapping[str, TagFix] = field(default_factory=dict)
    fixed_in: Mapping[tuple[str, str, int], TagFix] = field(default_factory=dict)
    followed: FollowedShares = field(default_factory=FollowedShares)
    """What became of the findings that were reported in the window, of the queried tag if any."""
    observed: tuple[ItemOutcome, ...] = ()
    """The outcomes of the feedback that the window's iterations answered, of the queried tag if any."""


def build_history(
    records: Sequence[HistoryRecord],
    gates: Gates,
    query: HistoryQuery,
    known_fixes: Mapping[str, TagFix] | None = None,
) -> AuthorHistory:
    """Build one author's history from their records; `known_fixes` are the last ones from before these."""
    hours = query.hours or choose_period(records, query)
    window = window_of_last_hours(hours, query.now)
    rows = outcomes_in_window(records, window, query.inactive_after)
    previous = outcomes_in_window(records, window.before, query.inactive_after)
    counted = {row.key for row in rows}
    fixes = find_all_fixes(records, query.now)
    return AuthorHistory(
        query=query,
        patterns=compute_patterns(rows, previous, gates, query.login, hours),
        before=count_outcomes(previous),
        rows=rows,
        previous=previous,
        only_blocker=count_only_blockers(rows, gates),
        occurrences=_occurrences(rows, window),
        fixes={**(known_fixes or {}), **{fix.tag: fix for fix in fixes}},
        fixed_in={
            (fix.tag, fix.repository, fix.number): fix
            for fix in fixes
            if (fix.repository, fix.number) in counted
        },
        followed=count_followed(records, window, query.tag),
        observed=item_outcomes_in_window(records, window, query.tag),
    )


def choose_period(records: Sequence[HistoryRecord], query: HistoryQuery) -> int:
    """Return the hours of the shortest period with enough pull requests, or of the longest."""
    for days in sorted(query.periods):
        window = window_of_last_hours(24 * days, query.now)
        if len(outcomes_in_window(records, window, query.inactive_after)) >= query.minimum:
            return 24 * days
    return 24 * max(query.periods)


def history_needed_since(query: HistoryQuery) -> datetime:
    """Return since when records are needed: earlier ones make no difference to the history."""
    window = window_of_last_hours(query.hours or 24 * max(query.periods), query.now)
    return earliest_activity(window.before, query.inactive_after)


def count_only_blockers(rows: Iterable[PullRequestOutcome], gates: Gates) -> dict[str, int]:
    """Count the rejected pull requests in which each blocking tag is the only one."""
    counts: Counter[str] = Counter()
    for row in rows:
        blocking = {
            finding.tag or finding.id: finding.tag
            for finding in row.open_findings
            if finding.blocks_under(gates)
        }
        if len(blocking) == 1 and not row.has_unnamed_blocker and (tag := next(iter(blocking.values()))):
            counts[tag] += 1
    return dict(counts)


def count_untagged(rows: Iterable[PullRequestOutcome]) -> UntaggedShare:
    """Count the findings without a tag; what they look like is never counted as a tag."""
    findings = [finding for row in rows for finding in row.findings]
    likely = Counter(finding.looks_like for finding in findings if not finding.tag and finding.looks_like)
    untagged = Ratio.of(finding.tag is None for finding in findings)
    return UntaggedShare(untagged, tuple(rank(likely))[:MAX_LIKELY_GATES])


def _occurrences(
    rows: Iterable[PullRequestOutcome], window: TimeWindow
) -> dict[str, tuple[TagOccurrence, ...]]:
    until = TimeWindow(_EVER, window.end)
    occurrences: dict[str, list[TagOccurrence]] = {}
    for row in rows:
        for tag in row.tags:
            reports = (finding.last_report(until) for finding in row.findings if finding.tag == tag)
            last = max((at for at in reports if at), default=row.at)
            occurrences.setdefault(tag, []).append(TagOccurrence(last, row))
    return {
        tag: tuple(sorted(places, key=lambda one: (one.at, *reversed(one.outcome.key)), reverse=True))
        for tag, places in occurrences.items()
    }


_EVER = datetime.min.replace(tzinfo=UTC)


def count_weeks(rows: Iterable[PullRequestOutcome], zone: tzinfo) -> tuple[tuple[Week, Tally], ...]:
    """Count the pull requests of each week, the earliest first."""
    grouped: dict[Week, list[PullRequestOutcome]] = {}
    for row in rows:
        grouped.setdefault(week_containing(row.at, zone), []).append(row)
    return tuple((week, count_outcomes(mine)) for week, mine in sorted(grouped.items()))


def format_points_change(now: Tally, before: Tally) -> str:
    """Format the difference of the two percentages that the reader sees: `17 points more than`."""
    points = to_percent(now.accepted, now.total) - to_percent(before.accepted, before.total)
    if points == 0:
        return "the same as"
    return f"{format_count(abs(points), 'point')} {'more' if points > 0 else 'less'} than"
