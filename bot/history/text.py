"""Render the reply to `/feedback-history`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.gates.model import Gates, gate_display_name, gate_name_with_tag
from bot.history.outcomes import TagFix
from bot.history.patterns import UNKNOWN_FIX, AuthorHistory, TagOccurrence, Tally, Trend, format_points_change
from bot.history.rates import FollowRate, follow_rates
from bot.markdown.escape import code_span, escape_mentions, render_marker, table_cell
from bot.markdown.format import (
    first_sentence,
    format_count,
    format_out_of,
    format_period,
    format_period_argument,
    format_share,
    format_short_day,
    format_short_range,
    to_percent,
)
from bot.markdown.links import GitHubLinks, format_login
from bot.pull_request.model import GroupBy
from bot.values import Repository

MAX_HISTORY_ROWS = 10
"""Of a table; the rest is counted."""


@dataclass(frozen=True, slots=True)
class HistoryContext:
    """Where the reply stands."""

    repository: Repository
    gates: Gates
    web: GitHubLinks
    is_default: bool = True
    """The command alone shows this author in this thread; else its examples carry the login."""
    is_terminal: bool = False
    """It is read where slash commands mean nothing."""


def format_span(history: AuthorHistory) -> str:
    """`30 days`."""
    return format_period(history.patterns.period_hours)


def format_day(moment: datetime, history: AuthorHistory) -> str:
    """`12 Nov`, by the repository's clock."""
    zone = history.ask.zone
    return format_short_day(moment.astimezone(zone).date(), history.ask.now.astimezone(zone).date())


def format_occurrence(sighting: TagOccurrence, setting: HistoryContext) -> str:
    """The pull request and what it is now."""
    link = setting.web.other_pull(resolve_repository(sighting.repository, setting), sighting.number)
    return f"{_in(sighting.repository)}{link}, {sighting.state.value}"


def format_fix(fix: TagFix | None, history: AuthorHistory, setting: HistoryContext, none: str) -> str:
    """The commit that fixed it, and when."""
    if fix is None:
        return none
    link = setting.web.other_commit(resolve_repository(fix.repository, setting), fix.head)
    return f"{_in(fix.repository)}{link} on {format_day(fix.at, history)}"


def resolve_repository(name: str, setting: HistoryContext) -> Repository:
    """The repository of this name; without one, the one that is asked."""
    if not name:
        return setting.repository
    owner, _, rest = name.partition("/")
    return replace(setting.repository, owner=owner, name=rest)


def _in(name: str) -> str:
    """Which repository a link leads to, where it is another."""
    return f"{code_span(name)} " if name else ""


def explain_cost(history: AuthorHistory, tag: str, gates: Gates) -> str:
    """What the gate cost, and whether a machine could mend it."""
    tally, alone = history.patterns.tally, history.only_blocker.get(tag, 0)
    gate = gates.get(tag)
    fixable = ", and it is auto-fixable" if gate and gate.auto_fixable else ""
    if alone:
        share = format_out_of(alone, tally.rejected, "rejected pull request")
        return f"the only blocking issue in {share}{fixable}"
    share = format_out_of(history.patterns.issue_breakdown[tag], tally.total, "pull request")
    return f"broken in {share}{fixable}"


def render_gate_history(history: AuthorHistory, setting: HistoryContext, tag: str) -> list[str]:
    """How often it was broken, what to do, and in which pull requests."""
    broken = history.patterns.issue_breakdown.get(tag, 0)
    if not broken:
        return [_never(history, setting, tag)]
    gate = setting.gates.get(tag)
    return [
        _how_often(history, setting, tag, broken),
        f"Fix: {escape_mentions(gate.fix) if gate else UNKNOWN_FIX}",
        _table(history, setting, tag),
    ]


def _how_often(history: AuthorHistory, setting: HistoryContext, tag: str, broken: int) -> str:
    said = f"Broken in {format_share(broken, history.patterns.tally.total)}"
    if history.before.total:
        before = sum(tag in row.tags for row in history.previous)
        said += f", in the {format_span(history)} before in {format_share(before, history.before.total)}"
    if history.only_blocker.get(tag):
        said += f". It was {explain_cost(history, tag, setting.gates)}"
    return f"{said}."


def _never(history: AuthorHistory, setting: HistoryContext, tag: str) -> str:
    said = f"Broken in none of {format_count(history.patterns.tally.total, 'pull request')} in this time."
    if tag in setting.gates:
        return said
    near = setting.gates.nearest(tag)
    return f"{said} No gate has this tag.{f' Did you mean {code_span(near)}?' if near else ''}"


def _table(history: AuthorHistory, setting: HistoryContext, tag: str) -> str:
    sightings = history.sightings[tag]
    rows = []
    for one in sightings[:MAX_HISTORY_ROWS]:
        fixed = history.fixed_in.get((tag, one.repository, one.number))
        fix = format_fix(fixed, history, setting, none="–")
        rows.append(f"| {format_occurrence(one, setting)} | {format_day(one.at, history)} | {fix} |")
    left = len(sightings) - MAX_HISTORY_ROWS
    more = f"\n\nAnd {format_count(left, 'more pull request')}." if left > 0 else ""
    return "\n".join(("| Pull request | Last named | Fixed by |", "|---|---|---|", *rows)) + more


HISTORY_MARKER = "FEEDBACK-HISTORY"
"""The marker's word."""

_TAGS = 20  # in the marker and in a line "and more"


def render_history(history: AuthorHistory, setting: HistoryContext) -> str:
    """The whole reply: about all gates, or about the one that was asked for."""
    tag = history.ask.tag
    parts = render_gate_history(history, setting, tag) if tag else _about_all(history, setting)
    shown = [
        _marker(history),
        _heading(history, setting),
        *parts,
        _followed(history),
        _footer(history, setting),
    ]
    return "\n\n".join(part for part in shown if part) + "\n"


def _marker(history: AuthorHistory) -> str:
    known = history.patterns.as_json()
    keys = ("agent", "period_hours", "total_prs", "rejected_prs", "approval_rate", "first_pass_prs", "trend")
    breakdown = history.patterns.issue_breakdown
    data: dict[str, object] = {"v": 1, **{key: known[key] for key in keys}}
    if history.ask.tag:
        data["tag"] = history.ask.tag
    data["issue_breakdown"] = dict(tuple(breakdown.items())[:_TAGS])
    if len(breakdown) > _TAGS:
        data["more"] = len(breakdown) - _TAGS
    return render_marker(HISTORY_MARKER, data)


def _heading(history: AuthorHistory, setting: HistoryContext) -> str:
    tag = history.ask.tag
    gate = f", gate {gate_name_with_tag(tag, setting.gates)}" if tag else ""
    who, span = format_login(history.ask.login), format_span(history)
    return f"**Feedback history** — {who}, {_where(history)}, last {span}{gate}"


def _where(history: AuthorHistory) -> str:
    others = len({row.repository for row in history.rows} - {""})
    if not others:
        return "this repository"
    share = "shares its" if others == 1 else "share their"
    return f"this repository and {format_count(others, 'other')} that {share} history"


def _about_all(history: AuthorHistory, setting: HistoryContext) -> list[str]:
    if not history.rows:
        return [_nothing(history)]
    return [
        f"{_tally(history)} {_first_pass(history.patterns.tally)}",
        _start(history, setting.gates),
        _gates_table(history, setting),
        _weeks(history),
    ]


def _nothing(history: AuthorHistory) -> str:
    before = history.before
    then = f" In the {format_span(history)} before: {_counts(before)}." if before.total else ""
    return f"No pull request was judged or merged in this time.{then}"


def _tally(history: AuthorHistory) -> str:
    now, before = history.patterns.tally, history.before
    accepted = f"{_counts(now)}. That is {to_percent(now.accepted, now.total)}% accepted"
    if not before.total:
        return f"{accepted}; in the {format_span(history)} before there were none."
    then = f"({to_percent(before.accepted, before.total)}% of {before.total})"
    trend = history.patterns.trend
    word = "too few for a trend" if trend is Trend.NO_DATA else f"**{trend.value}**"
    change = format_points_change(now, before)
    return f"{accepted}, {change} in the {format_span(history)} before {then}: {word}."


def _counts(tally: Tally) -> str:
    return (
        f"{format_count(tally.total, 'pull request')}: {tally.accepted} accepted, {tally.rejected} rejected"
    )


def _first_pass(tally: Tally) -> str:
    number = {0: "None was", 1: "1 was"}.get(tally.first_pass, f"{tally.first_pass} were")
    return f"{number} accepted at the first review."


def _start(history: AuthorHistory, gates: Gates) -> str:
    """Where work pays most: the tag that alone blocks most often, else the one that is broken most often."""
    breakdown, alone = history.patterns.issue_breakdown, history.only_blocker
    if not breakdown:
        return ""
    tag = max(breakdown, key=lambda tag: (alone.get(tag, 0), _blocks(tag, gates), breakdown[tag]))
    return f"**Start with {gate_display_name(tag, gates)}**: it was {explain_cost(history, tag, gates)}."


def _blocks(tag: str, gates: Gates) -> bool:
    gate = gates.get(tag)
    return gate is not None and gate.is_blocking


def _gates_table(history: AuthorHistory, setting: HistoryContext) -> str:
    tags = tuple(history.patterns.issue_breakdown)
    if not tags:
        return ""
    head = "| Gate | Broken in | Last seen | Last fixed by | Fix |\n|---|--:|---|---|---|"
    rows = (_row(tag, history, setting) for tag in tags[:MAX_HISTORY_ROWS])
    return "\n".join((head, *rows)) + _more(tags[MAX_HISTORY_ROWS:])


def _row(tag: str, history: AuthorHistory, setting: HistoryContext) -> str:
    gate = setting.gates.get(tag)
    broken = history.patterns.issue_breakdown[tag]
    cells = (
        gate_name_with_tag(tag, setting.gates),
        format_share(broken, history.patterns.tally.total),
        format_occurrence(history.sightings[tag][0], setting),
        format_fix(history.fixes.get(tag), history, setting, none="never"),
        first_sentence(gate.fix) if gate else UNKNOWN_FIX,
    )
    return f"| {' | '.join(map(table_cell, cells))} |"


def _more(tags: tuple[str, ...]) -> str:
    if not tags:
        return ""
    beyond = f" and {len(tags) - _TAGS} others" if len(tags) > _TAGS else ""
    return (
        f"\n\nAnd {format_count(len(tags), 'more gate')}: {', '.join(map(code_span, tags[:_TAGS]))}{beyond}"
    )


def _weeks(history: AuthorHistory) -> str:
    if len(history.weeks) < 2:
        return ""
    told = (
        f"{format_short_range(monday.date(), monday.date() + timedelta(days=6))} "
        f"**{week.rejected}/{week.total}**"
        for week in history.weeks
        for monday in (week.monday.astimezone(history.ask.zone),)
    )
    return f"Rejected of judged, by week: {' · '.join(told)}"


def _followed(history: AuthorHistory) -> str:
    """What came of the feedback; nothing where no next iteration could tell."""
    groups = follow_rates(history.observed, GroupBy.PLACE)
    if not groups:
        return ""
    followed, items = sum(one.followed for one in groups), sum(one.items for one in groups)
    by_place = ", ".join(map(_group, sorted(groups, key=lambda one: one.key)))
    said = f"Of {format_count(items, 'item')} of feedback, {followed} {_was(followed)} followed: {by_place}."
    measured, improved = sum(one.measured for one in groups), sum(one.improved for one in groups)
    rose = f" Quality rose after {improved} of the {measured} whose next score is known."
    return f"{said}{rose}" if measured else said


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _group(rate: FollowRate) -> str:
    return f"{rate.followed} of {rate.items} {rate.key}"


def _footer(history: AuthorHistory, setting: HistoryContext) -> str:
    if setting.is_terminal:
        return _terminal_footer(history, setting)
    whose = "" if setting.is_default else f" @{history.ask.login}"
    command = f"/feedback-history{whose}"
    tag = history.ask.tag or next(iter(history.patterns.issue_breakdown), None)
    now = history.patterns.period_hours
    other = _other_period(history)
    parts = [f"Other period: {code_span(f'{command} {format_period_argument(other)}')}"] if other else []
    if history.ask.tag:
        parts.append(f"all gates: {code_span(f'{command} {format_period_argument(now)}')}")
    elif tag:
        parts.append(f"one gate: {code_span(f'{command} {tag}')}")
    if tag:
        parts.append(f"all of a gate: {code_span(f'/feedback-explain {tag}')}")
    parts.append("what is stored about you: `/feedback-export`, `/feedback-forget`")
    line = " · ".join(parts)
    return f"<sub>{line[0].upper()}{line[1:]}</sub>"


def _terminal_footer(history: AuthorHistory, setting: HistoryContext) -> str:
    other = _other_period(history)
    if other is None:
        return ""
    whose = f"{setting.repository.full_name} {shlex.quote(history.ask.login)}"
    return f"Other period: whetstone history {whose} --hours {other}"


def _other_period(history: AuthorHistory) -> int | None:
    """The next longer one, else a shorter; none where nothing was found, since a shorter finds no more."""
    shown = history.patterns.period_hours
    others = sorted(24 * days for days in history.ask.periods if 24 * days != shown)
    longer = [hours for hours in others if hours > shown]
    if longer:
        return longer[0]
    return (others or [24 * 30])[-1] if history.rows else None
