"""Accept deliveries in group commits; load, finish, park and requeue them."""

from __future__ import annotations

import asyncio
import itertools
import math
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    FunctionElement,
    Over,
    Row,
    bindparam,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from bot.store import lanes
from bot.store.codec import column_text
from bot.store.database import NOW, Transaction, TransactionWork, WorkResult, to_datetime
from bot.store.dialects import Database
from bot.store.lanes import LaneWakes, notify_workers
from bot.store.model import (
    Acceptance,
    Delivery,
    DeliveryState,
    LaneClaim,
    ParkedDelivery,
    StoredDelivery,
    StoreUnavailable,
)
from bot.store.schema import DONE, IS_PARKED, IS_QUEUED, PARKED, QUEUED, delivery_table

MAX_DELIVERIES_PER_CLAIM = 100
"""Deliveries in one turn; the rest is left to the next one."""
MAX_BYTES_PER_CLAIM = 32 * 1024 * 1024
"""A turn holds its bodies in memory."""


def load_waiting(transaction: Transaction, lanes: Collection[str]) -> tuple[Delivery, ...]:
    """Load the queued deliveries of these lanes in order of arrival, no more than fit into a turn."""
    fitting = {"lanes": tuple(lanes), "most": MAX_DELIVERIES_PER_CLAIM, "most_bytes": MAX_BYTES_PER_CLAIM}
    return tuple(_delivery(row) for row in transaction.execute(_WAITING, fitting))


def finish_deliveries(
    transaction: Transaction, lane: str, ids: Sequence[str], *, empty: bool = False
) -> None:
    """Mark deliveries as done; with `empty` their bodies are deleted at once."""
    if ids:
        transaction.execute(_EMPTIED if empty else _DONE, {"ids": ids, "of": lane})


def park_deliveries(transaction: Transaction, lane: str, errors: Sequence[tuple[str, str]]) -> None:
    """Park deliveries, each with its error."""
    if errors:
        # Not one that was done before a later step of its turn failed: it must not come again.
        parking = update(delivery_table).where(
            delivery_table.c.id == bindparam("which"), delivery_table.c.lane == lane, IS_QUEUED
        )
        parking = parking.values(
            state=PARKED,
            error=bindparam("why"),
            attempts=delivery_table.c.attempts + 1,
            finished_at=NOW,
        )
        rows = [{"which": delivery_id, "why": column_text(error)} for delivery_id, error in errors]
        transaction.execute(parking, rows)


def load_delivery(transaction: Transaction, delivery_id: str) -> StoredDelivery | None:
    """Load a delivery and its state, None if it is not known."""
    row = transaction.execute(select(delivery_table).where(delivery_table.c.id == delivery_id)).first()
    return None if row is None else _stored_delivery(row)


def find_unfinished(transaction: Transaction, lane: str) -> StoredDelivery | None:
    """Find the newest delivery of a lane that is queued or parked."""
    is_unfinished = or_(IS_QUEUED, IS_PARKED)
    newest = select(delivery_table).where(delivery_table.c.lane == lane, is_unfinished)
    newest = newest.order_by(delivery_table.c.accepted_at.desc(), delivery_table.c.position.desc()).limit(1)
    row = transaction.execute(newest).first()
    return None if row is None else _stored_delivery(row)


def count_queued(transaction: Transaction, lane_prefix: str, id_prefix: str) -> int:
    """Count the queued deliveries whose lane and id have these prefixes."""
    queued = (
        select(func.count())
        .select_from(delivery_table)
        .where(
            IS_QUEUED,
            delivery_table.c.lane.startswith(lane_prefix, autoescape=True),
            delivery_table.c.id.startswith(id_prefix, autoescape=True),
        )
    )
    count: int = transaction.execute(queued).scalar_one()
    return count


def count_attempt(transaction: Transaction, claim: LaneClaim) -> None:
    """Count a failed turn on the claim's deliveries."""
    ids = [delivery.id for delivery in claim.deliveries]
    retried = update(delivery_table).where(delivery_table.c.id.in_(ids), IS_QUEUED)
    transaction.execute(retried.values(attempts=delivery_table.c.attempts + 1))


def _in_order(function: FunctionElement[Any]) -> Over[Any]:
    return function.over(
        partition_by=delivery_table.c.lane, order_by=(delivery_table.c.accepted_at, delivery_table.c.position)
    )


_QUEUE = (
    select(
        delivery_table.c.id,
        _in_order(func.row_number()).label("place"),
        _in_order(func.sum(func.length(delivery_table.c.body))).label("size"),
    )
    .where(delivery_table.c.lane.in_(bindparam("lanes", expanding=True)), IS_QUEUED)
    .subquery("queue")
)
_WAITING = (
    select(delivery_table)
    .join(_QUEUE, _QUEUE.c.id == delivery_table.c.id)
    .where(
        _QUEUE.c.place <= bindparam("most"),
        or_(_QUEUE.c.place == 1, _QUEUE.c.size <= bindparam("most_bytes", type_=BigInteger)),
    )
    .order_by(delivery_table.c.lane, _QUEUE.c.place)
)
_DONE = (
    update(delivery_table)
    .where(
        delivery_table.c.id.in_(bindparam("ids", expanding=True)), delivery_table.c.lane == bindparam("of")
    )
    .values(state=DONE, error=None, finished_at=NOW)
)
_EMPTIED = _DONE.values(body=None)


def _stored_delivery(row: Row[Any]) -> StoredDelivery:
    return StoredDelivery(_delivery(row), DeliveryState(row.state), row.error or "")


def _delivery(row: Row[Any]) -> Delivery:
    return Delivery(
        id=row.id,
        event=row.event,
        lane=row.lane,
        installation_id=row.installation_id,
        body=row.body,
        received_at=to_datetime(row.received_at),
        attempt=row.attempts,
        crashes=row.crashes,
    )


def load_parked(transaction: Transaction, limit: int | None = None) -> tuple[ParkedDelivery, ...]:
    """Load the parked deliveries, newest first, at most `limit`."""
    parked = (
        select(delivery_table)
        .with_only_columns(*(column for column in delivery_table.c if column.name != "body"))
        .where(IS_PARKED)
        .order_by(delivery_table.c.finished_at.desc(), delivery_table.c.id)
        .limit(limit)
    )
    return tuple(
        ParkedDelivery(
            id=row.id,
            event=row.event,
            lane=row.lane,
            attempts=row.attempts,
            error=row.error or "",
            received_at=to_datetime(row.received_at),
            parked_at=to_datetime(row.finished_at),
            installation_id=row.installation_id,
        )
        for row in transaction.execute(parked)
    )


def requeue_parked(transaction: Transaction, ids: Collection[str]) -> set[str]:
    """Queue parked deliveries as if they had just arrived; returns the ids that were parked."""
    chosen = (delivery_table.c.id.in_(ids), IS_PARKED)
    arrivals = select(delivery_table.c.lane, delivery_table.c.installation_id).where(*chosen)
    lanes.add_arrivals(
        transaction, [(row.lane, row.installation_id) for row in transaction.execute(arrivals)]
    )
    again = (
        update(delivery_table)
        .where(*chosen)
        .values(state=QUEUED, attempts=0, crashes=0, error=None, finished_at=None)
        .returning(delivery_table.c.id)
    )
    notify_workers(transaction)
    return set(transaction.execute(again).scalars())


def queue_follow_ups(transaction: Transaction, follow_ups: Sequence[Delivery]) -> None:
    """Queue what a turn wants done after it, in the turn's own transaction.

    Only in lanes whose own turns wait for no other: a turn that waits for another lane could wait for ever.
    """
    if follow_ups:
        rows = [_row(delivery, time.time_ns()) for delivery in sorted(follow_ups, key=lambda new: new.id)]
        queued = _insert(transaction, rows)
        _arrive(transaction, [delivery for delivery in follow_ups if delivery.id in queued])
        notify_workers(transaction)


MAX_BATCH = 512
MAX_WAITING_DELIVERIES = 4096
"""Deliveries that wait in memory; more wait outside."""
CROWD_SIZE = 128
CROWD_SECONDS = 0.5
"""So many deliveries within these seconds are more than turns keep up with. Fewer are worked on while they
come in: to step aside for a burst of sixty cost it half its time."""
CROWD_UNANSWERED = 32
"""So many deliveries that wait for their acknowledgement at once are a crowd as well, before so many came."""
CROWD_ECHO_SECONDS = 0.05
"""Seconds for which they stay one: a commit answers all of them together, and the next ones follow."""
COMMIT_TIMEOUT = 9.0
"""Seconds; GitHub hangs up after ten."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    delivery: Delivery
    position: int
    answer: asyncio.Future[Acceptance]


class GroupCommit:
    """One writer that commits all waiting deliveries, and only then answers."""

    def __init__(self, database: Database, wakes: LaneWakes) -> None:
        self._database = database
        self._wakes = wakes
        self._queue: asyncio.Queue[_Waiting | None] = asyncio.Queue(MAX_WAITING_DELIVERIES)
        # Starts from the time, so that the order holds over a restart even if a clock stands still.
        self._positions = itertools.count(time.time_ns())
        self._closed = False
        self._arrivals: deque[float] = deque(maxlen=CROWD_SIZE)
        self._unanswered = 0
        self._crowded_until = -math.inf
        self._writer = asyncio.create_task(self._write_all(), name="inbox writer")

    async def accept(self, delivery: Delivery) -> Acceptance:
        """Return only when the delivery is safe on disk, or known already."""
        if self._closed:
            raise StoreUnavailable("the store is closing")
        answer: asyncio.Future[Acceptance] = asyncio.get_running_loop().create_future()
        self._unanswered += 1
        self._note_arrival(time.monotonic())
        try:
            async with asyncio.timeout(COMMIT_TIMEOUT):
                await self._queue.put(_Waiting(delivery, next(self._positions), answer))
                return await answer
        except TimeoutError:
            raise StoreUnavailable("the store did not answer in time") from None
        finally:
            self._unanswered -= 1

    def _note_arrival(self, now: float) -> None:
        self._arrivals.append(now)
        if len(self._arrivals) == CROWD_SIZE:
            self._crowded_until = max(self._crowded_until, self._arrivals[0] + CROWD_SECONDS)
        if self._unanswered >= CROWD_UNANSWERED:
            self._crowded_until = max(self._crowded_until, now + CROWD_ECHO_SECONDS)

    @property
    def crowded_seconds(self) -> float:
        """Seconds for which deliveries crowd if none follows; 0 if turns can keep up with them."""
        return max(0.0, self._crowded_until - time.monotonic())

    async def close(self) -> None:
        """Commit what waits, then accept nothing more."""
        self._closed = True
        await self._queue.put(None)
        await self._writer

    async def _write_all(self) -> None:
        while (first := await self._queue.get()) is not None:
            batch = [first]
            last = False
            while len(batch) < MAX_BATCH and not self._queue.empty() and not last:
                waiting = self._queue.get_nowait()
                last = waiting is None
                batch.extend([waiting] if waiting else [])
            await self._settle(batch)
            if last:
                return

    async def _settle(self, batch: Sequence[_Waiting]) -> None:
        try:
            queued = await self._commit(batch)
        except StoreUnavailable as away:
            _refuse(batch, away)
        except Exception as error:  # noqa: BLE001 - the writer outlives every delivery
            # One that the database can't hold must not take the others with it.
            if len(batch) == 1:
                _refuse(batch, StoreUnavailable(str(error)))
            for waiting in batch if len(batch) > 1 else ():
                await self._settle([waiting])
        else:
            _answer(batch, queued)

    async def _commit(self, batch: Sequence[_Waiting]) -> set[str]:
        """Commit a batch; returns the ids that it queued."""
        by_id = {waiting.delivery.id: waiting for waiting in reversed(batch)}
        queued, parked = await self._write(lambda transaction: _accept(transaction, by_id))
        # Accepting locks deliveries before lanes, a turn lanes before deliveries. The two never meet
        # as long as accepting touches no row that exists, so these have a transaction of their own.
        if parked:
            queued |= await self._write(lambda transaction: requeue_parked(transaction, parked))
        return queued

    async def _write(self, work: TransactionWork[WorkResult]) -> WorkResult:
        """Write, and wake the worker, so that its claim comes after what is written."""
        if self._database.in_order:
            self._wakes.wake()  # its claim is often part of the same commit
            return await self._database.write(work)
        result = await self._database.write(work)
        self._wakes.wake()
        return result


def _accept(transaction: Transaction, by_id: Mapping[str, _Waiting]) -> tuple[set[str], set[str]]:
    """Queue what is new; returns the ids that are queued now, and those that were parked before."""
    ordered = [by_id[key] for key in sorted(by_id)]
    queued = _insert(transaction, [_row(waiting.delivery, waiting.position) for waiting in ordered])
    _arrive(transaction, [by_id[key].delivery for key in queued])
    notify_workers(transaction)
    duplicates = by_id.keys() - queued
    return queued, _parked(transaction, duplicates) if duplicates else set()


def _insert(transaction: Transaction, rows: Sequence[dict[str, object]]) -> set[str]:
    # By id, in ascending order: two instances that are given the same deliveries would else deadlock.
    return set(transaction.execute(_INSERTED, rows).scalars())


_INSERTED = (
    insert(delivery_table)
    .values(accepted_at=NOW, state=QUEUED, attempts=0)
    .on_conflict_do_nothing(index_elements=[delivery_table.c.id])
    .returning(delivery_table.c.id)
)


def _arrive(transaction: Transaction, fresh: Sequence[Delivery]) -> None:
    lanes.add_arrivals(transaction, [(delivery.lane, delivery.installation_id) for delivery in fresh])


def _parked(transaction: Transaction, ids: Collection[str]) -> set[str]:
    return set(transaction.execute(_PARKED, {"ids": tuple(ids)}).scalars())


_PARKED = select(delivery_table.c.id).where(
    delivery_table.c.id.in_(bindparam("ids", expanding=True)), IS_PARKED
)


def _row(delivery: Delivery, position: int) -> dict[str, object]:
    return {
        "id": delivery.id,
        "event": delivery.event,
        "lane": delivery.lane,
        "installation_id": delivery.installation_id,
        "body": delivery.body,
        "received_at": delivery.received_at.timestamp(),
        "position": position,
    }


def _answer(batch: Sequence[_Waiting], queued: set[str]) -> None:
    owed = set(queued)
    for waiting in batch:
        fresh = waiting.delivery.id in owed
        owed.discard(waiting.delivery.id)  # the same id twice in a batch: the second is a repeat
        if not waiting.answer.done():
            waiting.answer.set_result(Acceptance.QUEUED if fresh else Acceptance.DUPLICATE)


def _refuse(batch: Sequence[_Waiting], away: StoreUnavailable) -> None:
    for waiting in batch:
        if not waiting.answer.done():
            waiting.answer.set_exception(StoreUnavailable(*away.args))
