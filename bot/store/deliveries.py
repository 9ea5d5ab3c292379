"""Accept deliveries in group commits; load, finish, park and requeue them."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    FunctionElement,
    Insert,
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

from bot.store import lanes
from bot.store.codec import column_text
from bot.store.database import Database, Dialect, Transaction, to_datetime
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
"""Deliveries in one turn; the rest has the next one."""
MAX_BYTES_PER_CLAIM = 32 * 1024 * 1024
"""A turn holds its bodies in memory."""


def load_waiting(transaction: Transaction, lanes: Collection[str]) -> tuple[Delivery, ...]:
    """The queued deliveries of these lanes in the order they came, no more than fit into a turn."""
    fitting = {"lanes": tuple(lanes), "most": MAX_DELIVERIES_PER_CLAIM, "most_bytes": MAX_BYTES_PER_CLAIM}
    return tuple(_delivery(row) for row in transaction.execute(_waiting(), fitting))


def finish_deliveries(
    transaction: Transaction, lane: str, ids: Sequence[str], *, empty: bool = False
) -> None:
    """These are dealt with; `empty` where their bodies go at once."""
    if ids:
        done = _emptied if empty else _done
        transaction.execute(done(transaction.words), {"ids": ids, "of": lane, **transaction.told})


def park_deliveries(transaction: Transaction, lane: str, errors: Sequence[tuple[str, str]]) -> None:
    """These are given up on, each with its error."""
    if errors:
        # Not one that was dealt with before a later step of its turn failed: it must not come again.
        given_up = update(delivery_table).where(
            delivery_table.c.id == bindparam("which"), delivery_table.c.lane == lane, IS_QUEUED
        )
        given_up = given_up.values(
            state=PARKED,
            error=bindparam("why"),
            attempts=delivery_table.c.attempts + 1,
            finished_at=transaction.now,
        )
        transaction.execute(given_up, [{"which": one, "why": column_text(error)} for one, error in errors])


def load_delivery(transaction: Transaction, delivery_id: str) -> StoredDelivery | None:
    """A delivery as it stands in the inbox."""
    row = transaction.execute(select(delivery_table).where(delivery_table.c.id == delivery_id)).first()
    return None if row is None else _kept(row)


def find_unfinished(transaction: Transaction, lane: str) -> StoredDelivery | None:
    """The newest delivery of a lane that waits or was given up on."""
    open_ones = or_(IS_QUEUED, IS_PARKED)
    newest = select(delivery_table).where(delivery_table.c.lane == lane, open_ones)
    newest = newest.order_by(delivery_table.c.accepted_at.desc(), delivery_table.c.position.desc()).limit(1)
    row = transaction.execute(newest).first()
    return None if row is None else _kept(row)


def count_queued(transaction: Transaction, lanes: str, ids: str) -> int:
    """How many wait whose lane and id begin so."""
    begins = (
        delivery_table.c.lane.startswith(lanes, autoescape=True),
        delivery_table.c.id.startswith(ids, autoescape=True),
    )
    found = select(func.count()).select_from(delivery_table).where(IS_QUEUED, *begins)
    count: int = transaction.execute(found).scalar_one()
    return count


def count_attempt(transaction: Transaction, claim: LaneClaim) -> None:
    """A turn with these deliveries failed."""
    tried = update(delivery_table).where(
        delivery_table.c.id.in_([one.id for one in claim.deliveries]), IS_QUEUED
    )
    transaction.execute(tried.values(attempts=delivery_table.c.attempts + 1))


@cache
def _waiting() -> Select[Any]:
    queue = (
        select(
            delivery_table.c.id,
            _in_order(func.row_number()).label("place"),
            _in_order(func.sum(func.length(delivery_table.c.body))).label("size"),
        )
        .where(delivery_table.c.lane.in_(bindparam("lanes", expanding=True)), IS_QUEUED)
        .subquery("queue")
    )
    return (
        select(delivery_table)
        .join(queue, queue.c.id == delivery_table.c.id)
        .where(
            queue.c.place <= bindparam("most"),
            or_(queue.c.place == 1, queue.c.size <= bindparam("most_bytes", type_=BigInteger)),
        )
        .order_by(delivery_table.c.lane, queue.c.place)
    )


@cache
def _done(words: Dialect) -> Update:
    done = update(delivery_table).where(
        delivery_table.c.id.in_(bindparam("ids", expanding=True)), delivery_table.c.lane == bindparam("of")
    )
    return done.values(state=DONE, error=None, finished_at=words.now)


@cache
def _emptied(words: Dialect) -> Update:
    return _done(words).values(body=None)


def _in_order(function: FunctionElement[Any]) -> Over[Any]:
    return function.over(
        partition_by=delivery_table.c.lane, order_by=(delivery_table.c.accepted_at, delivery_table.c.position)
    )


def _kept(row: Row[Any]) -> StoredDelivery:
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


def load_parked(transaction: Transaction) -> tuple[ParkedDelivery, ...]:
    """The deliveries given up on, newest first."""
    given_up = (
        select(delivery_table)
        .with_only_columns(*(column for column in delivery_table.c if column.name != "body"))
        .where(IS_PARKED)
        .order_by(delivery_table.c.finished_at.desc(), delivery_table.c.id)
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
        for row in transaction.execute(given_up)
    )


def requeue_parked(transaction: Transaction, ids: Collection[str]) -> set[str]:
    """Those of the ids that were parked; they are queued now, as if they had just come."""
    chosen = (delivery_table.c.id.in_(ids), IS_PARKED)
    rows = (
        transaction.execute(select(delivery_table.c.lane, delivery_table.c.installation_id).where(*chosen))
    ).all()
    arrivals = Counter((row.lane, row.installation_id) for row in rows)
    lanes.add_arrivals(
        transaction, [lanes.LaneArrival(key, owner, count) for (key, owner), count in arrivals.items()]
    )
    again = (
        update(delivery_table)
        .where(*chosen)
        .values(state=QUEUED, attempts=0, crashes=0, error=None, finished_at=None)
        .returning(delivery_table.c.id)
    )
    notify_workers(transaction)
    return set(transaction.execute(again).scalars())


MAX_BATCH = 512
MAX_WAITING_DELIVERIES = 4096
"""More than this many at the door wait outside."""
CROWD_SIZE = 16
CROWD_SECONDS = 0.5
COMMIT_TIMEOUT = 9.0
"""Seconds; GitHub hangs up after ten."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    delivery: Delivery
    position: int
    answer: asyncio.Future[Acceptance]


class GroupCommit:
    """One writer that commits all that waits, and only then answers."""

    def __init__(self, database: Database, wakes: LaneWakes) -> None:
        self._database = database
        self._wakes = wakes
        self._queue: asyncio.Queue[_Waiting | None] = asyncio.Queue(MAX_WAITING_DELIVERIES)
        # Starts from the time, so that the order holds over a restart even if a clock stands still.
        self._positions = itertools.count(time.time_ns())
        self._closed = False
        self._inside = 0
        self._crowded_until = 0.0
        self._writer = asyncio.create_task(self._write(), name="inbox writer")

    async def accept(self, delivery: Delivery) -> Acceptance:
        """Return only when the delivery is safe on disk, or known already."""
        if self._closed:
            raise StoreUnavailable("the store is closing")
        answer: asyncio.Future[Acceptance] = asyncio.get_running_loop().create_future()
        self._enter()
        try:
            async with asyncio.timeout(COMMIT_TIMEOUT):
                await self._queue.put(_Waiting(delivery, next(self._positions), answer))
                return await answer
        except TimeoutError:
            raise StoreUnavailable("the store did not answer in time") from None
        finally:
            self._inside -= 1

    @property
    def is_crowded(self) -> bool:
        """Many wait for their acknowledgement at once, or did a moment ago."""
        return time.monotonic() < self._crowded_until

    def _enter(self) -> None:
        self._inside += 1
        if self._inside >= CROWD_SIZE:
            # For a moment longer than it lasts: whoever is answered comes back with the next one.
            self._crowded_until = time.monotonic() + CROWD_SECONDS

    async def close(self) -> None:
        """Commit what waits, then take nothing more."""
        self._closed = True
        await self._queue.put(None)
        await self._writer

    async def _write(self) -> None:
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
            self._wakes.wake()

    async def _commit(self, batch: Sequence[_Waiting]) -> set[str]:
        """The ids that were queued by this batch."""
        first = {waiting.delivery.id: waiting for waiting in reversed(batch)}
        queued, parked = await self._database.write(lambda transaction: _take(transaction, first))
        # Accepting locks deliveries before lanes, a turn lanes before deliveries. The two never meet
        # as long as accepting touches no row that exists, so these have a transaction of their own.
        if parked:
            queued |= await self._database.write(lambda transaction: requeue_parked(transaction, parked))
        return queued


def _take(transaction: Transaction, first: Mapping[str, _Waiting]) -> tuple[set[str], set[str]]:
    """The ids that were not known and are queued now, and those that were known as parked."""
    queued = _insert(transaction, [first[key] for key in sorted(first)])
    _arrive(transaction, [first[key].delivery for key in queued])
    notify_workers(transaction)
    known = first.keys() - queued
    return queued, _parked(transaction, known) if known else set()


def _insert(transaction: Transaction, batch: Sequence[_Waiting]) -> set[str]:
    # By id, in ascending order: two instances that are given the same deliveries would else deadlock.
    told = transaction.told
    rows = [_row(waiting) | told for waiting in batch]
    return set(transaction.execute(_inserted(transaction.words), rows).scalars())


@cache
def _inserted(words: Dialect) -> Insert:
    return (
        words.insert(delivery_table)
        .values(accepted_at=words.now, state=QUEUED, attempts=0)
        .on_conflict_do_nothing(index_elements=[delivery_table.c.id])
        .returning(delivery_table.c.id)
    )


def _arrive(transaction: Transaction, fresh: Sequence[Delivery]) -> None:
    arrivals = Counter(one.lane for one in fresh)
    installations = {one.lane: one.installation_id for one in fresh}
    lanes.add_arrivals(
        transaction, [lanes.LaneArrival(lane, installations[lane], count) for lane, count in arrivals.items()]
    )


def _parked(transaction: Transaction, ids: Collection[str]) -> set[str]:
    return set(transaction.execute(_PARKED, {"ids": tuple(ids)}).scalars())


_PARKED = select(delivery_table.c.id).where(
    delivery_table.c.id.in_(bindparam("ids", expanding=True)), IS_PARKED
)


def _row(waiting: _Waiting) -> dict[str, object]:
    one = waiting.delivery
    return {
        "id": one.id,
        "event": one.event,
        "lane": one.lane,
        "installation_id": one.installation_id,
        "body": one.body,
        "received_at": one.received_at.timestamp(),
        "position": waiting.position,
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
