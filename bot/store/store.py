"""The store of one instance: run queries in transactions, claim and release lanes, accept deliveries."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from bot.gates.rule_book import StoredConfig
from bot.store import deliveries, lanes, outbox, pull_requests, reconcile, repositories, retention
from bot.store.database import (
    StoreAddress,
    StoreClock,
    Transaction,
    TransactionWork,
    WorkResult,
    parse_store_url,
)
from bot.store.deliveries import GroupCommit
from bot.store.dialects import Database, PostgresDatabase, SqliteDatabase, WorkerLock
from bot.store.lanes import LEASE_SECONDS, LaneWakes, follow_clock
from bot.store.model import (
    Acceptance,
    Delivery,
    LaneClaim,
    LaneFenced,
    OutboxRow,
    ReconcileOutcome,
    StoreUnavailable,
)
from bot.store.schema import migrate

LaneRow = TypeVar("LaneRow", Delivery, OutboxRow)
Arguments = ParamSpec("Arguments")
Query = Callable[Concatenate[Transaction, Arguments], WorkResult]
"""A function over a transaction; it can be run again from the start where the transaction was rolled back."""


BURST_LANES = 4
COMMIT_WINDOW = 0.004
"""Seconds for which so many turns in progress wait for each other, to share a commit of SQLite's one writer.
A commit takes as long as ten statements, and the other turns go on meanwhile."""


class Store:
    """The store on SQLite or PostgreSQL, as one instance uses it: each call is one transaction."""

    def __init__(
        self,
        database: Database,
        inbox: GroupCommit,
        wakes: LaneWakes,
        instance: str,
        lease: float = LEASE_SECONDS,
    ) -> None:
        self.instance = instance
        self.database = database
        self._lease = lease
        self._inbox = inbox
        self._wakes = wakes
        self._held: dict[str, int] = {}
        self._notes: dict[tuple[str, int], list[TransactionWork[None]]] = {}
        """By lane and fence: what the lane's next transaction writes besides."""
        self._window: asyncio.Event | None = None
        """Set when those that wait for each other are written."""

    async def read(
        self, query: Query[Arguments, WorkResult], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> WorkResult:
        """Run a query that only reads; each statement sees what is committed, and waits for no writer."""
        return await self.database.read(lambda transaction: query(transaction, *args, **kwargs))

    async def write(
        self, query: Query[Arguments, WorkResult], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> WorkResult:
        """Run a query and return its result once it is committed."""
        return await self.database.write(lambda transaction: query(transaction, *args, **kwargs))

    async def write_claimed(
        self,
        claim: LaneClaim,
        query: Query[Arguments, WorkResult],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> WorkResult:
        """Run a query for a claimed lane; nothing is written where another instance owns the lane by now."""
        return await self._write_fenced(
            claim, lambda transaction: query(transaction, *args, **kwargs), durable=True
        )

    async def write_claimed_unsynced(
        self,
        claim: LaneClaim,
        query: Query[Arguments, WorkResult],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> WorkResult:
        """Like `write_claimed`, for what a power cut may undo: it does not wait for the disk."""
        return await self._write_fenced(
            claim, lambda transaction: query(transaction, *args, **kwargs), durable=False
        )

    def note_claimed(
        self,
        claim: LaneClaim,
        query: Query[Arguments, None],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> None:
        """Run a query in the lane's next transaction, at the latest in the one that releases it.

        For what GitHub shows already: if the process ends before, it is looked up there, or written again.
        """
        notes = self._notes.setdefault((claim.lane, claim.fence), [])
        notes.append(lambda transaction: query(transaction, *args, **kwargs))

    async def write_notes(self, claim: LaneClaim) -> None:
        """Commit what was noted for the lane; nothing is written if nothing was."""
        if self._notes.get((claim.lane, claim.fence)):
            await self._write_fenced(claim, lambda _transaction: None, durable=False)

    async def _write_fenced(
        self, claim: LaneClaim, work: TransactionWork[WorkResult], *, durable: bool
    ) -> WorkResult:
        notes = self._notes.get((claim.lane, claim.fence), [])
        number = len(notes)

        def write_fenced(transaction: Transaction) -> WorkResult:
            lanes.hold_lane(transaction, claim, self.instance)
            for note in notes[:number]:
                note(transaction)
            return work(transaction)

        await self._wait_for_others()
        try:
            result = await self.database.write(write_fenced, durable=durable)
        except (LaneFenced, StoreUnavailable):
            self.abandon(claim)
            raise
        del notes[:number]
        return result

    async def _wait_for_others(self) -> None:
        """Let the turns of a burst share a commit; the only one in progress never waits."""
        if len(self._held) < BURST_LANES or not self.database.in_order:
            return
        if self._window is None:
            self._window = asyncio.Event()
            asyncio.get_running_loop().call_later(COMMIT_WINDOW, self._end_window)
        await self._window.wait()

    def _end_window(self) -> None:
        if self._window:
            self._window.set()
        self._window = None

    @property
    def wakes(self) -> asyncio.Event:
        """Set when something may be due, or is about to be stored; the worker that waits for it clears it."""
        return self._wakes.event

    @property
    def crowded_seconds(self) -> float:
        """Seconds for which other work should wait for this process's deliveries; 0 if it need not."""
        return self._inbox.crowded_seconds

    async def start(self, *, alone: bool) -> None:
        """Register this instance; one that is alone knows that every earlier owner is gone."""

        def begin(transaction: Transaction) -> None:
            follow_clock(transaction)
            if alone:
                lanes.release_all_lanes(transaction)
            lanes.record_heartbeat(transaction, self.instance)

        await self.database.write(begin)

    async def leave(self) -> None:
        """Unregister this instance; any other may claim what it still owns."""
        await self.write(lanes.leave, self.instance)

    async def record_heartbeat(self) -> None:
        """Record that this instance is alive."""

        def beat(transaction: Transaction) -> None:
            follow_clock(transaction)
            lanes.record_heartbeat(transaction, self.instance)

        await self.database.write(beat, durable=False)

    async def accept(self, delivery: Delivery) -> Acceptance:
        """Return only when the delivery is safe on disk, or known already."""
        return await self._inbox.accept(delivery)

    async def claim(self, limit: int) -> tuple[LaneClaim, ...]:
        """Own up to `limit` lanes that are due, every installation's oldest first."""
        claimant = self._claimant
        # A power cut ends the owner as well.
        claims = await self.database.write(
            lambda transaction: _claim_lanes(transaction, claimant, limit), durable=False
        )
        self._held |= {claim.lane: claim.fence for claim in claims}
        return claims

    async def isolate(self, claim: LaneClaim) -> None:
        """Commit that the claim's one delivery is handled alone from now on: a crash is counted on it."""
        await self.write_claimed(claim, lanes.isolate_lane, claim)

    async def release(self, claim: LaneClaim, *, retry_after: float | None = None, attempt: int = 0) -> None:
        """Release the lane: due again after `retry_after`, or when something more arrives.

        What was noted is committed with it. Without `retry_after` the turn is finished, and the lane's count
        of crashes starts over.
        """

        def release_lane(transaction: Transaction) -> float | None:
            due = lanes.release_owned_lane(transaction, claim, self.instance, retry_after, attempt)
            if attempt > claim.attempt:
                deliveries.count_attempt(transaction, claim)
            return due

        has_notes = bool(self._notes.get((claim.lane, claim.fence)))
        try:
            if has_notes:
                due = await self._write_fenced(claim, release_lane, durable=False)
            else:
                due = await self.database.write(release_lane, durable=False)
        finally:
            # Not earlier: a claim of ours that comes in between would take the lane from this turn.
            self.abandon(claim)
        if due is not None and not retry_after:
            self._wakes.wake()

    def abandon(self, claim: LaneClaim) -> None:
        """End this turn, even if the lane could not be released: it may be claimed again."""
        self._notes.pop((claim.lane, claim.fence), None)
        if self._held.get(claim.lane) == claim.fence:
            del self._held[claim.lane]

    async def next_due(self) -> float | None:
        """Seconds until the next lane is due, None when none is."""
        return await self.read(lanes.seconds_until_due, self._claimant)

    async def retry(self, ids: tuple[str, ...]) -> int:
        """Queue parked deliveries again; returns how many."""
        queued = await self.write(deliveries.requeue_parked, ids)
        self._wakes.wake()
        return len(queued)

    async def clear_blocks(self, installation_id: int) -> None:
        """Let the installation write everything again: what waited for a permission is due."""
        await self.write(outbox.clear_blocks, installation_id)
        self._wakes.wake()

    async def config(self, key: str) -> StoredConfig | None:
        """What is kept of a config file, None if nothing was ever."""
        return await self.read(repositories.load_stored_config, key)

    async def keep_config(self, key: str, installation_id: int, kept: StoredConfig) -> None:
        """Keep what is known of a config file now."""
        await self.write(repositories.save_stored_config, key, installation_id, kept)

    async def begin_reconcile(self, every: float) -> datetime | None:
        """Begin this instance's run, at most one in `every` seconds; None if none is due."""
        return await self.write(reconcile.begin_run, self.instance, every, self._lease)

    async def end_reconcile(self, outcome: ReconcileOutcome) -> None:
        """Record what this instance's run has done."""
        await self.write(reconcile.end_run, self.instance, outcome)

    async def sweep(self) -> int:
        """Delete what is older than its retention; returns how many rows changed."""
        return await retention.sweep_store(self.database)

    @property
    def _claimant(self) -> lanes.Claimant:
        return lanes.Claimant(self.instance, tuple(self._held), self._lease)


def _claim_lanes(transaction: Transaction, claimant: lanes.Claimant, limit: int) -> tuple[LaneClaim, ...]:
    """Take lanes that are due, each with its deliveries, its pull request and what it owes."""
    rows = lanes.take_due_lanes(transaction, claimant, limit)
    if not rows:
        return ()
    keys = [row.key for row in rows]
    waiting = _by_lane(deliveries.load_waiting(transaction, keys))
    owed = _by_lane(outbox.load_owed(transaction, keys))
    senders = {(delivery.lane, delivery.installation_id) for group in waiting.values() for delivery in group}
    owners = {(row.key, row.installation_id) for row in rows}
    ownership = repositories.load_ownership(transaction, senders | owners)
    stored = pull_requests.load_stored(transaction, keys)
    return tuple(
        LaneClaim(
            lane=row.key,
            installation_id=row.installation_id,
            fence=row.fence,
            arrivals=row.arrivals,
            attempt=row.attempt,
            deliveries=waiting.get(row.key, ()),
            outbox=owed.get(row.key, ()),
            ownership=ownership.get(row.key),
            crashes=row.crashes,
            stored=stored.get(row.key),
        )
        for row in rows
    )


def _by_lane(rows: Iterable[LaneRow]) -> dict[str, tuple[LaneRow, ...]]:
    return {lane: tuple(group) for lane, group in groupby(rows, key=attrgetter("lane"))}


@asynccontextmanager
async def open_store(
    url: str,
    *,
    worker: bool,
    clock: StoreClock | None = None,
    instance: str | None = None,
    lease: float = LEASE_SECONDS,
) -> AsyncIterator[Store]:
    """Open and migrate the store at this address; a worker's may claim, every other reads and accepts."""
    address = parse_store_url(url)
    async with AsyncExitStack() as stack:
        database = connect_database(address, clock)
        stack.push_async_callback(database.close)
        if worker and isinstance(address, Path):
            stack.callback(WorkerLock(address).release)
        await migrate(database)
        wakes = LaneWakes()
        stack.push_async_callback(wakes.close)
        inbox = GroupCommit(database, wakes)
        stack.push_async_callback(inbox.close)
        name = instance or f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        store = Store(database, inbox, wakes, name, lease)
        if worker:
            await store.start(alone=isinstance(address, Path))
            stack.push_async_callback(_leave, store)
            if isinstance(address, str):
                await wakes.listen(address)
        yield store


async def _leave(store: Store) -> None:
    with suppress(StoreUnavailable):  # then the others notice after a while
        await store.leave()


def connect_database(address: StoreAddress, clock: StoreClock | None) -> Database:
    """Return the database at this address; nothing is opened before its first use."""
    return SqliteDatabase(address, clock) if isinstance(address, Path) else PostgresDatabase(address, clock)
