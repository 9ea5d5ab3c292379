"""Decide the weekly issue and its comment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.history.model import HistoryRecord
from bot.pull_request.effects import Effect, RecordWeeklyRun, ShowWeeklyIssue, StoreCommand
from bot.weekly.recommendations import WeeklyContext, recommend
from bot.weekly.summary import MIN_REVIEWED, WeeklySummary, WeekQuery, has_enough_reviews, summarize_week
from bot.weekly.text import render_description, render_week_comment

ISSUE_TITLE = "Weekly feedback summary"
ISSUE_LABEL = "feedback-summary"
"""The label by which the issue is found again."""
MIN_REVIEWED_ON_DEMAND = 1
"""Reviewed pull requests that a summary on demand needs."""


@dataclass(frozen=True, slots=True)
class WeeklyIssue:
    """The description of the issue, and the three lines that get mailed."""

    body: str
    comment: str


@dataclass(frozen=True, slots=True)
class WeeklyDecision:
    """The issue of a week, and the effects that post it."""

    issue: WeeklyIssue | None
    effects: tuple[Effect, ...] = ()
    store_commands: tuple[StoreCommand, ...] = ()


def render_weekly_issue(
    summary: WeeklySummary, context: WeeklyContext, minimum: int = MIN_REVIEWED
) -> WeeklyIssue | None:
    """Render the issue of a week; None if too few pull requests were reviewed."""
    if not has_enough_reviews(summary, minimum):
        return None
    recommendations = recommend(summary, context)
    return WeeklyIssue(
        render_description(summary, context, recommendations),
        render_week_comment(summary, context, recommendations),
    )


def decide_week(
    records: Sequence[HistoryRecord], query: WeekQuery, context: WeeklyContext, now: datetime
) -> WeeklyDecision:
    """Post the issue; only the scheduled run of a finished week adds a comment and is recorded."""
    is_scheduled = query.as_of is None
    minimum = MIN_REVIEWED if is_scheduled else MIN_REVIEWED_ON_DEMAND
    issue = render_weekly_issue(summarize_week(records, context.gates, query), context, minimum)
    week = str(query.week)
    run = RecordWeeklyRun(query.repository.id, week, now, is_published=issue is not None)
    store_commands = (run,) if is_scheduled else ()
    if issue is None:
        return WeeklyDecision(None, (), store_commands)
    show = ShowWeeklyIssue(
        repository=query.repository,
        week=week,
        title=ISSUE_TITLE,
        labels=(ISSUE_LABEL,),
        body=issue.body,
        comment=issue.comment if is_scheduled else None,
    )
    return WeeklyDecision(issue, (show,), store_commands)
