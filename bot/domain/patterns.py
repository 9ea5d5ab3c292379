"""Which gates an author breaks, how often, and whether it gets better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.gates import Gates
from bot.domain.judged import Judged

TOP = 5
"""Issues that come with guidance."""
ENOUGH = 5
"""Pull requests in each window from which a trend is said."""
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
    """How many pull requests a window has, and how they fared."""

    total: int
    rejected: int
    first_pass: int

    @property
    def accepted(self) -> int:
        """Those that nothing rejects."""
        return self.total - self.rejected

    @property
    def approval_rate(self) -> float | None:
        """The accepted ones' share, with three decimals; None of nothing."""
        return round(self.accepted / self.total, 3) if self.total else None


@dataclass(frozen=True, slots=True)
class TopIssue:
    """A tag that was broken often, with what to do about it."""

    tag: str
    count: int
    pct: float
    gate: str
    fix: str
    auto_fixable: bool

    def as_json(self) -> dict[str, object]:
        """The contract's keys."""
        return {
            "tag": self.tag,
            "count": self.count,
            "pct": self.pct,
            "gate": self.gate,
            "fix": self.fix,
            "auto_fixable": self.auto_fixable,
        }


@dataclass(frozen=True, slots=True)
class Patterns:
    """An author's record in a window."""

    agent: str
    period_hours: int
    tally: Tally
    top_issues: tuple[TopIssue, ...]
    issue_breakdown: Mapping[str, int]
    trend: Trend

    def as_json(self) -> dict[str, object]:
        """The contract's keys, always all of them."""
        return {
            "agent": self.agent,
            "period_hours": self.period_hours,
            "total_prs": self.tally.total,
            "rejected_prs": self.tally.rejected,
            "approval_rate": self.tally.approval_rate,
            "first_pass_prs": self.tally.first_pass,
            "top_issues": [issue.as_json() for issue in self.top_issues],
            "issue_breakdown": dict(self.issue_breakdown),
            "trend": self.trend.value,
        }


def patterns(
    rows: Sequence[Judged], previous: Sequence[Judged], gates: Gates, agent: str, hours: int
) -> Patterns:
    """The record that these pull requests of one author make, against those of the window before."""
    breakdown = issue_breakdown(rows)
    return Patterns(
        agent=agent,
        period_hours=hours,
        tally=tally(rows),
        top_issues=tuple(
            _top_issue(tag, count, len(rows), gates) for tag, count in tuple(breakdown.items())[:TOP]
        ),
        issue_breakdown=breakdown,
        trend=trend(tally(rows), tally(previous)),
    )


def all_patterns(
    rows: Sequence[Judged], previous: Sequence[Judged], gates: Gates, hours: int
) -> dict[str, Patterns]:
    """Every author's record by login; an account keeps its record when its login changes."""
    now, then = by_author(rows), by_author(previous)
    return {
        mine[0].author.login: patterns(mine, then.get(author, ()), gates, mine[0].author.login, hours)
        for author, mine in now.items()
    }


def by_author(rows: Iterable[Judged]) -> dict[int, tuple[Judged, ...]]:
    """The rows of each account, in the order given."""
    grouped: dict[int, list[Judged]] = {}
    for row in rows:
        grouped.setdefault(row.author.id, []).append(row)
    return {author: tuple(mine) for author, mine in grouped.items()}


def tally(rows: Iterable[Judged]) -> Tally:
    """Count these pull requests."""
    counted = tuple(rows)
    return Tally(len(counted), sum(row.rejected for row in counted), sum(row.first_pass for row in counted))


def issue_breakdown(rows: Iterable[Judged]) -> dict[str, int]:
    """How many pull requests broke each tag, the most first; a tag counts once a pull request."""
    counts = Counter(tag for row in rows for tag in set(row.tags))
    return dict(sorted(counts.items(), key=lambda counted: (-counted[1], counted[0])))


def trend(now: Tally, before: Tally) -> Trend:
    """Compare the rejection rates, in whole numbers so that exactly five points are stable."""
    if min(now.total, before.total) < ENOUGH:
        return Trend.NO_DATA
    fewer = 100 * (before.rejected * now.total - now.rejected * before.total)
    limit = _POINTS * now.total * before.total
    if fewer > limit:
        return Trend.IMPROVING
    return Trend.WORSENING if fewer < -limit else Trend.STABLE


def _top_issue(tag: str, count: int, total: int, gates: Gates) -> TopIssue:
    gate = gates.get(tag)
    return TopIssue(
        tag=tag,
        count=count,
        pct=round(count / total * 100, 1),
        gate=gate.gate if gate else tag,
        fix=gate.fix if gate else UNKNOWN_FIX,
        auto_fixable=gate.auto_fixable if gate else False,
    )
