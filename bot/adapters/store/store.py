"""The store as the engine sees it: each promise of the port, one transaction."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import TypeVar

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store import budget, deliveries, lanes, outbox, parking, records, retention
from bot.adapters.store.address import Address, PostgresServer, SqliteFile, address
from bot.adapters.store.connect import connect
from bot.adapters.store.database import Clock, Database
from bot.adapters.store.inbox import GroupCommit
from bot.adapters.store.lock import WorkerLock
from bot.adapters.store.migration import migrate
from bot.adapters.store.schema import instance as instances
from bot.adapters.store.schema import lane as lane_rows
from bot.adapters.store.wakes import Wakes
from bot.domain.effects import Effect
from bot.domain.model import PullRequest, Sticky
from bot.ports import Acceptance, Claim, Delivery, Fenced, OutboxRow, Parked, StoreUnavailable, Turn

Row = TypeVar("Row", Delivery, OutboxRow)


@asynccontextmanager
async def open_store(
    url: str, *, worker: bool, clock: Clock | None = None, instance: str | None = None
) -> AsyncIterator[SqlStore]:
    """The store at this address, migrated; a worker's may claim, every other reads and accepts."""
    where = address(url)
    database = connect(where, clock)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        if worker and isinstance(where, SqliteFile):
            stack.callback(WorkerLock(where.path).release)
        await migrate(where, database)
        wakes = Wakes(shared=database.shared)
        stack.push_async_callback(wakes.close)
        store = SqlStore(where, database, wakes, instance or _name())
        stack.push_async_callback(store.close)
        if worker:
            await store.start()
        yield store


class SqlStore:
    """`bot.ports.Store` on SQLite or PostgreSQL."""

    def __init__(self, where: Address, database: Database, wakes: Wakes, instance: str) -> None:
        self.instance = instance
        self.where = where
        self._database = database
        self._wakes = wakes
        self._inbox = GroupCommit(database, wakes)
        self._held: dict[str, int] = {}

    @property
    def wakes(self) -> asyncio.Event:
        """Set when something may have become due; whoever waits for it clears it."""
        return self._wakes.event

    async def start(self) -> None:
        """Be an instance that works: beating, and listening for arrivals elsewhere."""
        async with self._database.write() as connection:
            if not self._database.shared:
                # We hold the file's lock, so every other owner is gone.
                await connection.execute(update(lane_rows).values(owner=None))
            await lanes.beat(self._database, connection, self.instance)
        if isinstance(self.where, PostgresServer):
            await self._wakes.listen(self.where.dsn)

    async def close(self) -> None:
        """Commit what waits at the door."""
        await self._inbox.close()

    async def accept(self, delivery: Delivery) -> Acceptance:
        """Return only when the delivery is safe on disk, or known already."""
        return await self._inbox.accept(delivery)

    async def claim(self, limit: int) -> tuple[Claim, ...]:
        """Own up to `limit` lanes that are due, every installation's oldest first."""
        async with self._database.write() as connection:
            taken = await lanes.take(self._database, connection, self._claimant, limit)
            keys = [row.key for row in taken]
            waiting = _by_lane(await deliveries.waiting(connection, keys)) if keys else {}
            owed = _by_lane(await outbox.owed(connection, keys)) if keys else {}
        self._held |= {row.key: row.fence for row in taken}
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

    async def load(self, lane: str) -> PullRequest | None:
        """What is recorded about the pull request of this lane."""
        async with self._database.read() as connection:
            return await records.load(connection, lane)

    async def apply(self, claim: Claim, turn: Turn) -> tuple[OutboxRow, ...]:
        """Write records, outbox and deliveries in one transaction; return the rows now owed."""
        database = self._database
        async with self._holding(claim) as connection:
            if turn.pull_request:
                await records.save(database, connection, claim.lane, turn.pull_request)
                if turn.pull_request.sticky:
                    await records.remember(database, connection, claim.lane, turn.pull_request.sticky)
            await deliveries.finish(database, connection, claim.lane, turn.done)
            await deliveries.park(database, connection, claim.lane, turn.parked)
            return await outbox.owe(database, connection, claim.lane, turn.effects)

    async def sending(self, claim: Claim, row: OutboxRow) -> OutboxRow:
        """Commit that this row is about to be sent."""
        async with self._holding(claim) as connection:
            return await outbox.mark_sending(self._database, connection, row)

    async def unsent(self, claim: Claim, row: OutboxRow) -> OutboxRow:
        """Commit that GitHub certainly did not take this row: it is as if it was never sent."""
        async with self._holding(claim) as connection:
            return await outbox.mark_ready(connection, row)

    async def sent(
        self, claim: Claim, row: OutboxRow, sticky: Sticky | None, then: tuple[Effect, ...]
    ) -> None:
        """The row is done: forget it, remember the sticky comment, owe what follows from it."""
        async with self._holding(claim) as connection:
            await outbox.forget(connection, row)
            if sticky:
                await records.remember(self._database, connection, claim.lane, sticky)
            if then:
                await outbox.owe(self._database, connection, claim.lane, then)

    async def remember(self, claim: Claim, sticky: Sticky) -> None:
        """This is the sticky comment now, whoever changed it."""
        async with self._holding(claim) as connection:
            await records.remember(self._database, connection, claim.lane, sticky)

    async def release(self, claim: Claim, *, retry_after: float | None = None, attempt: int = 0) -> None:
        """Give the lane back: due again after `retry_after`, or when something more arrives."""
        try:
            async with self._database.write() as connection:
                due = await lanes.give_back(
                    self._database, connection, claim, self.instance, lanes.Rest(retry_after, attempt)
                )
                if attempt > claim.attempt:
                    await deliveries.count_attempt(connection, claim)
        finally:
            # Not earlier: a claim of ours that comes in between would take the lane from this turn.
            self.abandon(claim)
        if due is not None and retry_after is None:
            self._wakes.here()

    def abandon(self, claim: Claim) -> None:
        """This turn is over; a lane that could not be given back may be claimed again."""
        if self._held.get(claim.lane) == claim.fence:
            del self._held[claim.lane]

    async def pause(self, installation_id: int, until: datetime) -> None:
        """No lane of this installation is due before `until`."""
        async with self._database.write() as connection:
            await lanes.pause(self._database, connection, installation_id, until.timestamp())

    async def spend(self, installation_id: int, priority: int) -> float:
        """Count one content write: 0 when it may be made now, else the seconds to wait."""
        async with self._database.write() as connection:
            return await budget.spend(self._database, connection, installation_id, priority)

    async def beat(self) -> None:
        """Say that this instance is alive."""
        async with self._database.write() as connection:
            await lanes.beat(self._database, connection, self.instance)

    async def beat_age(self) -> float | None:
        """Seconds since this instance's last beat as the store knows it, None where it never beat."""
        age = select(self._database.now - instances.c.beat_at).where(instances.c.id == self.instance)
        async with self._database.read() as connection:
            return (await connection.execute(age)).scalar()

    async def parked(self) -> tuple[Parked, ...]:
        """The deliveries given up on, newest first."""
        async with self._database.read() as connection:
            return await parking.parked(connection)

    async def retry(self, ids: tuple[str, ...]) -> int:
        """Queue parked deliveries again; returns how many."""
        async with self._database.write() as connection:
            queued = await parking.requeue(self._database, connection, ids)
            await self._wakes.elsewhere(connection)
        self._wakes.here()
        return len(queued)

    async def sweep(self) -> int:
        """Forget what is older than its retention; returns how many rows changed."""
        return await retention.sweep(self._database)

    async def next_due(self) -> float | None:
        """Seconds until the next lane is due, None when none is."""
        async with self._database.read() as connection:
            return await lanes.seconds_until_due(self._database, connection, self._claimant)

    @property
    def _claimant(self) -> lanes.Claimant:
        return lanes.Claimant(self.instance, tuple(self._held))

    @asynccontextmanager
    async def _holding(self, claim: Claim) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._database.write() as connection:
                await lanes.hold(connection, claim, self.instance)
                yield connection
        except (Fenced, StoreUnavailable):
            self.abandon(claim)
            raise


def _by_lane(rows: Iterable[Row]) -> dict[str, tuple[Row, ...]]:
    return {lane: tuple(group) for lane, group in groupby(rows, key=attrgetter("lane"))}


def _name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
