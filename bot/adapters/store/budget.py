"""May this installation write something to GitHub now?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Double, Insert, Select, bindparam, insert, select

from bot.adapters.store.schema import installation, spending
from bot.adapters.store.transaction import Transaction, Words


@dataclass(frozen=True, slots=True)
class Window:
    """At most this many writes in this many seconds, whichever seconds are looked at."""

    seconds: float
    most: int


WINDOWS = (Window(60.0, 80), Window(3600.0, 500))
"""GitHub's limits for content an installation creates."""

AT_ONCE = 60.0
"""Seconds that a write of somebody who asked at the same time may be noted ahead of ours."""

SHARES = (1.0, 0.8, 0.6)
"""How much of a window each priority may fill: rejections, replies, summaries."""


def spend(transaction: Transaction, installation_id: int, priority: int) -> float:
    """0 and counted when a write of this priority may be made now, else the seconds to wait."""
    now = _lock(transaction, installation_id)
    recent = {"whose": installation_id, "since": now - WINDOWS[-1].seconds, "until": now + AT_ONCE}
    spent = transaction.execute(_SPENT, recent).scalars().all()
    wait = wait_for(spent, now, SHARES[min(priority, len(SHARES) - 1)])
    if wait == 0:
        transaction.execute(_SPENDING, {"installation_id": installation_id, "at": now})
    return wait


def wait_for(spent: Sequence[float], now: float, share: float) -> float:
    """Seconds until every window has room again; `spent` are the times of the writes, oldest first."""
    return max(_wait(spent, now, window.seconds, int(window.most * share)) for window in WINDOWS)


def _wait(spent: Sequence[float], now: float, seconds: float, most: int) -> float:
    recent = [at for at in spent if at > now - seconds]
    if len(recent) < most:
        return 0.0
    return recent[len(recent) - most] + seconds - now


def _lock(transaction: Transaction, installation_id: int) -> float:
    """The time, once no other instance is spending for this installation."""
    mine = _locked(transaction.words)
    asked = {"whose": installation_id, **transaction.told}
    now: float | None = transaction.execute(mine, asked).scalar()
    if now is None:
        transaction.execute(_first(transaction.words), {"id": installation_id})
        now = transaction.execute(mine, asked).scalar_one()
    return now


_SPENT = (
    select(spending.c.at)
    .where(
        spending.c.installation_id == bindparam("whose"),
        spending.c.at > bindparam("since", type_=Double),
        spending.c.at <= bindparam("until", type_=Double),
    )
    .order_by(spending.c.at)
)
_SPENDING = insert(spending)


@cache
def _locked(words: Words) -> Select[Any]:
    # The time is that of the question; whoever was spending meanwhile counts all the same.
    mine = select(words.now).select_from(installation).where(installation.c.id == bindparam("whose"))
    return mine.with_for_update()


@cache
def _first(words: Words) -> Insert:
    statement = words.insert(installation).values(not_before=0.0)
    return statement.on_conflict_do_nothing(index_elements=[installation.c.id])
