"""What is read when a lane is claimed, and what is written when its turn is over?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import TypeVar

from bot.adapters.store import deliveries, lanes, outbox, records
from bot.adapters.store.transaction import Transaction
from bot.domain.effects import Effect
from bot.domain.model import Sticky
from bot.ports import Claim, Delivery, OutboxRow, Turn

Row = TypeVar("Row", Delivery, OutboxRow)


def claim(transaction: Transaction, who: lanes.Claimant, limit: int) -> tuple[Claim, ...]:
    """Lanes that are due and now owned, each with its deliveries and what it owes."""
    taken = lanes.take(transaction, who, limit)
    if not taken:
        return ()
    keys = [row.key for row in taken]
    waiting = _by_lane(deliveries.waiting(transaction, keys))
    owed = _by_lane(outbox.owed(transaction, keys))
    return tuple(
        Claim(
            lane=row.key,
            installation_id=row.installation_id,
            fence=row.fence,
            arrivals=row.arrivals,
            attempt=row.attempt,
            deliveries=waiting.get(row.key, ()),
            outbox=owed.get(row.key, ()),
        )
        for row in taken
    )


def apply(transaction: Transaction, lane: str, turn: Turn) -> tuple[OutboxRow, ...]:
    """Records, deliveries and outbox as the turn left them; returns the rows now owed."""
    if turn.pull_request:
        records.save(transaction, lane, turn.pull_request)
        if turn.pull_request.sticky:
            records.remember(transaction, lane, turn.pull_request.sticky)
    deliveries.finish(transaction, lane, turn.done)
    deliveries.park(transaction, lane, turn.parked)
    return outbox.owe(transaction, lane, turn.effects)


def sent(transaction: Transaction, row: OutboxRow, sticky: Sticky | None, then: tuple[Effect, ...]) -> None:
    """GitHub has the row: what it left there is remembered, what follows from it is owed."""
    outbox.forget(transaction, row)
    if sticky:
        records.remember(transaction, row.lane, sticky)
    if then:
        outbox.owe(transaction, row.lane, then)


def release(transaction: Transaction, owned: Claim, owner: str, rest: lanes.Rest) -> float | None:
    """The lane is nobody's; returns when it is due again."""
    due = lanes.give_back(transaction, owned, owner, rest)
    if rest.attempt > owned.attempt:
        deliveries.count_attempt(transaction, owned)
    return due


def _by_lane(rows: Iterable[Row]) -> dict[str, tuple[Row, ...]]:
    return {lane: tuple(group) for lane, group in groupby(rows, key=attrgetter("lane"))}
