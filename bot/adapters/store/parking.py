"""Which deliveries were given up on, and how do they get another chance?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from sqlalchemy import select, update

from bot.adapters.store import lanes
from bot.adapters.store.schema import IS_PARKED, QUEUED, delivery
from bot.adapters.store.transaction import Transaction, moment
from bot.adapters.store.wakes import wake_others
from bot.ports import Parked


def parked(transaction: Transaction) -> tuple[Parked, ...]:
    """The deliveries given up on, newest first."""
    given_up = (
        select(delivery)
        .with_only_columns(*(column for column in delivery.c if column.name != "body"))
        .where(IS_PARKED)
        .order_by(delivery.c.finished_at.desc(), delivery.c.id)
    )
    return tuple(
        Parked(
            id=row.id,
            event=row.event,
            lane=row.lane,
            attempts=row.attempts,
            error=row.error or "",
            received_at=moment(row.received_at),
            parked_at=moment(row.finished_at),
            installation_id=row.installation_id,
        )
        for row in transaction.execute(given_up)
    )


def requeue(transaction: Transaction, ids: Collection[str]) -> set[str]:
    """Those of the ids that were parked; they are queued now, as if they had just come."""
    chosen = (delivery.c.id.in_(ids), IS_PARKED)
    rows = (transaction.execute(select(delivery.c.lane, delivery.c.installation_id).where(*chosen))).all()
    arrivals = Counter((row.lane, row.installation_id) for row in rows)
    lanes.arrive(transaction, [lanes.Arrival(key, owner, count) for (key, owner), count in arrivals.items()])
    again = (
        update(delivery)
        .where(*chosen)
        .values(state=QUEUED, attempts=0, crashes=0, error=None, finished_at=None)
        .returning(delivery.c.id)
    )
    wake_others(transaction)
    return set(transaction.execute(again).scalars())
