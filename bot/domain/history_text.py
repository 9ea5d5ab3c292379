"""The reply to `/feedback-history`, word for word."""

from __future__ import annotations

import shlex
from datetime import timedelta

from bot.domain.escape import code_span, marker, table_cell
from bot.domain.follow_rates import Rate, rates
from bot.domain.gates import Gates
from bot.domain.history import History
from bot.domain.history_gate import about_gate
from bot.domain.history_words import ROWS, Setting, fixed, seen, span, why
from bot.domain.links import person
from bot.domain.patterns import UNKNOWN_FIX, Tally, Trend
from bot.domain.phrasing import (
    counted,
    first_sentence,
    gate_name,
    gate_with_tag,
    percent,
    period_word,
    points_against,
    share,
    short_days,
)
from bot.domain.tracked import By

WORD = "FEEDBACK-HISTORY"
"""The marker's word."""

_TAGS = 20  # in the marker and in a line "and more"


def history_text(history: History, setting: Setting) -> str:
    """The whole reply: about all gates, or about the one that was asked for."""
    tag = history.ask.tag
    parts = about_gate(history, setting, tag) if tag else _about_all(history, setting)
    shown = [
        _marker(history),
        _heading(history, setting),
        *parts,
        _followed(history),
        _footer(history, setting),
    ]
    return "\n\n".join(part for part in shown if part) + "\n"


def _marker(history: History) -> str:
    known = history.patterns.as_json()
    keys = ("agent", "period_hours", "total_prs", "rejected_prs", "approval_rate", "first_pass_prs", "trend")
    breakdown = history.patterns.issue_breakdown
    data: dict[str, object] = {"v": 1, **{key: known[key] for key in keys}}
    if history.ask.tag:
        data["tag"] = history.ask.tag
    data["issue_breakdown"] = dict(tuple(breakdown.items())[:_TAGS])
    if len(breakdown) > _TAGS:
        data["more"] = len(breakdown) - _TAGS
    return marker(WORD, data)


def _heading(history: History, setting: Setting) -> str:
    tag = history.ask.tag
    gate = f", gate {gate_with_tag(tag, setting.gates)}" if tag else ""
    return (
        f"**Feedback history** — {person(history.ask.login)}, {_where(history)}, last {span(history)}{gate}"
    )


def _where(history: History) -> str:
    others = len({row.repository for row in history.rows} - {""})
    if not others:
        return "this repository"
    share = "shares its" if others == 1 else "share their"
    return f"this repository and {counted(others, 'other')} that {share} history"


def _about_all(history: History, setting: Setting) -> list[str]:
    if not history.rows:
        return [_nothing(history)]
    return [
        f"{_tally(history)} {_first_pass(history.patterns.tally)}",
        _start(history, setting.gates),
        _table(history, setting),
        _weeks(history),
    ]


def _nothing(history: History) -> str:
    before = history.before
    then = f" In the {span(history)} before: {_counts(before)}." if before.total else ""
    return f"No pull request was judged or merged in this time.{then}"


def _tally(history: History) -> str:
    now, before = history.patterns.tally, history.before
    accepted = f"{_counts(now)}. That is {percent(now.accepted, now.total)}% accepted"
    if not before.total:
        return f"{accepted}; in the {span(history)} before there were none."
    then = f"({percent(before.accepted, before.total)}% of {before.total})"
    trend = history.patterns.trend
    word = "too few for a trend" if trend is Trend.NO_DATA else f"**{trend.value}**"
    return f"{accepted}, {points_against(now, before)} in the {span(history)} before {then}: {word}."


def _counts(tally: Tally) -> str:
    return f"{counted(tally.total, 'pull request')}: {tally.accepted} accepted, {tally.rejected} rejected"


def _first_pass(tally: Tally) -> str:
    number = {0: "None was", 1: "1 was"}.get(tally.first_pass, f"{tally.first_pass} were")
    return f"{number} accepted at the first review."


def _start(history: History, gates: Gates) -> str:
    """Where work pays most: the tag that alone blocks most often, else the one that is broken most often."""
    breakdown, alone = history.patterns.issue_breakdown, history.only_blocker
    if not breakdown:
        return ""
    tag = max(breakdown, key=lambda tag: (alone.get(tag, 0), _blocks(tag, gates), breakdown[tag]))
    return f"**Start with {gate_name(tag, gates)}**: it was {why(history, tag, gates)}."


def _blocks(tag: str, gates: Gates) -> bool:
    gate = gates.get(tag)
    return gate is not None and gate.is_blocking


def _table(history: History, setting: Setting) -> str:
    tags = tuple(history.patterns.issue_breakdown)
    if not tags:
        return ""
    head = "| Gate | Broken in | Last seen | Last fixed by | Fix |\n|---|--:|---|---|---|"
    rows = (_row(tag, history, setting) for tag in tags[:ROWS])
    return "\n".join((head, *rows)) + _more(tags[ROWS:])


def _row(tag: str, history: History, setting: Setting) -> str:
    gate = setting.gates.get(tag)
    broken = history.patterns.issue_breakdown[tag]
    cells = (
        gate_with_tag(tag, setting.gates),
        share(broken, history.patterns.tally.total),
        seen(history.sightings[tag][0], setting),
        fixed(history.fixes.get(tag), history, setting, none="never"),
        first_sentence(gate.fix) if gate else UNKNOWN_FIX,
    )
    return f"| {' | '.join(map(table_cell, cells))} |"


def _more(tags: tuple[str, ...]) -> str:
    if not tags:
        return ""
    beyond = f" and {len(tags) - _TAGS} others" if len(tags) > _TAGS else ""
    return f"\n\nAnd {counted(len(tags), 'more gate')}: {', '.join(map(code_span, tags[:_TAGS]))}{beyond}"


def _weeks(history: History) -> str:
    if len(history.weeks) < 2:
        return ""
    told = (
        f"{short_days(monday.date(), monday.date() + timedelta(days=6))} **{week.rejected}/{week.total}**"
        for week in history.weeks
        for monday in (week.monday.astimezone(history.ask.zone),)
    )
    return f"Rejected of judged, by week: {' · '.join(told)}"


def _followed(history: History) -> str:
    """What came of the feedback; nothing where no next iteration could tell."""
    groups = rates(history.observed, By.PLACE)
    if not groups:
        return ""
    followed, items = sum(one.followed for one in groups), sum(one.items for one in groups)
    by_place = ", ".join(map(_group, sorted(groups, key=lambda one: one.key)))
    said = f"Of {counted(items, 'item')} of feedback, {followed} {_was(followed)} followed: {by_place}."
    measured, improved = sum(one.measured for one in groups), sum(one.improved for one in groups)
    rose = f" Quality rose after {improved} of the {measured} whose next score is known."
    return f"{said}{rose}" if measured else said


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _group(rate: Rate) -> str:
    return f"{rate.followed} of {rate.items} {rate.key}"


def _footer(history: History, setting: Setting) -> str:
    if setting.is_terminal:
        return _terminal_footer(history, setting)
    whose = "" if setting.is_default else f" @{history.ask.login}"
    command = f"/feedback-history{whose}"
    tag = history.ask.tag or next(iter(history.patterns.issue_breakdown), None)
    now = history.patterns.period_hours
    other = _other_period(history)
    parts = [f"Other period: {code_span(f'{command} {period_word(other)}')}"] if other else []
    if history.ask.tag:
        parts.append(f"all gates: {code_span(f'{command} {period_word(now)}')}")
    elif tag:
        parts.append(f"one gate: {code_span(f'{command} {tag}')}")
    if tag:
        parts.append(f"all of a gate: {code_span(f'/feedback-explain {tag}')}")
    parts.append("what is stored about you: `/feedback-export`, `/feedback-forget`")
    line = " · ".join(parts)
    return f"<sub>{line[0].upper()}{line[1:]}</sub>"


def _terminal_footer(history: History, setting: Setting) -> str:
    other = _other_period(history)
    if other is None:
        return ""
    whose = f"{setting.repository.full_name} {shlex.quote(history.ask.login)}"
    return f"Other period: whetstone history {whose} --hours {other}"


def _other_period(history: History) -> int | None:
    """The next longer one, else a shorter; none where nothing was found, since a shorter finds no more."""
    shown = history.patterns.period_hours
    others = sorted(24 * days for days in history.ask.periods if 24 * days != shown)
    longer = [hours for hours in others if hours > shown]
    if longer:
        return longer[0]
    return (others or [24 * 30])[-1] if history.rows else None
