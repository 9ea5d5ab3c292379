"""Render the weekly issue: description, tables and chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from bot.gates.config import AuthorNaming
from bot.gates.model import Gates, gate_display_name, gate_name_with_tag
from bot.history.model import Ratio, Week
from bot.history.patterns import Tally, Trend, format_points_change
from bot.history.rates import MIN_BRIEFS, AdviceRates, ReviewerRates, combine_reviewer_rates
from bot.history.text import format_first_pass, format_untagged
from bot.lessons.text import render_lessons
from bot.markdown.escape import code_span, parse_marker, render_marker
from bot.markdown.format import (
    fold,
    format_count,
    format_long_range,
    format_people,
    format_share,
    format_table,
    to_percent,
)
from bot.markdown.links import format_login
from bot.pull_request.model import Validator
from bot.weekly.recommendations import Recommendation, WeeklyContext
from bot.weekly.summary import QUIET_AFTER_WEEKS, AuthorWeek, GateWeek, WeeklySummary

_FRONT = """---
config:
  xyChart:
    width: 820
    height: 260
  themeVariables:
    xyChart:
      plotColorPalette: "#cf222e, #0969da"
---"""


def render_chart(weeks: Sequence[tuple[Week, Tally]]) -> str:
    """Render bars for the rejected, a line for all reviewed; size and colours suit both themes."""
    reviewed = [tally.total for _, tally in weeks]
    return "\n".join(
        (
            _FRONT,
            "xychart-beta",
            '    title "Rejected pull requests (bars) of all reviewed (line)"',
            f"    x-axis [{', '.join(map(_week_label, weeks))}]",
            f'    y-axis "Pull requests" 0 --> {_axis_end(max(reviewed, default=0))}',
            f"    bar [{', '.join(str(tally.rejected) for _, tally in weeks)}]",
            f"    line [{', '.join(map(str, reviewed))}]",
        )
    )


def render_chart_table(weeks: Sequence[tuple[Week, Tally]]) -> str:
    """Render the chart's numbers as a table."""
    rows = (
        ("Reviewed", *(tally.total for _, tally in weeks)),
        ("Rejected", *(tally.rejected for _, tally in weeks)),
    )
    head = f"| Week | {' | '.join(map(_week_label, weeks))} |\n|---|{'--:|' * len(weeks)}"
    return format_table(head, rows, tuple)


def _week_label(bar: tuple[Week, Tally]) -> str:
    return f"W{bar[0].number:02}"


def _axis_end(most: int) -> int:
    """Return a round number that is not below the highest point."""
    step: int = 10 ** max(len(str(most)) - 1, 1)
    return max(-(-most // step), 1) * step


_MAX_ACTIONS = 3
"""Actions in the line; the rest is in the API."""


def render_advice(rates: AdviceRates) -> tuple[str, ...]:
    """Render one line; nothing if too few briefs were reviewed."""
    if rates.accepted.whole < MIN_BRIEFS:
        return ()
    share = format_share(rates.accepted.part, rates.accepted.whole)
    line = f"Briefs: {share} were accepted at the next verdict."
    if not rates.low:
        return (line,)
    low = [(action, rates.actions[action]) for action in rates.low[:_MAX_ACTIONS]]
    actions = ", ".join(f"`{action}` ({ratio.part} of {ratio.whole})" for action, ratio in low)
    return (f"{line} A person should look at what seldom helps: {actions}.",)


MAX_TABLE_ROWS = 20
"""Rows of a table; the rest is counted."""

_ENOUGH = 5  # cases from which a percentage says more than the two numbers
_HEAD = (
    "| Validator | Claims | Grounded | Ungrounded | Confirmed when looked up | False | Vague items |\n"
    "|---|--:|--:|--:|--:|--:|--:|"
)


def render_reviewers(summary: WeeklySummary) -> tuple[str, ...]:
    """Render the totals in one line, each validator's below it; nothing without claims or vague items."""
    everybody = combine_reviewer_rates(summary.reviews)
    if not everybody.claims.claims and not everybody.vague.part:
        return ()
    figures = f"Reviews: {'; '.join(_figures(everybody))}"
    rows = _reviewer_rows(summary)
    if not rows:
        return (f"{figures}.",)
    return (fold(figures, format_table(_HEAD, rows, tuple, "validator", MAX_TABLE_ROWS)),)


def _figures(rates: ReviewerRates) -> list[str]:
    claims, vague = rates.claims, rates.vague
    figures = []
    if claims.claims:
        false = f", {claims.contradicted} contradicted" if claims.contradicted else ""
        figures.append(f"{_format_rate(claims.verified, claims.claims, 'claims confirmed')}{false}")
    if vague.part:
        figures.append(_format_rate(vague.part, vague.whole, "items too vague to act on"))
    return figures


def _format_rate(part: int, whole: int, what: str) -> str:
    share = f" ({to_percent(part, whole)}%)" if whole >= _ENOUGH else ""
    return f"{part} of {whole} {what}{share}"


def _reviewer_rows(summary: WeeklySummary) -> list[tuple[object, ...]]:
    """Render the named ones, then the people together, as the repository wants its authors shown."""
    if summary.query.naming is AuthorNaming.NONE:
        return []
    named = [rates for rates in summary.reviews if _is_named(rates.validator, summary)]
    people = [rates for rates in summary.reviews if not _is_named(rates.validator, summary)]
    rows = [_reviewer_row(format_login(rates.validator.name), rates) for rates in named]
    if people:
        rows.append(_reviewer_row(format_people(len(people)), combine_reviewer_rates(people)))
    return rows


def _is_named(validator: Validator, summary: WeeklySummary) -> bool:
    is_agent = summary.query.agents.is_agent(validator.name, bot=validator.bot)
    return summary.query.naming is AuthorNaming.ALL or is_agent


def _reviewer_row(name: str, rates: ReviewerRates) -> tuple[object, ...]:
    claims = rates.claims
    shares = (
        (claims.verified, claims.claims),
        (claims.unverifiable, claims.claims),
        (claims.verified, claims.looked_up),
        (claims.contradicted, claims.verified + claims.contradicted),
        (rates.vague.part, rates.vague.whole),
    )
    return name, claims.claims, *(_format_cell(*share) for share in shares)


def _format_cell(part: int, whole: int) -> str:
    if not whole:
        return "–"
    return f"{part} of {whole}" if whole < _ENOUGH else f"{to_percent(part, whole)}%"


_MAX_TAGS = 5  # named in one sentence
_MOST_BROKEN = 3  # gates in the comment


def render_gates(summary: WeeklySummary, gates: Gates) -> tuple[str, ...]:
    """Render the gates, and how much of the feedback was followed."""
    untagged, quiet = format_untagged(summary.untagged, gates), _not_broken(summary.not_broken)
    if not summary.gates:
        without_gates = ("No gate was broken.", untagged, _followed(summary), quiet)
        return ("### Gates", " ".join(filter(None, without_gates)))
    head = (
        "| Gate | This week | Week before | Fixed by the next iteration | Overturned |\n|---|--:|--:|--:|--:|"
    )
    rows = format_table(head, summary.gates[:MAX_TABLE_ROWS], lambda gate: _gate_row(gate, gates))
    omitted = len(summary.gates) - MAX_TABLE_ROWS
    more = f"And {format_count(omitted, 'more gate')}." if omitted > 0 else ""
    sentences = (more, untagged, _followed(summary), _helped(summary), quiet)
    return ("### Gates", rows, " ".join(filter(None, sentences)))


def render_authors(authors: Sequence[AuthorWeek]) -> tuple[str, ...]:
    """Render the authors; nothing if they are not shown."""
    if not authors:
        return ()
    names = "| Author | Reviewed | Rejected | First-pass | Most broken | vs last week |"
    head = f"{names}\n|---|--:|--:|--:|---|---|"
    return ("### Authors", format_table(head, authors, _author_row, "author", MAX_TABLE_ROWS))


def _gate_row(gate: GateWeek, gates: Gates) -> tuple[object, ...]:
    fixed = f"{gate.fixed_next} of {gate.broken}"
    return gate_name_with_tag(gate.tag, gates), gate.broken, gate.before, fixed, gate.overturned


def _followed(summary: WeeklySummary) -> str:
    located, unlocated = summary.followed.with_location, summary.followed.without_location
    if located.whole:
        without = f", without one in {_cases(unlocated)}" if unlocated.whole else ""
        return f"Feedback with a location was addressed in {_cases(located)}{without}."
    return f"Feedback was addressed in {_cases(unlocated)}; none had a location." if unlocated.whole else ""


def _helped(summary: WeeklySummary) -> str:
    """Say whether feedback helped and was clear; nothing if no iteration shows it."""
    rate = summary.tracked
    if rate is None:
        return ""
    parts = []
    if rate.improved.whole:
        parts.append(f"quality rose after feedback in {_cases(rate.improved)}")
    if rate.mean_clarity is not None:
        parts.append(f"the feedback scored {rate.mean_clarity:.2f} for clarity (1 is the best)")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _cases(ratio: Ratio) -> str:
    numbers = f"{ratio.part} of {ratio.whole}"
    if ratio.whole < _ENOUGH:
        return numbers
    return f"{to_percent(ratio.part, ratio.whole)}% of cases ({numbers})"


def _not_broken(tags: Sequence[str]) -> str:
    if not tags:
        return ""
    more = f" and {len(tags) - _MAX_TAGS} more" if len(tags) > _MAX_TAGS else ""
    return f"Not broken for {QUIET_AFTER_WEEKS} weeks: {', '.join(map(code_span, tags[:_MAX_TAGS]))}{more}."


def _author_row(author: AuthorWeek) -> tuple[object, ...]:
    name = format_login(author.login) if author.login else format_people(author.people)
    tally = author.tally
    broken = ", ".join(f"{code_span(tag)} {count}" for tag, count in author.most_broken) or "–"
    trend = "too few" if author.trend is Trend.NO_DATA else author.trend.value
    return name, tally.total, tally.rejected, tally.first_pass, broken, trend


WEEKLY_MARKER = "WEEKLY-SUMMARY"


def render_description(
    summary: WeeklySummary, context: WeeklyContext, recommendations: Sequence[Recommendation]
) -> str:
    """Render the description of the issue."""
    parts = (
        _description_marker(summary),
        _heading(summary),
        f"{_result(summary)} {_first_review(summary)}",
        *_todo(recommendations),
        *render_gates(summary, context.gates),
        "### Twelve weeks",
        f"```mermaid\n{render_chart(summary.weeks)}\n```",
        "<details><summary>The same as a table</summary>",
        render_chart_table(summary.weeks),
        "</details>",
        *render_authors(summary.authors),
        *render_reviewers(summary),
        *render_advice(summary.advice),
        *render_lessons(context.lessons, summary.query.repository, context.web),
        _footer(summary),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def render_week_comment(
    summary: WeeklySummary, context: WeeklyContext, recommendations: Sequence[Recommendation]
) -> str:
    """Render the comment of a finished week, which gets mailed."""
    advice = f" Worth doing: {recommendations[0].short}." if recommendations else ""
    numbers = {
        "total_prs": summary.now.total,
        "rejected_prs": summary.now.rejected,
        "approval_rate": summary.now.approval_rate,
        "trend": summary.trend.value,
    }
    broken = _most_broken(summary, context.gates)
    return f"{_marker(summary, numbers)}\n\n{_comment_result(summary)}\n\n{broken}{advice}\n"


_WHOLE_WEEK = "The whole week"
_FOLD = f"<details><summary>{_WHOLE_WEEK}</summary>"


def link_whole_week(comment: str, issue_url: str) -> str:
    """Add the link to the description, which shows the comment's week until the next one."""
    return f"{comment.rstrip()} [{_WHOLE_WEEK}]({issue_url}).\n"


def fold_whole_week(comment: str, description: str) -> str:
    """Put the week's description into its comment, in place of the link: the issue will show another week."""
    if _FOLD in comment:
        return comment
    text = comment.rstrip().partition(f" [{_WHOLE_WEEK}](")[0]
    whole_week = description.partition("\n")[2].strip()  # without the marker
    return f"{text}\n\n{_FOLD}\n\n{whole_week}\n\n</details>\n"


def week_in_marker(body: str) -> str | None:
    """Return the week that a description or a comment is about; None without a marker of ours."""
    week = (parse_marker(WEEKLY_MARKER, body) or {}).get("week")
    return week if isinstance(week, str) else None


def _comment_result(summary: WeeklySummary) -> str:
    now, before = summary.now, summary.before
    none = "; none was reviewed the week before"
    change = f" ({format_points_change(now, before)} the week before)" if before.total else none
    counts = f"{format_count(now.total, 'pull request')} reviewed, {now.rejected} rejected"
    accepted = f"{to_percent(now.accepted, now.total)}% accepted"
    return f"**Week {summary.query.week.number}**: {counts}, {accepted}{change}."


def _most_broken(summary: WeeklySummary, gates: Gates) -> str:
    if not summary.gates:
        return "No gate was broken."
    names = (f"{gate_display_name(gate.tag, gates)} ({gate.broken})" for gate in summary.gates[:_MOST_BROKEN])
    return f"Most broken: {', '.join(names)}."


def _marker(summary: WeeklySummary, data: Mapping[str, object]) -> str:
    """Render a marker: what those of the description and of the comment have in common, then the data."""
    common = {"v": 1, "repository": summary.query.repository.full_name, "week": str(summary.query.week)}
    return render_marker(WEEKLY_MARKER, {**common, **data})


def _description_marker(summary: WeeklySummary) -> str:
    now, before = summary.now, summary.before
    data = {
        "from": summary.query.week.monday.isoformat(),
        "to": _last_day(summary).isoformat(),
        "total_prs": now.total,
        "rejected_prs": now.rejected,
        "approval_rate": now.approval_rate,
        "first_pass_prs": now.first_pass,
        "trend": summary.trend.value,
        "previous": {
            "total_prs": before.total,
            "rejected_prs": before.rejected,
            "approval_rate": before.approval_rate,
        },
        "issue_breakdown": {gate.tag: gate.broken for gate in summary.gates[:MAX_TABLE_ROWS]},
    }
    return _marker(summary, data)


def _heading(summary: WeeklySummary) -> str:
    so_far = " so far" if summary.query.as_of else ""
    days = format_long_range(summary.query.week.monday, _last_day(summary))
    return f"## Week {summary.query.week.number}{so_far} · {days}"


def _last_day(summary: WeeklySummary) -> date:
    return summary.query.window.last.astimezone(summary.query.zone).date()


def _result(summary: WeeklySummary) -> str:
    now, before = summary.now, summary.before
    reviewed = format_count(now.total, "pull request")
    result = f"**{reviewed} reviewed: {now.accepted} accepted, {now.rejected} rejected.**"
    accepted = f"{to_percent(now.accepted, now.total)}% accepted"
    if not before.total:
        return f"{result} {accepted}; none was reviewed the week before."
    then = f"the week before ({to_percent(before.accepted, before.total)}% of {before.total})"
    return f"{result} {accepted}, {format_points_change(now, before)} {then}."


def _first_review(summary: WeeklySummary) -> str:
    text = format_first_pass(summary.now)
    later = summary.later_iterations
    if not later:
        return f"{text}."
    other = "other " if summary.now.first_pass else ""
    ones = "accepted one" if len(later) == 1 else f"{len(later)} accepted ones"
    if max(later) == 1:  # the reviewer changed their mind about the same revision
        return f"{text}; the {other}{ones} needed no new revision."
    mean = f"{sum(later) / len(later):.1f}".removesuffix(".0")
    on_average = "" if len(later) == 1 else " on average"
    return f"{text}; the {other}{ones} took {mean} iterations{on_average}."


def _todo(recommendations: Sequence[Recommendation]) -> tuple[str, ...]:
    if not recommendations:
        return ()
    lines = (f"{number}. {one.line}" for number, one in enumerate(recommendations, 1))
    return ("### Worth doing", "\n".join(lines))


def _footer(summary: WeeklySummary) -> str:
    merged = (
        f"; {summary.merged_unreviewed} merged without one counted as accepted"
        if summary.merged_unreviewed
        else ""
    )
    named = {
        AuthorNaming.AGENTS: "People are counted, not named; agents are named",
        AuthorNaming.ALL: "All authors are named",
        AuthorNaming.NONE: "Authors are not shown",
    }[summary.query.naming]
    return (
        f"<sub>Reviewed: at least one validator gave a verdict{merged}. {named} (`weekly.authors`). "
        "Close this issue to stop the summary, reopen it to resume. "
        "One author: `/feedback-history @login` on a pull request.</sub>"
    )
