"""What `/feedback-history TAG` says about one gate."""

from __future__ import annotations

from bot.domain.escape import code_span, quiet
from bot.domain.history import History
from bot.domain.history_words import ROWS, Setting, day, fixed, seen, span, why
from bot.domain.patterns import UNKNOWN_FIX
from bot.domain.phrasing import counted, share


def about_gate(history: History, setting: Setting, tag: str) -> list[str]:
    """How often it was broken, what to do, and in which pull requests."""
    broken = history.patterns.issue_breakdown.get(tag, 0)
    if not broken:
        return [_never(history, setting, tag)]
    gate = setting.gates.get(tag)
    return [
        _how_often(history, setting, tag, broken),
        f"Fix: {quiet(gate.fix) if gate else UNKNOWN_FIX}",
        _table(history, setting, tag),
    ]


def _how_often(history: History, setting: Setting, tag: str, broken: int) -> str:
    said = f"Broken in {share(broken, history.patterns.tally.total)}"
    if history.before.total:
        before = sum(tag in row.tags for row in history.previous)
        said += f", in the {span(history)} before in {share(before, history.before.total)}"
    if history.only_blocker.get(tag):
        said += f". It was {why(history, tag, setting.gates)}"
    return f"{said}."


def _never(history: History, setting: Setting, tag: str) -> str:
    said = f"Broken in none of {counted(history.patterns.tally.total, 'pull request')} in this time."
    if tag in setting.gates:
        return said
    near = setting.gates.nearest(tag)
    return f"{said} No gate has this tag.{f' Did you mean {code_span(near)}?' if near else ''}"


def _table(history: History, setting: Setting, tag: str) -> str:
    sightings = history.sightings[tag]
    rows = (
        f"| {seen(one, setting)} | {day(one.at, history)} "
        f"| {fixed(history.fixed_in.get((tag, one.repository, one.number)), history, setting, none='–')} |"
        for one in sightings[:ROWS]
    )
    left = len(sightings) - ROWS
    more = f"\n\nAnd {counted(left, 'more pull request')}." if left > 0 else ""
    return "\n".join(("| Pull request | Last named | Fixed by |", "|---|---|---|", *rows)) + more
