"""The description of the weekly issue, word for word."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from bot.domain.chart import chart, chart_table
from bot.domain.choices import Named
from bot.domain.escape import marker
from bot.domain.phrasing import counted, long_days, percent, points_against
from bot.domain.summary import Summary
from bot.domain.weekly_advice import advice_line
from bot.domain.weekly_reviews import review_section
from bot.domain.weekly_tables import ROWS, author_section, gate_section
from bot.domain.worth_doing import Advice, Page

WORD = "WEEKLY-SUMMARY"
"""The marker's word."""


def description(week: Summary, page: Page, todo: Sequence[Advice]) -> str:
    """The whole issue."""
    parts = (
        _marker(week),
        _heading(week),
        f"{_result(week)} {_first_review(week)}",
        *_todo(todo),
        *gate_section(week, page.gates),
        "### Twelve weeks",
        f"```mermaid\n{chart(week.weeks)}\n```",
        f"<details><summary>The same as a table</summary>\n\n{chart_table(week.weeks)}\n\n</details>",
        *author_section(week.authors),
        *review_section(week),
        *advice_line(week.advice),
        _footer(week),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def head_data(week: Summary) -> dict[str, object]:
    """What the markers of the description and of the comment both say."""
    return {"v": 1, "repository": week.ask.repository.full_name, "week": str(week.ask.week)}


def _marker(week: Summary) -> str:
    now, before = week.now, week.before
    data = head_data(week) | {
        "from": week.ask.week.monday.isoformat(),
        "to": _last_day(week).isoformat(),
        "total_prs": now.total,
        "rejected_prs": now.rejected,
        "approval_rate": now.approval_rate,
        "first_pass_prs": now.first_pass,
        "trend": week.trend.value,
        "previous": {
            "total_prs": before.total,
            "rejected_prs": before.rejected,
            "approval_rate": before.approval_rate,
        },
        "issue_breakdown": {gate.tag: gate.broken for gate in week.gates[:ROWS]},
    }
    return marker(WORD, data)


def _heading(week: Summary) -> str:
    running = " so far" if week.ask.so_far else ""
    days = long_days(week.ask.week.monday, _last_day(week))
    return f"## Week {week.ask.week.number}{running} · {days}"


def _last_day(week: Summary) -> date:
    return week.ask.window.last.astimezone(week.ask.zone).date()


def _result(week: Summary) -> str:
    now, before = week.now, week.before
    result = (
        f"**{counted(now.total, 'pull request')} judged: {now.accepted} accepted, {now.rejected} rejected.**"
    )
    accepted = f"{percent(now.accepted, now.total)}% accepted"
    if not before.total:
        return f"{result} {accepted}; none was judged the week before."
    then = f"the week before ({percent(before.accepted, before.total)}% of {before.total})"
    return f"{result} {accepted}, {points_against(now, before)} {then}."


def _first_review(week: Summary) -> str:
    first = {0: "None was", 1: "1 was"}.get(week.now.first_pass, f"{week.now.first_pass} were")
    said = f"{first} accepted at the first review"
    later = week.later_iterations
    if not later:
        return f"{said}."
    other = "other " if week.now.first_pass else ""
    ones = "accepted one" if len(later) == 1 else f"{len(later)} accepted ones"
    if max(later) == 1:  # the reviewer changed their mind about the same revision
        return f"{said}; the {other}{ones} needed no new revision."
    mean = f"{sum(later) / len(later):.1f}".removesuffix(".0")
    on_average = "" if len(later) == 1 else " on average"
    return f"{said}; the {other}{ones} took {mean} iterations{on_average}."


def _todo(todo: Sequence[Advice]) -> tuple[str, ...]:
    if not todo:
        return ()
    return ("### Worth doing", "\n".join(f"{number}. {one.line}" for number, one in enumerate(todo, 1)))


def _footer(week: Summary) -> str:
    merged = f"; {week.unjudged} merged without one counted as accepted" if week.unjudged else ""
    named = {
        Named.AGENTS: "People are counted, not named; agents are named",
        Named.ALL: "All authors are named",
        Named.NONE: "Authors are not shown",
    }[week.ask.named]
    return (
        f"<sub>Judged = at least one validator gave a verdict{merged}. {named} (`weekly.authors`). "
        "Close this issue to stop the summary, reopen it to go on. "
        "One author: `/feedback-history @login` on a pull request.</sub>"
    )
