"""How does a delivery come to rest on disk before it is acknowledged?"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from sqlalchemy import Insert, bindparam, select

from bot.adapters.store import lanes, parking
from bot.adapters.store.database import Database
from bot.adapters.store.schema import IS_PARKED, QUEUED, delivery
from bot.adapters.store.transaction import Transaction, Words
from bot.adapters.store.wakes import Wakes, wake_others
from bot.ports import Acceptance, Delivery, StoreUnavailable

BATCH = 512
WAITING = 4096
"""More than this many at the door wait outside."""
CROWD = 16
AFTER_A_CROWD = 0.5
PATIENCE = 9.0
"""Seconds; GitHub hangs up after ten."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    delivery: Delivery
    position: int
    answer: asyncio.Future[Acceptance]


class GroupCommit:
    """One writer that commits all that waits, and only then answers."""

    def __init__(self, database: Database, wakes: Wakes) -> None:
        self._database = database
        self._wakes = wakes
        self._queue: asyncio.Queue[_Waiting | None] = asyncio.Queue(WAITING)
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
            async with asyncio.timeout(PATIENCE):
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
        if self._inside >= CROWD:
            # For a moment longer than it lasts: whoever is answered comes back with the next one.
            self._crowded_until = time.monotonic() + AFTER_A_CROWD

    async def close(self) -> None:
        """Commit what waits, then take nothing more."""
        self._closed = True
        await self._queue.put(None)
        await self._writer

    async def _write(self) -> None:
        while (first := await self._queue.get()) is not None:
            batch = [first]
            last = False
            while len(batch) < BATCH and not self._queue.empty() and not last:
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
            queued |= await self._database.write(lambda transaction: parking.requeue(transaction, parked))
        return queued


def _take(transaction: Transaction, first: Mapping[str, _Waiting]) -> tuple[set[str], set[str]]:
    """The ids that were not known and are queued now, and those that were known as parked."""
    queued = _insert(transaction, [first[key] for key in sorted(first)])
    _arrive(transaction, [first[key].delivery for key in queued])
    wake_others(transaction)
    known = first.keys() - queued
    return queued, _parked(transaction, known) if known else set()


def _insert(transaction: Transaction, batch: Sequence[_Waiting]) -> set[str]:
    # By id, in ascending order: two instances that are given the same deliveries would else deadlock.
    told = transaction.told
    rows = [_row(waiting) | told for waiting in batch]
    return set(transaction.execute(_inserted(transaction.words), rows).scalars())


@cache
def _inserted(words: Words) -> Insert:
    return (
        words.insert(delivery)
        .values(accepted_at=words.now, state=QUEUED, attempts=0)
        .on_conflict_do_nothing(index_elements=[delivery.c.id])
        .returning(delivery.c.id)
    )


def _arrive(transaction: Transaction, fresh: Sequence[Delivery]) -> None:
    arrivals = Counter(one.lane for one in fresh)
    installations = {one.lane: one.installation_id for one in fresh}
    lanes.arrive(
        transaction, [lanes.Arrival(lane, installations[lane], count) for lane, count in arrivals.items()]
    )


def _parked(transaction: Transaction, ids: Collection[str]) -> set[str]:
    return set(transaction.execute(_PARKED, {"ids": tuple(ids)}).scalars())


_PARKED = select(delivery.c.id).where(delivery.c.id.in_(bindparam("ids", expanding=True)), IS_PARKED)


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
