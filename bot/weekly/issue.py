"""Decide the weekly issue and its comment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.gates.model import gate_display_name
from bot.history.model import HistoryRecord
from bot.history.patterns import format_points_change
from bot.markdown.escape import render_marker
from bot.markdown.format import format_count, to_percent
from bot.pull_request.effects import Effect, RecordWeeklyRun, ShowWeeklyIssue, StoreCommand
from bot.weekly.recommendations import Recommendation, WeeklyContext, recommend
from bot.weekly.summary import MIN_REVIEWED, WeeklySummary, WeekQuery, has_enough_reviews, summarize_week
from bot.weekly.text import WEEKLY_MARKER, marker_head, render_description

ISSUE_TITLE = "Weekly feedback summary"
"""Of the one issue a repository."""
ISSUE_LABEL = "feedback-summary"
"""By which it is found again."""

_MOST_BROKEN = 3


@dataclass(frozen=True, slots=True)
class WeeklyIssue:
    """Title, labels and description, and the three lines that get mailed."""

    title: str
    labels: tuple[str, ...]
    body: str
    comment: str


def render_weekly_issue(
    week: WeeklySummary, page: WeeklyContext, minimum: int = MIN_REVIEWED
) -> WeeklyIssue | None:
    """The issue of a week; None where too little happened."""
    if not has_enough_reviews(week, minimum):
        return None
    todo = recommend(week, page)
    return WeeklyIssue(
        ISSUE_TITLE, (ISSUE_LABEL,), render_description(week, page, todo), _comment(week, page, todo)
    )


def _comment(week: WeeklySummary, page: WeeklyContext, todo: Sequence[Recommendation]) -> str:
    worth = f" Worth doing: {todo[0].short}." if todo else ""
    return (
        f"{_marker(week)}\n\n{_result(week)}\n\n"
        f"{_most_broken(week, page)}{worth} The whole week is in the description above.\n"
    )


def _marker(week: WeeklySummary) -> str:
    data = marker_head(week) | {
        "total_prs": week.now.total,
        "rejected_prs": week.now.rejected,
        "approval_rate": week.now.approval_rate,
        "trend": week.trend.value,
    }
    return render_marker(WEEKLY_MARKER, data)


def _result(week: WeeklySummary) -> str:
    now, before = week.now, week.before
    none = "; none was judged the week before"
    against = f" ({format_points_change(now, before)} the week before)" if before.total else none
    judged = f"{format_count(now.total, 'pull request')} judged, {now.rejected} rejected"
    accepted = f"{to_percent(now.accepted, now.total)}% accepted"
    return f"**Week {week.ask.week.number}**: {judged}, {accepted}{against}."


def _most_broken(week: WeeklySummary, page: WeeklyContext) -> str:
    if not week.gates:
        return "No gate was broken."
    named = (
        f"{gate_display_name(gate.tag, page.gates)} ({gate.broken})" for gate in week.gates[:_MOST_BROKEN]
    )
    return f"Most broken: {', '.join(named)}."


MIN_REVIEWED_ON_DEMAND = 1
"""Whoever asks for the running week gets it from the first pull request on."""


@dataclass(frozen=True, slots=True)
class WeeklyDecision:
    """What a week comes to: the issue, and that the clock's run is decided."""

    issue: WeeklyIssue | None
    effects: tuple[Effect, ...] = ()
    memos: tuple[StoreCommand, ...] = ()


def decide_week(
    records: Sequence[HistoryRecord], ask: WeekQuery, page: WeeklyContext, now: datetime
) -> WeeklyDecision:
    """The clock's run covers the finished week and adds its comment; a week so far is only described."""
    scheduled = ask.as_of is None
    found = render_weekly_issue(
        summarize_week(records, page.gates, ask), page, MIN_REVIEWED if scheduled else MIN_REVIEWED_ON_DEMAND
    )
    week = str(ask.week)
    memos: tuple[StoreCommand, ...] = ()
    if scheduled:
        memos = (RecordWeeklyRun(ask.repository.id, week, now, is_published=found is not None),)
    if found is None:
        return WeeklyDecision(None, (), memos)
    shown = ShowWeeklyIssue(
        repository=ask.repository,
        week=week,
        title=found.title,
        labels=found.labels,
        body=found.body,
        comment=found.comment if scheduled else None,
    )
    return WeeklyDecision(found, (shown,), memos)
