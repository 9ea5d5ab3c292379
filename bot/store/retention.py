"""Delete what is older than its retention, and refresh the database's statistics."""

from __future__ import annotations

from sqlalchemy import Column, ColumnElement, and_, delete, exists, select, text, update
from sqlalchemy.sql.dml import Delete, Update

from bot.store import outbox
from bot.store.database import NOW, Transaction
from bot.store.dialects import Database
from bot.store.repositories import erase_abandoned, resume_emptying
from bot.store.schema import (
    DONE,
    IS_QUEUED,
    PARKED,
    delivery_table,
    instance_table,
    lane_table,
    outbox_table,
    redelivery_table,
    spending_table,
)

ANALYZE_ROWS = 400
"""Rows of an index that SQLite looks at: a large store takes no longer than a small one."""
SMALL_TABLE = 500
"""Rows. A table that is small now may be large in a minute, long before the next analysis. With statistics
of one lane SQLite reads all lanes for each that is due, seconds for some thousands; without any, it takes
an index."""

# PostgreSQL analyzes by itself once a minute, where its operator lets it: only what it has missed is left.
_GROWN = text(
    "SELECT relname FROM pg_stat_user_tables WHERE schemaname = current_schema()"
    " AND n_mod_since_analyze > 500 + 0.2 * n_live_tup ORDER BY relname"
)
_DELETE_SMALL = text("DELETE FROM sqlite_stat1 WHERE CAST(stat AS INTEGER) < :small")


def refresh_statistics(transaction: Transaction) -> None:
    """Have the database analyze the tables that have grown a good deal since it last did."""
    if not transaction.shared:
        transaction.execute(text(f"PRAGMA analysis_limit={ANALYZE_ROWS}"))
        transaction.execute(text("ANALYZE"))
        transaction.execute(_DELETE_SMALL, {"small": SMALL_TABLE})
        transaction.execute(text("ANALYZE sqlite_master"))  # only loads what is left
        return
    for name in transaction.execute(_GROWN).scalars().all():
        transaction.execute(text(f'ANALYZE "{name}"'))


DAY = 86_400.0
DONE_BODY_KEPT = 8 * DAY
"""GitHub itself can deliver again for three days."""
DELIVERY_KEPT = 30 * DAY
INSTANCE_KEPT = DAY
SPENDING_KEPT = 3600.0
REDELIVERY_KEPT = 8 * DAY
"""GitHub lists deliveries for three days, GitHub Enterprise Server for seven."""

SWEEP_BATCH = 500
MAX_BATCHES = 40
"""A sweep that is far behind leaves the rest to the next one."""


async def sweep_store(database: Database) -> int:
    """Delete what is older than its retention; returns how many rows changed."""
    swept = sum([await _repeat(database, step) for step in _sweep_steps()])
    erased = await erase_abandoned(database) + await resume_emptying(database)
    await database.write(outbox.delete_blocked)
    await database.write(outbox.retry_blocked)
    await database.write(refresh_statistics)
    # Whatever else was deleted or sent since the last sweep is in the log as well.
    await database.scrub(rewrite=erased > 0)
    return swept + erased


def _sweep_steps() -> tuple[Update | Delete, ...]:
    state, finished_at = delivery_table.c.state, delivery_table.c.finished_at
    expired_body = and_(state == DONE, finished_at < NOW - DONE_BODY_KEPT, delivery_table.c.body.is_not(None))
    expired_delivery = and_(state.in_((DONE, PARKED)), finished_at < NOW - DELIVERY_KEPT)
    # A lane is only a queue, and comes back when it is needed.
    empty_lane = and_(
        lane_table.c.owner.is_(None),
        lane_table.c.due_at.is_(None),
        ~exists().where(delivery_table.c.lane == lane_table.c.key, IS_QUEUED),
        ~exists().where(outbox_table.c.lane == lane_table.c.key),
    )
    return (
        update(delivery_table).where(_some(delivery_table.c.id, expired_body)).values(body=None),
        delete(delivery_table).where(_some(delivery_table.c.id, expired_delivery)),
        # Checked twice: the row that gets locked may have changed since it was picked.
        delete(lane_table).where(_some(lane_table.c.key, empty_lane), empty_lane),
        # None of its claims can still be open.
        delete(instance_table).where(instance_table.c.beat_at < NOW - INSTANCE_KEPT),
        delete(spending_table).where(spending_table.c.at < NOW - SPENDING_KEPT),
        delete(redelivery_table).where(redelivery_table.c.at < NOW - REDELIVERY_KEPT),
    )


def _some(key: Column[str], chosen: ColumnElement[bool]) -> ColumnElement[bool]:
    return key.in_(select(key).where(chosen).limit(SWEEP_BATCH))


async def _repeat(database: Database, step: Update | Delete) -> int:
    """Run a step in batches, each in its own transaction, so that nobody waits long for a sweep."""
    total = 0
    for _ in range(MAX_BATCHES):
        changed = await database.write(lambda transaction: transaction.change(step))
        total += changed
        if changed < SWEEP_BATCH:
            break
    return total
