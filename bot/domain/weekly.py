"""The weekly issue as it should be on GitHub, and the comment that a finished week adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.escape import marker
from bot.domain.phrasing import counted, gate_name, percent, points_against
from bot.domain.summary import MINIMUM, Summary, is_worth_telling
from bot.domain.weekly_text import WORD, description, head_data
from bot.domain.worth_doing import Advice, Page, worth_doing

TITLE = "Weekly feedback summary"
"""Of the one issue a repository."""
LABEL = "feedback-summary"
"""By which it is found again."""

_MOST_BROKEN = 3


@dataclass(frozen=True, slots=True)
class WeeklyIssue:
    """Title, labels and description, and the three lines that get mailed."""

    title: str
    labels: tuple[str, ...]
    body: str
    comment: str


def weekly_issue(week: Summary, page: Page, minimum: int = MINIMUM) -> WeeklyIssue | None:
    """The issue of a week; None where too little happened."""
    if not is_worth_telling(week, minimum):
        return None
    todo = worth_doing(week, page)
    return WeeklyIssue(TITLE, (LABEL,), description(week, page, todo), _comment(week, page, todo))


def _comment(week: Summary, page: Page, todo: Sequence[Advice]) -> str:
    worth = f" Worth doing: {todo[0].short}." if todo else ""
    return (
        f"{_marker(week)}\n\n{_result(week)}\n\n"
        f"{_most_broken(week, page)}{worth} The whole week is in the description above.\n"
    )


def _marker(week: Summary) -> str:
    data = head_data(week) | {
        "total_prs": week.now.total,
        "rejected_prs": week.now.rejected,
        "approval_rate": week.now.approval_rate,
        "trend": week.trend.value,
    }
    return marker(WORD, data)


def _result(week: Summary) -> str:
    now, before = week.now, week.before
    none = "; none was judged the week before"
    against = f" ({points_against(now, before)} the week before)" if before.total else none
    judged = f"{counted(now.total, 'pull request')} judged, {now.rejected} rejected"
    return (
        f"**Week {week.ask.week.number}**: {judged}, {percent(now.accepted, now.total)}% accepted{against}."
    )


def _most_broken(week: Summary, page: Page) -> str:
    if not week.gates:
        return "No gate was broken."
    named = (f"{gate_name(gate.tag, page.gates)} ({gate.broken})" for gate in week.gates[:_MOST_BROKEN])
    return f"Most broken: {', '.join(named)}."
