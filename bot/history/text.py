"""Render the reply to `/feedback-history`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from datetime import datetime

from bot.gates.model import Gates, gate_display_name, gate_name_with_tag
from bot.history.outcomes import TagFix
from bot.history.patterns import (
    UNKNOWN_FIX,
    AuthorHistory,
    TagOccurrence,
    Tally,
    Trend,
    UntaggedShare,
    count_untagged,
    count_weeks,
    format_points_change,
)
from bot.history.rates import overall_follow_rate
from bot.markdown.escape import code_span, escape_mentions, render_marker
from bot.markdown.format import (
    first_sentence,
    format_count,
    format_out_of,
    format_period,
    format_period_argument,
    format_share,
    format_short_day,
    format_short_range,
    format_table,
    to_percent,
)
from bot.markdown.links import GitHubLinks, format_login
from bot.values import Repository

MAX_HISTORY_ROWS = 10
"""Of a table; the rest is counted."""


@dataclass(frozen=True, slots=True)
class HistoryContext:
    """Where the history is shown."""

    repository: Repository
    gates: Gates
    web: GitHubLinks
    is_default: bool = True
    """The command without a login shows this author; otherwise its examples name the login."""
    is_terminal: bool = False
    """It is shown in a terminal, where there are no slash commands."""


def format_span(history: AuthorHistory) -> str:
    """Format the period: `30 days`."""
    return format_period(history.patterns.period_hours)


def format_day(moment: datetime, history: AuthorHistory) -> str:
    """Format a day in the repository's time zone: `12 Nov`."""
    zone = history.query.zone
    return format_short_day(moment.astimezone(zone).date(), history.query.now.astimezone(zone).date())


def format_occurrence(occurrence: TagOccurrence, context: HistoryContext) -> str:
    """Format the pull request with its state."""
    outcome = occurrence.outcome
    link = context.web.other_pull(resolve_repository(outcome.repository, context), outcome.number)
    return f"{_repository_prefix(outcome.repository)}{link}, {outcome.state.value}"


def format_fix(fix: TagFix | None, history: AuthorHistory, context: HistoryContext, none: str) -> str:
    """Format the commit that fixed a tag, and when."""
    if fix is None:
        return none
    link = context.web.other_commit(resolve_repository(fix.repository, context), fix.head)
    return f"{_repository_prefix(fix.repository)}{link} on {format_day(fix.at, history)}"


def resolve_repository(name: str, context: HistoryContext) -> Repository:
    """Return the repository of this name; without a name, the context's own."""
    if not name:
        return context.repository
    owner, _, rest = name.partition("/")
    return replace(context.repository, owner=owner, name=rest)


def _repository_prefix(name: str) -> str:
    """Name the repository of a link, if it is another one."""
    return f"{code_span(name)} " if name else ""


def explain_cost(history: AuthorHistory, tag: str, gates: Gates) -> str:
    """Say what a gate cost, and whether it is auto-fixable."""
    tally, alone = history.patterns.tally, history.only_blocker.get(tag, 0)
    gate = gates.get(tag)
    fixable = ", and it is auto-fixable" if gate and gate.auto_fixable else ""
    if alone:
        share = format_out_of(alone, tally.rejected, "rejected pull request")
        return f"the only blocking issue in {share}{fixable}"
    share = format_out_of(history.patterns.issue_breakdown[tag], tally.total, "pull request")
    return f"broken in {share}{fixable}"


def render_gate_history(history: AuthorHistory, context: HistoryContext, tag: str) -> list[str]:
    """Render how often one gate was broken, its fix, and in which pull requests."""
    broken = history.patterns.issue_breakdown.get(tag, 0)
    if not broken:
        return [_never(history, context, tag)]
    gate = context.gates.get(tag)
    return [
        _how_often(history, context, tag, broken),
        f"Fix: {escape_mentions(gate.fix) if gate else UNKNOWN_FIX}",
        _table(history, context, tag),
    ]


def _how_often(history: AuthorHistory, context: HistoryContext, tag: str, broken: int) -> str:
    text = f"Broken in {format_share(broken, history.patterns.tally.total)}"
    if history.before.total:
        before = sum(tag in row.tags for row in history.previous)
        text += f", in the {format_span(history)} before in {format_share(before, history.before.total)}"
    if history.only_blocker.get(tag):
        text += f". It was {explain_cost(history, tag, context.gates)}"
    return f"{text}."


def _never(history: AuthorHistory, context: HistoryContext, tag: str) -> str:
    text = f"Broken in none of {format_count(history.patterns.tally.total, 'pull request')} in this period."
    if tag in context.gates:
        return text
    nearest = context.gates.nearest(tag)
    return f"{text} No gate has this tag.{f' Did you mean {code_span(nearest)}?' if nearest else ''}"


def _table(history: AuthorHistory, context: HistoryContext, tag: str) -> str:
    def row(occurrence: TagOccurrence) -> tuple[str, ...]:
        outcome = occurrence.outcome
        commit = history.fixed_in.get((tag, *outcome.key))
        return (
            format_occurrence(occurrence, context),
            format_day(occurrence.at, history),
            format_fix(commit, history, context, none="–"),
        )

    head = "| Pull request | Last named | Fixed by |\n|---|---|---|"
    return format_table(head, history.occurrences[tag], row, "pull request", MAX_HISTORY_ROWS)


HISTORY_MARKER = "FEEDBACK-HISTORY"

_MAX_TAGS = 20  # in the marker and in a line "and more"


def render_history(history: AuthorHistory, context: HistoryContext) -> str:
    """Render the whole reply: about all gates, or about the one that was asked for."""
    tag = history.query.tag
    parts = render_gate_history(history, context, tag) if tag else _render_all_gates(history, context)
    sections = [
        _marker(history),
        _heading(history, context),
        *parts,
        _followed(history),
        _footer(history, context),
    ]
    return "\n\n".join(part for part in sections if part) + "\n"


def _marker(history: AuthorHistory) -> str:
    patterns = history.patterns.as_json()
    keys = ("agent", "period_hours", "total_prs", "rejected_prs", "approval_rate", "first_pass_prs", "trend")
    breakdown = history.patterns.issue_breakdown
    data: dict[str, object] = {"v": 1, **{key: patterns[key] for key in keys}}
    if history.query.tag:
        data["tag"] = history.query.tag
    data["issue_breakdown"] = dict(tuple(breakdown.items())[:_MAX_TAGS])
    if len(breakdown) > _MAX_TAGS:
        data["more"] = len(breakdown) - _MAX_TAGS
    return render_marker(HISTORY_MARKER, data)


def _heading(history: AuthorHistory, context: HistoryContext) -> str:
    tag = history.query.tag
    gate = f", gate {gate_name_with_tag(tag, context.gates)}" if tag else ""
    who, span = format_login(history.query.login), format_span(history)
    return f"**Feedback history** — {who}, {_where(history)}, last {span}{gate}"


def _where(history: AuthorHistory) -> str:
    others = len({row.repository for row in history.rows} - {""})
    if not others:
        return "this repository"
    share = "shares its" if others == 1 else "share their"
    return f"this repository and {format_count(others, 'other')} that {share} history"


def _render_all_gates(history: AuthorHistory, context: HistoryContext) -> list[str]:
    if not history.rows:
        before = history.before
        then = f" In the {format_span(history)} before: {_counts(before)}." if before.total else ""
        return [f"No pull request was reviewed or merged in this period.{then}"]
    return [
        f"{_tally(history)} {format_first_pass(history.patterns.tally)}.",
        _start(history, context.gates),
        _gates_table(history, context),
        format_untagged(count_untagged(history.rows), context.gates),
        _weeks(history),
    ]


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


def format_first_pass(tally: Tally) -> str:
    """Format how many were accepted at once, without a full stop."""
    number = {0: "None was", 1: "1 was"}.get(tally.first_pass, f"{tally.first_pass} were")
    return f"{number} accepted at the first review"


def _start(history: AuthorHistory, gates: Gates) -> str:
    """Name where to start: the tag that alone blocks most often, or the one that is broken most often."""
    breakdown, alone = history.patterns.issue_breakdown, history.only_blocker
    if not breakdown:
        return ""
    blocking = {gate.tag for gate in gates if gate.is_blocking}
    tag = max(breakdown, key=lambda tag: (alone.get(tag, 0), tag in blocking, breakdown[tag]))
    return f"**Start with {gate_display_name(tag, gates)}**: it was {explain_cost(history, tag, gates)}."


def _gates_table(history: AuthorHistory, context: HistoryContext) -> str:
    tags = tuple(history.patterns.issue_breakdown)
    if not tags:
        return ""
    head = "| Gate | Broken in | Last seen | Last fixed by | Fix |\n|---|--:|---|---|---|"
    table = format_table(head, tags[:MAX_HISTORY_ROWS], lambda tag: _row(tag, history, context))
    return table + _more(tags[MAX_HISTORY_ROWS:])


def _row(tag: str, history: AuthorHistory, context: HistoryContext) -> tuple[str, ...]:
    gate = context.gates.get(tag)
    broken = history.patterns.issue_breakdown[tag]
    return (
        gate_name_with_tag(tag, context.gates),
        format_share(broken, history.patterns.tally.total),
        format_occurrence(history.occurrences[tag][0], context),
        format_fix(history.fixes.get(tag), history, context, none="never"),
        first_sentence(gate.fix) if gate else UNKNOWN_FIX,
    )


def _more(tags: tuple[str, ...]) -> str:
    if not tags:
        return ""
    beyond = f" and {len(tags) - _MAX_TAGS} others" if len(tags) > _MAX_TAGS else ""
    names = ", ".join(map(code_span, tags[:_MAX_TAGS]))
    return f"\n\nAnd {format_count(len(tags), 'more gate')}: {names}{beyond}"


def _weeks(history: AuthorHistory) -> str:
    weeks = [
        f"{format_short_range(week.monday, week.sunday)} **{tally.rejected}/{tally.total}**"
        for week, tally in count_weeks(history.rows, history.query.zone)
    ]
    if len(weeks) < 2:
        return ""
    return f"Rejected / reviewed, per week: {' · '.join(weeks)}"


def format_untagged(untagged: UntaggedShare, gates: Gates) -> str:
    """Say how many findings had no tag, and which gates they look like; nothing if all had one."""
    count = untagged.count
    if not count.part:
        return ""
    names = dict.fromkeys(gate_display_name(tag, gates) for tag in untagged.looks_like)
    likely = f"; most look like {', '.join(names)}" if names else ""
    return f"{count.part} of {format_count(count.whole, 'finding')} had no tag{likely}."


def _followed(history: AuthorHistory) -> str:
    """Say how many findings were fixed; nothing until a next iteration shows it."""
    rate, followed = overall_follow_rate(history.observed), history.followed
    if rate is None:
        return ""
    shares = ((followed.with_location, "with a location"), (followed.without_location, "without one"))
    fixed = ", ".join(f"{ratio.part} of {ratio.whole} {where}" for ratio, where in shares if ratio.whole)
    closed = ((followed.withdrawn, "withdrawn"), (followed.dismissed, "dismissed"))
    uncounted = ", ".join(f"{count} {status}" for count, status in closed if count)
    rose = f"{rate.improved.part} of the {rate.improved.whole} with a later score"
    sentences = (
        f"Findings fixed: {fixed}." if fixed else "",
        f"Not counted: {uncounted}." if uncounted else "",
        f"Quality rose after {rose}." if rate.improved.whole else "",
    )
    return " ".join(filter(None, sentences))


def _footer(history: AuthorHistory, context: HistoryContext) -> str:
    other = _other_period(history)
    if context.is_terminal:
        person = f"{context.repository.full_name} {shlex.quote(history.query.login)}"
        return f"Other period: whetstone history {person} --hours {other}" if other else ""
    whose = "" if context.is_default else f" @{history.query.login}"
    command = f"/feedback-history{whose}"
    tag = history.query.tag or next(iter(history.patterns.issue_breakdown), None)
    now = history.patterns.period_hours
    parts = [f"Other periods: {code_span(f'{command} {format_period_argument(other)}')}"] if other else []
    if history.query.tag:
        parts.append(f"all gates: {code_span(f'{command} {format_period_argument(now)}')}")
    elif tag:
        parts.append(f"one gate: {code_span(f'{command} {tag}')}")
    if tag:
        parts.append(f"about a gate: {code_span(f'/feedback-explain {tag}')}")
    parts.append("your data: `/feedback-export`, `/feedback-forget`")
    line = " · ".join(parts)
    return f"<sub>{line[0].upper()}{line[1:]}</sub>"


def _other_period(history: AuthorHistory) -> int | None:
    """Return the next longer period, or a shorter one; none if nothing was found in this one."""
    shown = history.patterns.period_hours
    others = sorted(24 * days for days in history.query.periods if 24 * days != shown)
    longer = [hours for hours in others if hours > shown]
    if longer:
        return longer[0]
    return (others or [24 * 30])[-1] if history.rows else None
