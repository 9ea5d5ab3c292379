"""The store: every operation in one transaction."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Protocol

from bot.gates.rule_book import StoredConfig
from bot.github.model import PostedComment
from bot.history.store import HistoryReader
from bot.pull_request.effects import Effect
from bot.pull_request.model import PullRequest, StickyComment
from bot.store import deliveries, lanes, outbox, pull_requests, reconcile, repositories, retention
from bot.store import pull_requests as listing
from bot.store.database import (
    Database,
    PostgresServer,
    SqliteFile,
    StoreAddress,
    StoreClock,
    Transaction,
    TransactionWork,
    WorkResult,
    parse_store_url,
    to_datetime,
)
from bot.store.deliveries import GroupCommit
from bot.store.dialects import WorkerLock
from bot.store.lanes import LEASE_SECONDS, LaneWakes, follow_clock
from bot.store.model import (
    Acceptance,
    BlockedWrites,
    Delivery,
    LaneClaim,
    LaneFenced,
    OutboxRow,
    ParkedDelivery,
    PermissionBlock,
    ReconcileOutcome,
    ReconcileRun,
    StoredDelivery,
    StoreUnavailable,
    TurnResult,
)
from bot.store.schema import migrate
from bot.turn import queries as turn_queries
from bot.turn.queries import StoredHistory


class SqlStore:
    """The store on SQLite or PostgreSQL: each method is one transaction."""

    def __init__(
        self,
        database: Database,
        inbox: GroupCommit,
        wakes: LaneWakes,
        instance: str,
        lease: float = lanes.LEASE_SECONDS,
    ) -> None:
        self.instance = instance
        self._lease = lease
        self._database = database
        self._inbox = inbox
        self._wakes = wakes
        self._held: dict[str, int] = {}
        self.memory = StoredHistory(database)

    @property
    def wakes(self) -> asyncio.Event:
        """Set when something may have become due; whoever waits for it clears it."""
        return self._wakes.event

    @property
    def is_crowded(self) -> bool:
        """Deliveries crowd at this process's door: whatever else it does can wait a little."""
        return self._inbox.is_crowded

    async def start(self, *, alone: bool) -> None:
        """Be an instance that works; one that is alone knows that every earlier owner is gone."""

        def begin(transaction: Transaction) -> None:
            follow_clock(transaction)
            if alone:
                lanes.release_all_lanes(transaction)
            lanes.record_heartbeat(transaction, self.instance)

        await self._database.write(begin)

    async def leave(self) -> None:
        """Be no instance any more; whatever it still owns is anybody's."""
        await self._database.write(lambda transaction: lanes.leave(transaction, self.instance))

    async def accept(self, delivery: Delivery) -> Acceptance:
        """Return only when the delivery is safe on disk, or known already."""
        return await self._inbox.accept(delivery)

    async def claim(self, limit: int) -> tuple[LaneClaim, ...]:
        """Own up to `limit` lanes that are due, every installation's oldest first."""
        who = self._claimant
        claims = await self._database.write(
            lambda transaction: turn_queries.claim_lanes(transaction, who, limit)
        )
        self._held |= {claim.lane: claim.fence for claim in claims}
        return claims

    async def load(self, lane: str) -> PullRequest | None:
        """What is recorded about the pull request of this lane."""
        return await self._database.read(
            lambda transaction: pull_requests.load_pull_request(transaction, lane)
        )

    async def numbers_at(self, repository_id: int, head: str) -> tuple[int, ...]:
        """The open pull requests of a repository that have this head, as far as recorded."""
        return await self._database.read(
            lambda transaction: pull_requests.find_numbers_at_head(transaction, repository_id, head)
        )

    async def apply(self, claim: LaneClaim, turn: TurnResult) -> tuple[OutboxRow, ...]:
        """Write records, outbox and deliveries in one transaction; return the rows now owed."""
        applied = await self._holding(
            claim, lambda transaction: turn_queries.apply_turn(transaction, claim.lane, turn)
        )
        for which in turn_queries.repositories_of_turn(turn):
            # Apart: a turn that waits for other lanes than its own could wait for ever.
            await self._database.write(partial(repositories.wake_lanes, repository_id=which))
        erased = turn_queries.erased_in(turn)
        for which in erased:
            await repositories.empty_bodies(self._database, which)
        if applied.emptied or erased:
            await self._database.scrub(rewrite=bool(erased))
        return applied.owed

    async def sending(self, claim: LaneClaim, row: OutboxRow) -> OutboxRow:
        """Commit that this row is about to be sent."""
        return await self._holding(claim, lambda transaction: outbox.mark_sending(transaction, row))

    async def unsent(self, claim: LaneClaim, row: OutboxRow) -> OutboxRow:
        """Commit that GitHub certainly did not take this row: it is ready again."""
        return await self._holding(claim, lambda transaction: outbox.mark_ready(transaction, row))

    async def sent(
        self, claim: LaneClaim, row: OutboxRow, sticky: StickyComment | None, then: tuple[Effect, ...]
    ) -> None:
        """The row is done: forget it, remember the sticky comment, owe what follows from it."""
        await self._holding(claim, lambda transaction: turn_queries.mark_sent(transaction, row, sticky, then))

    async def given_up(self, claim: LaneClaim, row: OutboxRow) -> None:
        """GitHub does not take the row: forget it, and that it is shown."""
        await self._holding(claim, lambda transaction: turn_queries.give_up_write(transaction, row))

    async def refusals(self, installation_id: int) -> tuple[PermissionBlock, ...]:
        """The kinds of writes that GitHub did not take of this installation."""
        return await self._database.read(lambda transaction: outbox.load_blocks(transaction, installation_id))

    async def refused(self, refusal: PermissionBlock) -> None:
        """GitHub has just not taken this kind of write."""
        await self._database.write(lambda transaction: outbox.save_block(transaction, refusal))

    async def withhold(self, claim: LaneClaim, row: OutboxRow, refusal: PermissionBlock) -> None:
        """The row waits until GitHub may take its kind of write."""
        await self._holding(claim, lambda transaction: outbox.block_row(transaction, row, refusal))

    async def let_again(self, installation_id: int) -> None:
        """GitHub may take everything of this installation from now on: what waited is due."""
        await self._database.write(lambda transaction: outbox.clear_blocks(transaction, installation_id))
        self._wakes.wake()

    async def server_version(self) -> int | None:
        """The major version of the PostgreSQL that keeps everything; None on SQLite."""

        def version(transaction: Transaction) -> int | None:
            known = transaction.connection.dialect.server_version_info
            return int(known[0]) if known and transaction.shared else None

        return await self._database.read(version)

    async def waiting(self) -> tuple[BlockedWrites, ...]:
        """The writes that wait for a permission, by repository and kind."""
        return await self._database.read(outbox.load_blocked_writes)

    async def replied(
        self, claim: LaneClaim, row: OutboxRow, posted: PostedComment, then: tuple[Effect, ...]
    ) -> None:
        """The answer of this row stands there: forget the row, owe what follows from it."""
        await self._holding(
            claim, lambda transaction: turn_queries.mark_replied(transaction, row, posted, then)
        )

    async def told(
        self, claim: LaneClaim, row: OutboxRow, repository_id: int, number: int, then: tuple[Effect, ...]
    ) -> None:
        """The summary issue has this number: forget the row, owe what follows from it."""
        await self._holding(
            claim,
            lambda transaction: turn_queries.mark_week_posted(transaction, row, repository_id, number, then),
        )

    async def remember(self, claim: LaneClaim, sticky: StickyComment) -> None:
        """This is the sticky comment now, whoever changed it."""
        await self._holding(
            claim, lambda transaction: pull_requests.save_sticky(transaction, claim.lane, sticky)
        )

    async def isolate(self, claim: LaneClaim) -> None:
        """Commit that the claim's one delivery is handled alone from now on: a crash is counted on it."""
        await self._holding(claim, lambda transaction: lanes.isolate_lane(transaction, claim))

    async def release(self, claim: LaneClaim, *, retry_after: float | None = None, attempt: int = 0) -> None:
        """Give the lane back: due again after `retry_after`, or when something more arrives."""
        rest = lanes.LaneRest(retry_after, attempt)
        try:
            due = await self._database.write(
                lambda transaction: turn_queries.release_lane(transaction, claim, self.instance, rest)
            )
        finally:
            # Not earlier: a claim of ours that comes in between would take the lane from this turn.
            self.abandon(claim)
        if due is not None and retry_after is None:
            self._wakes.wake()

    def abandon(self, claim: LaneClaim) -> None:
        """This turn is over; a lane that could not be given back may be claimed again."""
        if self._held.get(claim.lane) == claim.fence:
            del self._held[claim.lane]

    async def pause(self, installation_id: int, until: datetime) -> None:
        """No lane of this installation is due before `until`."""
        await self._database.write(
            lambda transaction: lanes.pause_installation(transaction, installation_id, until.timestamp())
        )

    async def paused_until(self, installation_id: int) -> datetime | None:
        """Until when this installation must not ask GitHub; None where it may."""
        at = await self._database.read(
            lambda transaction: lanes.installation_paused_until(transaction, installation_id)
        )
        return None if at is None else to_datetime(at)

    async def spend(self, installation_id: int, priority: int) -> float:
        """Count one content write: 0 when it may be made now, else the seconds to wait."""
        return await self._database.write(
            lambda transaction: outbox.spend_write(transaction, installation_id, priority)
        )

    async def config(self, key: str) -> StoredConfig | None:
        """What is kept of a config file, None where nothing was ever."""
        return await self._database.read(
            lambda transaction: repositories.load_stored_config(transaction, key)
        )

    async def keep_config(self, key: str, installation_id: int, kept: StoredConfig) -> None:
        """This is what is known of a config file now."""
        await self._database.write(
            lambda transaction: repositories.save_stored_config(transaction, key, installation_id, kept)
        )

    async def beat(self) -> None:
        """Say that this instance is alive."""

        def noted(transaction: Transaction) -> None:
            follow_clock(transaction)
            lanes.record_heartbeat(transaction, self.instance)

        await self._database.write(noted)

    async def beat_age(self) -> float | None:
        """Seconds since this instance's last beat as the store knows it; None where it never beat."""
        return await self._database.read(lambda transaction: lanes.heartbeat_age(transaction, self.instance))

    async def parked(self) -> tuple[ParkedDelivery, ...]:
        """The deliveries given up on, newest first."""
        return await self._database.read(deliveries.load_parked)

    async def load_newest(
        self, repository: tuple[str, str] | None, limit: int = 500
    ) -> tuple[PullRequest, ...]:
        """The newest pull requests of one repository, or of all, without their sticky comments."""
        return await self._database.read(
            lambda transaction: listing.load_newest_pull_requests(transaction, repository, limit)
        )

    async def retry(self, ids: tuple[str, ...]) -> int:
        """Queue parked deliveries again; returns how many."""
        queued = await self._database.write(lambda transaction: deliveries.requeue_parked(transaction, ids))
        self._wakes.wake()
        return len(queued)

    async def kept(self, delivery_id: str) -> StoredDelivery | None:
        """A delivery and what became of it, None where it is not known."""
        return await self._database.read(
            lambda transaction: deliveries.load_delivery(transaction, delivery_id)
        )

    async def unfinished(self, lane: str) -> StoredDelivery | None:
        """The newest delivery of a lane that waits or was given up on."""
        return await self._database.read(lambda transaction: deliveries.find_unfinished(transaction, lane))

    async def queued(self, lanes: str, ids: str) -> int:
        """How many deliveries wait whose lane and id begin so."""
        return await self._database.read(lambda transaction: deliveries.count_queued(transaction, lanes, ids))

    async def rests_until(self, lane: str) -> datetime | None:
        """When a lane that has work is due; None where it has none."""
        at = await self._database.read(lambda transaction: lanes.lane_due_at(transaction, lane))
        return None if at is None else to_datetime(at)

    async def begin_reconcile(self, every: float) -> ReconcileRun | None:
        """A run that is this instance's, at most one in so many seconds; None where none is due."""
        return await self._database.write(
            lambda transaction: reconcile.begin(transaction, self.instance, every, self._lease)
        )

    async def missed(self, ids: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many of these were never missed before; how often each that never came was asked for."""
        return await self._database.write(lambda transaction: reconcile.missed(transaction, ids))

    async def asked_for(self, delivery_id: str) -> None:
        """GitHub was asked for this delivery once more."""
        await self._database.write(lambda transaction: reconcile.asked_for(transaction, delivery_id))

    async def end_reconcile(self, outcome: ReconcileOutcome) -> None:
        """Note what this instance's run has done."""
        await self._database.write(lambda transaction: reconcile.end(transaction, self.instance, outcome))

    async def sweep(self) -> int:
        """Forget what is older than its retention; returns how many rows changed."""
        return await retention.sweep_store(self._database)

    async def next_due(self) -> float | None:
        """Seconds until the next lane is due, None when none is."""
        who = self._claimant
        return await self._database.read(lambda transaction: lanes.seconds_until_due(transaction, who))

    @property
    def _claimant(self) -> lanes.Claimant:
        return lanes.Claimant(self.instance, tuple(self._held), self._lease)

    async def _holding(self, claim: LaneClaim, work: TransactionWork[WorkResult]) -> WorkResult:
        """The work's result; nothing is written where somebody else owns the lane by now."""

        def held(transaction: Transaction) -> WorkResult:
            lanes.hold_lane(transaction, claim, self.instance)
            return work(transaction)

        try:
            return await self._database.write(held)
        except (LaneFenced, StoreUnavailable):
            self.abandon(claim)
            raise


@asynccontextmanager
async def open_store(
    url: str,
    *,
    worker: bool,
    clock: StoreClock | None = None,
    instance: str | None = None,
    lease: float = LEASE_SECONDS,
) -> AsyncIterator[SqlStore]:
    """The store at this address, migrated; a worker's may claim, every other reads and accepts."""
    where = parse_store_url(url)
    async with AsyncExitStack() as stack:
        database = connect_database(where, clock)
        stack.push_async_callback(database.close)
        if worker and isinstance(where, SqliteFile):
            stack.callback(WorkerLock(where.path).release)
        await migrate(database)
        wakes = LaneWakes()
        stack.push_async_callback(wakes.close)
        inbox = GroupCommit(database, wakes)
        stack.push_async_callback(inbox.close)
        store = SqlStore(database, inbox, wakes, instance or _name(), lease)
        if worker:
            await store.start(alone=isinstance(where, SqliteFile))
            stack.push_async_callback(_left, store)
            if isinstance(where, PostgresServer):
                await wakes.listen(where.dsn)
        yield store


async def _left(store: SqlStore) -> None:
    with suppress(StoreUnavailable):  # then the others notice after a while
        await store.leave()


def connect_database(where: StoreAddress, clock: StoreClock | None) -> Database:
    """The database at this address; nothing is opened before its first use."""
    if isinstance(where, PostgresServer):
        from bot.store.dialects import PostgresDatabase

        return PostgresDatabase(where, clock)
    from bot.store.dialects import SqliteDatabase

    return SqliteDatabase(where.path, clock)


def _name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


class DeliveryInbox(Protocol):
    """The door's side of the store."""

    async def accept(self, delivery: Delivery) -> Acceptance:
        """Return only when the delivery is safe on disk, or known already."""
        ...


class Store(DeliveryInbox, Protocol):
    """Everything that survives a restart."""

    @property
    def wakes(self) -> asyncio.Event:
        """Set when something may have become due; whoever waits for it clears it."""
        ...

    @property
    def is_crowded(self) -> bool:
        """Deliveries crowd at this process's door: whatever else it does can wait a little."""
        ...

    async def claim(self, limit: int) -> tuple[LaneClaim, ...]:
        """Own up to `limit` lanes that are due, oldest first."""
        ...

    async def load(self, lane: str) -> PullRequest | None:
        """What is recorded about the pull request of this lane."""
        ...

    async def numbers_at(self, repository_id: int, head: str) -> tuple[int, ...]:
        """The open pull requests of a repository that have this head, as far as recorded."""
        ...

    async def apply(self, claim: LaneClaim, turn: TurnResult) -> tuple[OutboxRow, ...]:
        """Write records, outbox and deliveries in one transaction; return the rows now owed."""
        ...

    async def sending(self, claim: LaneClaim, row: OutboxRow) -> OutboxRow:
        """Commit that this row is about to be sent."""
        ...

    async def unsent(self, claim: LaneClaim, row: OutboxRow) -> OutboxRow:
        """Commit that GitHub certainly did not take this row: it is ready again."""
        ...

    async def sent(
        self, claim: LaneClaim, row: OutboxRow, sticky: StickyComment | None, then: tuple[Effect, ...]
    ) -> None:
        """The row is done: forget it, remember the sticky comment, owe what follows from it."""
        ...

    async def given_up(self, claim: LaneClaim, row: OutboxRow) -> None:
        """GitHub does not take the row: forget it, and that it is shown, so that it is owed again later."""
        ...

    async def refusals(self, installation_id: int) -> tuple[PermissionBlock, ...]:
        """The kinds of writes that GitHub did not take of this installation."""
        ...

    async def refused(self, refusal: PermissionBlock) -> None:
        """GitHub has just not taken this kind of write."""
        ...

    async def withhold(self, claim: LaneClaim, row: OutboxRow, refusal: PermissionBlock) -> None:
        """The row waits until GitHub may take its kind of write; a newer one of its target replaces it."""
        ...

    async def let_again(self, installation_id: int) -> None:
        """GitHub may take everything of this installation from now on: what waited is due."""
        ...

    @property
    def memory(self) -> HistoryReader:
        """What is remembered beyond one pull request."""
        ...

    async def replied(
        self, claim: LaneClaim, row: OutboxRow, posted: PostedComment, then: tuple[Effect, ...]
    ) -> None:
        """The answer of this row stands there: forget the row, owe what follows from it."""
        ...

    async def told(
        self, claim: LaneClaim, row: OutboxRow, repository_id: int, number: int, then: tuple[Effect, ...]
    ) -> None:
        """The summary issue has this number: forget the row, owe what follows from it."""
        ...

    async def remember(self, claim: LaneClaim, sticky: StickyComment) -> None:
        """This is the sticky comment now, whoever changed it."""
        ...

    async def isolate(self, claim: LaneClaim) -> None:
        """Commit that the claim's one delivery is handled alone from now on: a crash is counted on it."""
        ...

    async def release(self, claim: LaneClaim, *, retry_after: float | None = None, attempt: int = 0) -> None:
        """Give the lane back: due again after `retry_after`, or when something more arrives.

        Without `retry_after` the turn is finished, and the lane's count of crashes starts over.
        """
        ...

    def abandon(self, claim: LaneClaim) -> None:
        """This turn is over, even if the lane could not be given back: it may be claimed again."""
        ...

    async def pause(self, installation_id: int, until: datetime) -> None:
        """No lane of this installation is due before `until`."""
        ...

    async def spend(self, installation_id: int, priority: int) -> float:
        """Count one content write (0 rejection, 1 reply, 2 summary): 0 to go ahead, else seconds to wait."""
        ...

    async def beat(self) -> None:
        """Say that this instance is alive."""
        ...

    async def beat_age(self) -> float | None:
        """Seconds since this instance's last beat as the store knows it; None where it never beat."""
        ...

    async def kept(self, delivery_id: str) -> StoredDelivery | None:
        """A delivery and what became of it, None where it is not known."""
        ...

    async def parked(self) -> tuple[ParkedDelivery, ...]:
        """The deliveries given up on, newest first."""
        ...

    async def retry(self, ids: tuple[str, ...]) -> int:
        """Queue parked deliveries again; returns how many."""
        ...

    async def queued(self, lanes: str, ids: str) -> int:
        """How many deliveries wait whose lane and id begin so."""
        ...

    async def sweep(self) -> int:
        """Forget what is older than its retention; returns how many rows changed."""
        ...

    async def next_due(self) -> float | None:
        """Seconds until the next lane is due, None when none is."""
        ...


"""What a delivery says to us."""
"""A delivery about a commit as it goes to one of its pull requests."""
