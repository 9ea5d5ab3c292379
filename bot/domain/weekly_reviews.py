"""How the weekly issue tells what became of the reviewers' claims, and how much feedback was vague."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.choices import Named
from bot.domain.escape import table_cell
from bot.domain.links import person
from bot.domain.model import Validator
from bot.domain.phrasing import counted, percent
from bot.domain.reviewing import Reviewing, together
from bot.domain.summary import Summary

ROWS = 20
"""Of the table; the rest is counted."""

_ENOUGH = 5  # cases from which a percentage says more than the two numbers
_HEAD = (
    "| Validator | Claims | Grounded | Ungrounded | Confirmed when looked up | False | Vague items |\n"
    "|---|--:|--:|--:|--:|--:|--:|"
)


def review_section(week: Summary) -> tuple[str, ...]:
    """The figures in one line, each validator's below it; nothing where there is nothing to tell."""
    everybody = together(week.reviews, Validator("", ""))
    if not everybody.claims.claims and not everybody.vague.part:
        return ()
    figures = f"Reviews: {'; '.join(_figures(everybody))}"
    rows = _rows(week)
    if not rows:
        return (f"{figures}.",)
    table = "\n".join((_HEAD, *rows[:ROWS]))
    left = len(rows) - ROWS
    more = f"\n\nAnd {counted(left, 'more validator')}." if left > 0 else ""
    return (f"<details><summary>{figures}</summary>\n\n{table}{more}\n\n</details>",)


def _figures(everybody: Reviewing) -> list[str]:
    claims, vague = everybody.claims, everybody.vague
    found = []
    if claims.claims:
        false = f", {claims.contradicted} contradicted" if claims.contradicted else ""
        found.append(f"{_told(claims.verified, claims.claims, 'claims confirmed')}{false}")
    if vague.part:
        found.append(_told(vague.part, vague.whole, "items too vague to act on"))
    return found


def _told(part: int, whole: int, what: str) -> str:
    share = f" ({percent(part, whole)}%)" if whole >= _ENOUGH else ""
    return f"{part} of {whole} {what}{share}"


def _rows(week: Summary) -> list[str]:
    """The named ones, then the people together, as the repository wants its authors shown."""
    if week.ask.named is Named.NONE:
        return []
    named = [one for one in week.reviews if _is_named(one, week)]
    people = [one for one in week.reviews if not _is_named(one, week)]
    rows = [_row(table_cell(person(one.validator.name)), one) for one in named]
    if people:
        rows.append(_row(_people(people), together(people, Validator("", ""))))
    return rows


def _is_named(one: Reviewing, week: Summary) -> bool:
    validator = one.validator
    is_agent = week.ask.agents.is_agent(validator.name, bot=validator.bot)
    return week.ask.named is Named.ALL or is_agent


def _people(people: Sequence[Reviewing]) -> str:
    return "1 person" if len(people) == 1 else f"{len(people)} people"


def _row(name: str, one: Reviewing) -> str:
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
    return f"{part} of {whole}" if whole < _ENOUGH else f"{percent(part, whole)}%"
