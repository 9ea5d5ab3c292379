"""Which deliveries were given up on, and how do they get another chance?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store import lanes
from bot.adapters.store.database import Database, moment
from bot.adapters.store.schema import PARKED, QUEUED, delivery
from bot.ports import Parked


async def parked(connection: AsyncConnection) -> tuple[Parked, ...]:
    """The deliveries given up on, newest first."""
    given_up = (
        select(delivery)
        .with_only_columns(*(column for column in delivery.c if column.name != "body"))
        .where(delivery.c.state == PARKED)
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
        )
        for row in await connection.execute(given_up)
    )


async def requeue(database: Database, connection: AsyncConnection, ids: Collection[str]) -> set[str]:
    """Those of the ids that were parked; they are queued now, as if they had just come."""
    chosen = (delivery.c.id.in_(ids), delivery.c.state == PARKED)
    rows = (
        await connection.execute(select(delivery.c.lane, delivery.c.installation_id).where(*chosen))
    ).all()
    arrivals = Counter((row.lane, row.installation_id) for row in rows)
    await lanes.arrive(
        database, connection, [lanes.Arrival(key, owner, count) for (key, owner), count in arrivals.items()]
    )
    again = (
        update(delivery)
        .where(*chosen)
        .values(state=QUEUED, attempts=0, error=None, finished_at=None)
        .returning(delivery.c.id)
    )
    return set((await connection.execute(again)).scalars())
