"""May this installation write something to GitHub now?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, insert, select

from bot.adapters.store.schema import installation, spending
from bot.adapters.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Window:
    """At most this many writes in this many seconds, whichever seconds are looked at."""

    seconds: float
    most: int


WINDOWS = (Window(60.0, 80), Window(3600.0, 500))
"""GitHub's limits for content an installation creates."""

SHARES = (1.0, 0.8, 0.6)
"""How much of a window each priority may fill: rejections, replies, summaries."""


def spend(transaction: Transaction, installation_id: int, priority: int) -> float:
    """0 and counted when a write of this priority may be made now, else the seconds to wait."""
    now = _lock(transaction, installation_id)
    recent = and_(spending.c.installation_id == installation_id, spending.c.at > now - WINDOWS[-1].seconds)
    spent = transaction.execute(select(spending.c.at).where(recent).order_by(spending.c.at)).scalars()
    wait = wait_for(spent.all(), now, SHARES[min(priority, len(SHARES) - 1)])
    if wait == 0:
        transaction.execute(insert(spending).values(installation_id=installation_id, at=now))
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
    mine = select(installation.c.id).where(installation.c.id == installation_id).with_for_update()
    if transaction.execute(mine).first() is None:
        statement = transaction.insert(installation).values(id=installation_id, not_before=0.0)
        transaction.execute(statement.on_conflict_do_nothing(index_elements=[installation.c.id]))
        transaction.execute(mine)
    now: float = transaction.execute(select(transaction.now)).scalar_one()
    return now
