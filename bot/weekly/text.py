"""Render the weekly issue: description, tables and chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from bot.gates.config import AuthorNaming
from bot.gates.model import Gates, gate_name_with_tag
from bot.history.patterns import Trend, format_points_change
from bot.history.rates import MIN_BRIEFS, AdviceRates, Ratio, ReviewerRates, combine_reviewer_rates
from bot.markdown.escape import code_span, render_marker, table_cell
from bot.markdown.format import format_count, format_long_range, format_share, to_percent
from bot.markdown.links import format_login
from bot.pull_request.model import Validator
from bot.weekly.recommendations import Recommendation, WeeklyContext
from bot.weekly.summary import QUIET_AFTER_WEEKS, AuthorWeek, GateWeek, WeeklySummary, WeekTotal

_FRONT = """---
config:
  xyChart:
    width: 820
    height: 260
  themeVariables:
    xyChart:
      plotColorPalette: "#cf222e, #0969da"
---"""


def render_chart(weeks: Sequence[WeekTotal]) -> str:
    """Bars for the rejected, a line for all that were judged; size and colours are set for both themes."""
    judged = [week.judged for week in weeks]
    return "\n".join(
        (
            _FRONT,
            "xychart-beta",
            '    title "Rejected pull requests (bars) of all judged (line)"',
            f"    x-axis [{', '.join(_name(week) for week in weeks)}]",
            f'    y-axis "Pull requests" 0 --> {_top(max(judged, default=0))}',
            f"    bar [{', '.join(str(week.rejected) for week in weeks)}]",
            f"    line [{', '.join(map(str, judged))}]",
        )
    )


def render_chart_table(weeks: Sequence[WeekTotal]) -> str:
    """The chart's numbers for whoever can't see it."""
    return "\n".join(
        (
            _chart_row("Week", (_name(week) for week in weeks)),
            f"|---|{'--:|' * len(weeks)}",
            _chart_row("Judged", (str(week.judged) for week in weeks)),
            _chart_row("Rejected", (str(week.rejected) for week in weeks)),
        )
    )


def _name(total: WeekTotal) -> str:
    return f"W{total.week.number:02}"


def _top(most: int) -> int:
    """The axis ends at a round number that holds the highest point."""
    step: int = 10 ** max(len(str(most)) - 1, 1)
    return max(-(-most // step), 1) * step


def _chart_row(name: str, cells: Iterable[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


_NAMED = 3
"""Actions in the line; the rest is in the API."""


def render_advice(found: AdviceRates) -> tuple[str, ...]:
    """One line; none where too few briefs were judged."""
    if found.accepted.whole < MIN_BRIEFS:
        return ()
    share = format_share(found.accepted.part, found.accepted.whole)
    line = f"Briefs: {share} were accepted at the next verdict."
    if not found.low:
        return (line,)
    named = ", ".join(f"`{action}` ({_format_action(found, action)})" for action in found.low[:_NAMED])
    return (f"{line} A person should look at what seldom helps: {named}.",)


def _format_action(found: AdviceRates, action: str) -> str:
    counts = found.actions[action]
    return f"{counts.part} of {counts.whole}"


MAX_REVIEWER_ROWS = 20
"""Of the table; the rest is counted."""

_ENOUGH = 5  # cases from which a percentage says more than the two numbers
_HEAD = (
    "| Validator | Claims | Grounded | Ungrounded | Confirmed when looked up | False | Vague items |\n"
    "|---|--:|--:|--:|--:|--:|--:|"
)


def render_reviewers(week: WeeklySummary) -> tuple[str, ...]:
    """The figures in one line, each validator's below it; nothing where there is nothing to tell."""
    everybody = combine_reviewer_rates(week.reviews, Validator("", ""))
    if not everybody.claims.claims and not everybody.vague.part:
        return ()
    figures = f"Reviews: {'; '.join(_figures(everybody))}"
    rows = _rows(week)
    if not rows:
        return (f"{figures}.",)
    table = "\n".join((_HEAD, *rows[:MAX_REVIEWER_ROWS]))
    left = len(rows) - MAX_REVIEWER_ROWS
    more = f"\n\nAnd {format_count(left, 'more validator')}." if left > 0 else ""
    return (f"<details><summary>{figures}</summary>\n\n{table}{more}\n\n</details>",)


def _figures(everybody: ReviewerRates) -> list[str]:
    claims, vague = everybody.claims, everybody.vague
    found = []
    if claims.claims:
        false = f", {claims.contradicted} contradicted" if claims.contradicted else ""
        found.append(f"{_format_rate(claims.verified, claims.claims, 'claims confirmed')}{false}")
    if vague.part:
        found.append(_format_rate(vague.part, vague.whole, "items too vague to act on"))
    return found


def _format_rate(part: int, whole: int, what: str) -> str:
    share = f" ({to_percent(part, whole)}%)" if whole >= _ENOUGH else ""
    return f"{part} of {whole} {what}{share}"


def _rows(week: WeeklySummary) -> list[str]:
    """The named ones, then the people together, as the repository wants its authors shown."""
    if week.ask.named is AuthorNaming.NONE:
        return []
    named = [one for one in week.reviews if _is_named(one, week)]
    people = [one for one in week.reviews if not _is_named(one, week)]
    rows = [_reviewer_row(table_cell(format_login(one.validator.name)), one) for one in named]
    if people:
        rows.append(_reviewer_row(_people(people), combine_reviewer_rates(people, Validator("", ""))))
    return rows


def _is_named(one: ReviewerRates, week: WeeklySummary) -> bool:
    validator = one.validator
    is_agent = week.ask.agents.is_agent(validator.name, bot=validator.bot)
    return week.ask.named is AuthorNaming.ALL or is_agent


def _people(people: Sequence[ReviewerRates]) -> str:
    return "1 person" if len(people) == 1 else f"{len(people)} people"


def _reviewer_row(name: str, one: ReviewerRates) -> str:
    claims = one.claims
    shares = (
        (claims.verified, claims.claims),
        (claims.unverifiable, claims.claims),
        (claims.verified, claims.looked_up),
        (claims.contradicted, claims.verified + claims.contradicted),
        (one.vague.part, one.vague.whole),
    )
    return f"| {name} | {claims.claims} | {' | '.join(_cell(*each) for each in shares)} |"


def _cell(part: int, whole: int) -> str:
    if not whole:
        return "–"
    return f"{part} of {whole}" if whole < _ENOUGH else f"{to_percent(part, whole)}%"


MAX_TABLE_ROWS = 20
"""Of a table; the rest is counted."""

_TAGS = 5  # named in one sentence


def render_gates(week: WeeklySummary, gates: Gates) -> tuple[str, ...]:
    """How the gates fared, and what feedback came to."""
    quiet = _not_broken(week.not_broken)
    if not week.gates:
        return ("### Gates", " ".join(filter(None, ("No gate was broken.", quiet))))
    head = (
        "| Gate | This week | Week before | Fixed by the next iteration | Overturned |\n|---|--:|--:|--:|--:|"
    )
    rows = "\n".join((head, *(_gate_row(gate, gates) for gate in week.gates[:MAX_TABLE_ROWS])))
    left = week.gates[MAX_TABLE_ROWS:]
    more = f"And {format_count(len(left), 'more gate')}." if left else ""
    return ("### Gates", rows, " ".join(filter(None, (more, _followed(week), _helped(week), quiet))))


def render_authors(authors: Sequence[AuthorWeek]) -> tuple[str, ...]:
    """How the authors fared; nothing where they are not shown."""
    if not authors:
        return ()
    head = "| Author | Judged | Rejected | First review | Against the week before |\n|---|--:|--:|--:|---|"
    left = len(authors) - MAX_TABLE_ROWS
    more = f"\n\nAnd {format_count(left, 'more author')}." if left > 0 else ""
    return ("### Authors", "\n".join((head, *map(_author_row, authors[:MAX_TABLE_ROWS]))) + more)


def _gate_row(gate: GateWeek, gates: Gates) -> str:
    name = table_cell(gate_name_with_tag(gate.tag, gates))
    fixed = f"{gate.fixed_next} of {gate.broken}"
    return f"| {name} | {gate.broken} | {gate.before} | {fixed} | {gate.overturned} |"


def _followed(week: WeeklySummary) -> str:
    placed, unplaced = week.followed.with_place, week.followed.without_place
    if placed.whole and unplaced.whole:
        without = f", without a place in {_cases(unplaced)}"
        return f"Feedback that named a place was followed in {_cases(placed)}{without}."
    if placed.whole:
        return f"Feedback that named a place was followed in {_cases(placed)}."
    return f"Feedback was followed in {_cases(unplaced)}; none named a place." if unplaced.whole else ""


def _helped(week: WeeklySummary) -> str:
    """Whether it helped and was clear; nothing where no iteration has told."""
    seen = week.tracked
    if seen is None:
        return ""
    rose = (
        f"quality rose after feedback in {_cases(Ratio(seen.improved, seen.measured))}"
        if seen.measured
        else ""
    )
    clear = "" if seen.mean_clarity is None else _clear(seen.mean_clarity)
    told = "; ".join(filter(None, (rose, clear)))
    return f"{told[0].upper()}{told[1:]}." if told else ""


def _clear(score: float) -> str:
    return f"the feedback scored {score:.2f} for clarity (1 is the best)"


def _cases(share: Ratio) -> str:
    numbers = f"{share.part} of {share.whole}"
    return (
        numbers if share.whole < _ENOUGH else f"{to_percent(share.part, share.whole)}% of cases ({numbers})"
    )


def _not_broken(tags: Sequence[str]) -> str:
    if not tags:
        return ""
    more = f" and {len(tags) - _TAGS} more" if len(tags) > _TAGS else ""
    return f"Not broken for {QUIET_AFTER_WEEKS} weeks: {', '.join(map(code_span, tags[:_TAGS]))}{more}."


def _author_row(author: AuthorWeek) -> str:
    people = "1 person" if author.people == 1 else f"{author.people} people"
    name = table_cell(format_login(author.login)) if author.login else people
    tally = author.tally
    against = "too few" if author.trend is Trend.NO_DATA else author.trend.value
    return f"| {name} | {tally.total} | {tally.rejected} | {tally.first_pass} | {against} |"


WEEKLY_MARKER = "WEEKLY-SUMMARY"
"""The marker's word."""


def render_description(week: WeeklySummary, page: WeeklyContext, todo: Sequence[Recommendation]) -> str:
    """The whole issue."""
    parts = (
        _marker(week),
        _heading(week),
        f"{_result(week)} {_first_review(week)}",
        *_todo(todo),
        *render_gates(week, page.gates),
        "### Twelve weeks",
        f"```mermaid\n{render_chart(week.weeks)}\n```",
        f"<details><summary>The same as a table</summary>\n\n{render_chart_table(week.weeks)}\n\n</details>",
        *render_authors(week.authors),
        *render_reviewers(week),
        *render_advice(week.advice),
        _footer(week),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def marker_head(week: WeeklySummary) -> dict[str, object]:
    """What the markers of the description and of the comment both say."""
    return {"v": 1, "repository": week.ask.repository.full_name, "week": str(week.ask.week)}


def _marker(week: WeeklySummary) -> str:
    now, before = week.now, week.before
    data = marker_head(week) | {
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
        "issue_breakdown": {gate.tag: gate.broken for gate in week.gates[:MAX_TABLE_ROWS]},
    }
    return render_marker(WEEKLY_MARKER, data)


def _heading(week: WeeklySummary) -> str:
    running = " so far" if week.ask.as_of else ""
    days = format_long_range(week.ask.week.monday, _last_day(week))
    return f"## Week {week.ask.week.number}{running} · {days}"


def _last_day(week: WeeklySummary) -> date:
    return week.ask.window.last.astimezone(week.ask.zone).date()


def _result(week: WeeklySummary) -> str:
    now, before = week.now, week.before
    judged = format_count(now.total, "pull request")
    result = f"**{judged} judged: {now.accepted} accepted, {now.rejected} rejected.**"
    accepted = f"{to_percent(now.accepted, now.total)}% accepted"
    if not before.total:
        return f"{result} {accepted}; none was judged the week before."
    then = f"the week before ({to_percent(before.accepted, before.total)}% of {before.total})"
    return f"{result} {accepted}, {format_points_change(now, before)} {then}."


def _first_review(week: WeeklySummary) -> str:
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


def _todo(todo: Sequence[Recommendation]) -> tuple[str, ...]:
    if not todo:
        return ()
    return ("### Worth doing", "\n".join(f"{number}. {one.line}" for number, one in enumerate(todo, 1)))


def _footer(week: WeeklySummary) -> str:
    merged = f"; {week.unjudged} merged without one counted as accepted" if week.unjudged else ""
    named = {
        AuthorNaming.AGENTS: "People are counted, not named; agents are named",
        AuthorNaming.ALL: "All authors are named",
        AuthorNaming.NONE: "Authors are not shown",
    }[week.ask.named]
    return (
        f"<sub>Judged = at least one validator gave a verdict{merged}. {named} (`weekly.authors`). "
        "Close this issue to stop the summary, reopen it to go on. "
        "One author: `/feedback-history @login` on a pull request.</sub>"
    )
