"""How the authors of a week fared: agents by name, people as a number, or as the repository wants it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.domain.choices import Named
from bot.domain.judged import Judged
from bot.domain.patterns import Tally, Trend, by_author, tally, trend
from bot.domain.rules import Authors


@dataclass(frozen=True, slots=True)
class AuthorWeek:
    """One author, or several people who are only counted."""

    login: str | None
    people: int
    tally: Tally
    trend: Trend


def author_weeks(
    rows: Sequence[Judged], previous: Sequence[Judged], named: Named, agents: Authors
) -> tuple[AuthorWeek, ...]:
    """The named ones by their number of pull requests, then the people together."""
    if named is Named.NONE:
        return ()
    shown = {
        author: mine
        for author, mine in by_author(rows).items()
        if named is Named.ALL or _is_agent(mine[0], agents)
    }
    then = by_author(previous)
    lines = [_line(mine[0].author.login, 1, mine, then.get(author, ())) for author, mine in shown.items()]
    people = [row for row in rows if row.author.id not in shown]
    if people:
        before = [row for row in previous if not _is_agent(row, agents)]
        lines.append(_line(None, len({row.author.id for row in people}), people, before))
    return tuple(sorted(lines, key=_order))


def _is_agent(row: Judged, agents: Authors) -> bool:
    return agents.is_agent(row.author.login, bot=row.author.bot)


def _line(login: str | None, people: int, rows: Iterable[Judged], before: Iterable[Judged]) -> AuthorWeek:
    now, then = tally(rows), tally(before)
    return AuthorWeek(login, people, now, trend(now, then))


def _order(line: AuthorWeek) -> tuple[bool, int, str]:
    return line.login is None, -line.tally.total, line.login or ""
