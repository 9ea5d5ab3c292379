"""The parts of a history that several of its sentences and tables say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.escape import code_span
from bot.domain.fixes import Fix
from bot.domain.gates import Gates
from bot.domain.history import History, Sighting
from bot.domain.links import Web
from bot.domain.model import Repository
from bot.domain.phrasing import out_of, period, short_day

ROWS = 10
"""Of a table; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where the reply stands."""

    repository: Repository
    gates: Gates
    web: Web
    is_default: bool = True
    """The command alone shows this author in this thread; else its examples carry the login."""
    is_terminal: bool = False
    """It is read where slash commands mean nothing."""


def span(history: History) -> str:
    """`30 days`."""
    return period(history.patterns.period_hours)


def day(moment: datetime, history: History) -> str:
    """`12 Nov`, by the repository's clock."""
    zone = history.ask.zone
    return short_day(moment.astimezone(zone).date(), history.ask.now.astimezone(zone).date())


def seen(sighting: Sighting, setting: Setting) -> str:
    """The pull request and what it is now."""
    link = setting.web.other_pull(there(sighting.repository, setting), sighting.number)
    return f"{_in(sighting.repository)}{link}, {sighting.state.value}"


def fixed(fix: Fix | None, history: History, setting: Setting, none: str) -> str:
    """The commit that fixed it, and when."""
    if fix is None:
        return none
    link = setting.web.other_commit(there(fix.repository, setting), fix.head)
    return f"{_in(fix.repository)}{link} on {day(fix.at, history)}"


def there(name: str, setting: Setting) -> Repository:
    """The repository of this name; without one, the one that is asked."""
    if not name:
        return setting.repository
    owner, _, rest = name.partition("/")
    return replace(setting.repository, owner=owner, name=rest)


def _in(name: str) -> str:
    """Which repository a link leads to, where it is another."""
    return f"{code_span(name)} " if name else ""


def why(history: History, tag: str, gates: Gates) -> str:
    """What the gate cost, and whether a machine could mend it."""
    tally, alone = history.patterns.tally, history.only_blocker.get(tag, 0)
    gate = gates.get(tag)
    fixable = ", and it is auto-fixable" if gate and gate.auto_fixable else ""
    if alone:
        return f"the only blocking issue in {out_of(alone, tally.rejected, 'rejected pull request')}{fixable}"
    return f"broken in {out_of(history.patterns.issue_breakdown[tag], tally.total, 'pull request')}{fixable}"
