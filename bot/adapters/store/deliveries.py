"""Which deliveries wait in a lane, and what became of them?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    FunctionElement,
    Over,
    Row,
    Select,
    Update,
    bindparam,
    func,
    or_,
    select,
    update,
)

from bot.adapters.store.codec import plain
from bot.adapters.store.schema import DONE, IS_PARKED, IS_QUEUED, PARKED, delivery
from bot.adapters.store.transaction import Transaction, Words, moment
from bot.ports import Claim, Delivery, DeliveryState, Kept

MOST = 100
"""Deliveries in one turn; the rest has the next one."""
MOST_BYTES = 32 * 1024 * 1024
"""A turn holds its bodies in memory."""


def waiting(transaction: Transaction, lanes: Collection[str]) -> tuple[Delivery, ...]:
    """The queued deliveries of these lanes in the order they came, no more than fit into a turn."""
    fitting = {"lanes": tuple(lanes), "most": MOST, "most_bytes": MOST_BYTES}
    return tuple(_delivery(row) for row in transaction.execute(_waiting(), fitting))


def finish(transaction: Transaction, lane: str, ids: Sequence[str], *, empty: bool = False) -> None:
    """These are dealt with; `empty` where their bodies go at once."""
    if ids:
        done = _emptied if empty else _done
        transaction.execute(done(transaction.words), {"ids": ids, "of": lane, **transaction.told})


def park(transaction: Transaction, lane: str, errors: Sequence[tuple[str, str]]) -> None:
    """These are given up on, each with its error."""
    if errors:
        # Not one that was dealt with before a later step of its turn failed: it must not come again.
        given_up = update(delivery).where(
            delivery.c.id == bindparam("which"), delivery.c.lane == lane, IS_QUEUED
        )
        given_up = given_up.values(
            state=PARKED,
            error=bindparam("why"),
            attempts=delivery.c.attempts + 1,
            finished_at=transaction.now,
        )
        transaction.execute(given_up, [{"which": one, "why": plain(error)} for one, error in errors])


def kept(transaction: Transaction, delivery_id: str) -> Kept | None:
    """A delivery as it stands in the inbox."""
    row = transaction.execute(select(delivery).where(delivery.c.id == delivery_id)).first()
    return None if row is None else _kept(row)


def unfinished(transaction: Transaction, lane: str) -> Kept | None:
    """The newest delivery of a lane that waits or was given up on."""
    open_ones = or_(IS_QUEUED, IS_PARKED)
    newest = select(delivery).where(delivery.c.lane == lane, open_ones)
    newest = newest.order_by(delivery.c.accepted_at.desc(), delivery.c.position.desc()).limit(1)
    row = transaction.execute(newest).first()
    return None if row is None else _kept(row)


def queued(transaction: Transaction, lanes: str, ids: str) -> int:
    """How many wait whose lane and id begin so."""
    begins = (
        delivery.c.lane.startswith(lanes, autoescape=True),
        delivery.c.id.startswith(ids, autoescape=True),
    )
    found = select(func.count()).select_from(delivery).where(IS_QUEUED, *begins)
    count: int = transaction.execute(found).scalar_one()
    return count


def count_attempt(transaction: Transaction, claim: Claim) -> None:
    """A turn with these deliveries failed."""
    tried = update(delivery).where(delivery.c.id.in_([one.id for one in claim.deliveries]), IS_QUEUED)
    transaction.execute(tried.values(attempts=delivery.c.attempts + 1))


@cache
def _waiting() -> Select[Any]:
    queue = (
        select(
            delivery.c.id,
            _in_order(func.row_number()).label("place"),
            _in_order(func.sum(func.length(delivery.c.body))).label("size"),
        )
        .where(delivery.c.lane.in_(bindparam("lanes", expanding=True)), IS_QUEUED)
        .subquery("queue")
    )
    return (
        select(delivery)
        .join(queue, queue.c.id == delivery.c.id)
        .where(
            queue.c.place <= bindparam("most"),
            or_(queue.c.place == 1, queue.c.size <= bindparam("most_bytes", type_=BigInteger)),
        )
        .order_by(delivery.c.lane, queue.c.place)
    )


@cache
def _done(words: Words) -> Update:
    done = update(delivery).where(
        delivery.c.id.in_(bindparam("ids", expanding=True)), delivery.c.lane == bindparam("of")
    )
    return done.values(state=DONE, error=None, finished_at=words.now)


@cache
def _emptied(words: Words) -> Update:
    return _done(words).values(body=None)


def _in_order(function: FunctionElement[Any]) -> Over[Any]:
    return function.over(partition_by=delivery.c.lane, order_by=(delivery.c.accepted_at, delivery.c.position))


def _kept(row: Row[Any]) -> Kept:
    return Kept(_delivery(row), DeliveryState(row.state), row.error or "")


def _delivery(row: Row[Any]) -> Delivery:
    return Delivery(
        id=row.id,
        event=row.event,
        lane=row.lane,
        installation_id=row.installation_id,
        body=row.body,
        received_at=moment(row.received_at),
        attempt=row.attempts,
        crashes=row.crashes,
    )
