"""The parts of a history that several of its sentences and tables say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

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
    return f"{setting.web.other_pull(setting.repository, sighting.number)}, {sighting.state.value}"


def fixed(fix: Fix | None, history: History, setting: Setting, none: str) -> str:
    """The commit that fixed it, and when."""
    if fix is None:
        return none
    return f"{setting.web.other_commit(setting.repository, fix.head)} on {day(fix.at, history)}"


def why(history: History, tag: str, gates: Gates) -> str:
    """What the gate cost, and whether a machine could mend it."""
    tally, alone = history.patterns.tally, history.only_blocker.get(tag, 0)
    gate = gates.get(tag)
    fixable = ", and it is auto-fixable" if gate and gate.auto_fixable else ""
    if alone:
        return f"the only blocking issue in {out_of(alone, tally.rejected, 'rejected pull request')}{fixable}"
    return f"broken in {out_of(history.patterns.issue_breakdown[tag], tally.total, 'pull request')}{fixable}"
