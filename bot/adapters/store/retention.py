"""What has been kept long enough?"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import ColumnElement, and_, delete, exists, select, update
from sqlalchemy.sql.dml import Delete, Update

from bot.adapters.store import refusals
from bot.adapters.store.database import Database
from bot.adapters.store.memory_erasure import erase, resume
from bot.adapters.store.schema import (
    DONE,
    IS_QUEUED,
    PARKED,
    delivery,
    instance,
    lane,
    outbox,
    redelivery,
    spending,
)
from bot.adapters.store.statistics import look

DAY = 86_400.0
BODY_OF_DONE = 8 * DAY
"""GitHub itself can deliver again for three days."""
DELIVERY = 30 * DAY
INSTANCE = DAY
SPENDING = 3600.0
REDELIVERY = 8 * DAY
"""GitHub lists deliveries for three days, GitHub Enterprise Server for seven."""

BATCH = 500
MOST_BATCHES = 40
"""A sweep that is far behind leaves the rest to the next one."""


Step = Callable[[ColumnElement[float]], Update | Delete]


async def sweep(database: Database) -> int:
    """Forget what is older than its retention; returns how many rows changed."""
    swept = sum([await _repeat(database, step) for step in STEPS])
    erased = await erase(database) + await resume(database)
    await refusals.sweep(database)
    await look(database)
    # Whatever else was deleted or sent since the last sweep is in the log as well.
    await database.scrub(rewrite=erased > 0)
    return swept + erased


def bodies(now: ColumnElement[float]) -> Update:
    """A delivery that was dealt with needs no body."""
    old = and_(
        delivery.c.state == DONE, delivery.c.finished_at < now - BODY_OF_DONE, delivery.c.body.is_not(None)
    )
    return (
        update(delivery)
        .where(delivery.c.id.in_(select(delivery.c.id).where(old).limit(BATCH)))
        .values(body=None)
    )


def ids(now: ColumnElement[float]) -> Delete:
    """GitHub has long forgotten a delivery this old, so it can't come again."""
    old = and_(delivery.c.state.in_((DONE, PARKED)), delivery.c.finished_at < now - DELIVERY)
    return delete(delivery).where(delivery.c.id.in_(select(delivery.c.id).where(old).limit(BATCH)))


def lanes(_now: ColumnElement[float]) -> Delete:
    """A lane is only a queue: an empty one comes back when it is needed."""
    empty = and_(
        lane.c.owner.is_(None),
        lane.c.due_at.is_(None),
        ~exists().where(delivery.c.lane == lane.c.key, IS_QUEUED),
        ~exists().where(outbox.c.lane == lane.c.key),
    )
    # Asked twice: the row that gets locked may have changed since it was picked.
    return delete(lane).where(lane.c.key.in_(select(lane.c.key).where(empty).limit(BATCH)), empty)


def instances(now: ColumnElement[float]) -> Delete:
    """An instance that has been dead for a day owns nothing that anyone could mistake."""
    return delete(instance).where(instance.c.beat_at < now - INSTANCE)


def spendings(now: ColumnElement[float]) -> Delete:
    """Only the last hour's writes count."""
    return delete(spending).where(spending.c.at < now - SPENDING)


def redeliveries(now: ColumnElement[float]) -> Delete:
    """GitHub has forgotten a delivery this old, so it can't be asked for."""
    return delete(redelivery).where(redelivery.c.at < now - REDELIVERY)


STEPS: tuple[Step, ...] = (
    bodies,
    ids,
    lanes,
    instances,
    spendings,
    redeliveries,
)


async def _repeat(database: Database, step: Step) -> int:
    """Each batch is a transaction of its own, so that nobody waits long for a sweep."""
    total = 0
    for _ in range(MOST_BATCHES):
        changed = await database.write(
            lambda transaction: transaction.execute(step(transaction.now)).rowcount
        )
        total += changed
        if changed < BATCH:
            break
    return total
