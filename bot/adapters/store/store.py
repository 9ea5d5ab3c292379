"""The store as the engine sees it: each promise of the port, one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from bot.adapters.store import (
    budget,
    configs,
    deliveries,
    lanes,
    memory_erasure,
    memory_homes,
    outbox,
    parking,
    reconciling,
    records,
    refusals,
    retention,
    turns,
)
from bot.adapters.store import recorded as listing
from bot.adapters.store.database import Database
from bot.adapters.store.due import follow_clock
from bot.adapters.store.inbox import GroupCommit
from bot.adapters.store.memory_access import SqlMemory
from bot.adapters.store.transaction import Result, Transaction, Work, moment
from bot.adapters.store.wakes import Wakes
from bot.domain.diagnosis import Waiting
from bot.domain.effects import Effect
from bot.domain.model import PullRequest, Sticky
from bot.ports import (
    Acceptance,
    Claim,
    Delivery,
    Fenced,
    Kept,
    KeptConfig,
    OutboxRow,
    Parked,
    PostedComment,
    ReconcileOutcome,
    ReconcileRun,
    Refusal,
    StoreUnavailable,
    Turn,
)


class SqlStore:
    """`bot.ports.Store` on SQLite or PostgreSQL."""

    def __init__(
        self,
        database: Database,
        inbox: GroupCommit,
        wakes: Wakes,
        instance: str,
        lease: float = lanes.LEASE,
    ) -> None:
        self.instance = instance
        self._lease = lease
        self._database = database
        self._inbox = inbox
        self._wakes = wakes
        self._held: dict[str, int] = {}
        self.memory = SqlMemory(database)

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
                lanes.free_all(transaction)
            lanes.beat(transaction, self.instance)

        await self._database.write(begin)

    async def leave(self) -> None:
        """Be no instance any more; whatever it still owns is anybody's."""
        await self._database.write(lambda transaction: lanes.leave(transaction, self.instance))

    async def accept(self, delivery: Delivery) -> Acceptance:
        """Return only when the delivery is safe on disk, or known already."""
        return await self._inbox.accept(delivery)

    async def claim(self, limit: int) -> tuple[Claim, ...]:
        """Own up to `limit` lanes that are due, every installation's oldest first."""
        who = self._claimant
        claims = await self._database.write(lambda transaction: turns.claim(transaction, who, limit))
        self._held |= {claim.lane: claim.fence for claim in claims}
        return claims

    async def load(self, lane: str) -> PullRequest | None:
        """What is recorded about the pull request of this lane."""
        return await self._database.read(lambda transaction: records.load(transaction, lane))

    async def numbers_at(self, repository_id: int, head: str) -> tuple[int, ...]:
        """The open pull requests of a repository that have this head, as far as recorded."""
        return await self._database.read(
            lambda transaction: records.numbers_at(transaction, repository_id, head)
        )

    async def apply(self, claim: Claim, turn: Turn) -> tuple[OutboxRow, ...]:
        """Write records, outbox and deliveries in one transaction; return the rows now owed."""
        applied = await self._holding(claim, lambda transaction: turns.apply(transaction, claim.lane, turn))
        for which in turns.told_of(turn):
            # Apart: a turn that waits for other lanes than its own could wait for ever.
            await self._database.write(partial(memory_homes.hurry, repository_id=which))
        erased = turns.erased_in(turn)
        for which in erased:
            await memory_erasure.empty_bodies(self._database, which)
        if applied.emptied or erased:
            await self._database.scrub(rewrite=bool(erased))
        return applied.owed

    async def sending(self, claim: Claim, row: OutboxRow) -> OutboxRow:
        """Commit that this row is about to be sent."""
        return await self._holding(claim, lambda transaction: outbox.mark_sending(transaction, row))

    async def unsent(self, claim: Claim, row: OutboxRow) -> OutboxRow:
        """Commit that GitHub certainly did not take this row: it is ready again."""
        return await self._holding(claim, lambda transaction: outbox.mark_ready(transaction, row))

    async def sent(
        self, claim: Claim, row: OutboxRow, sticky: Sticky | None, then: tuple[Effect, ...]
    ) -> None:
        """The row is done: forget it, remember the sticky comment, owe what follows from it."""
        await self._holding(claim, lambda transaction: turns.sent(transaction, row, sticky, then))

    async def given_up(self, claim: Claim, row: OutboxRow) -> None:
        """GitHub does not take the row: forget it, and that it is shown."""
        await self._holding(claim, lambda transaction: turns.given_up(transaction, row))

    async def refusals(self, installation_id: int) -> tuple[Refusal, ...]:
        """The kinds of writes that GitHub did not take of this installation."""
        return await self._database.read(lambda transaction: refusals.known(transaction, installation_id))

    async def refused(self, refusal: Refusal) -> None:
        """GitHub has just not taken this kind of write."""
        await self._database.write(lambda transaction: refusals.note(transaction, refusal))

    async def withhold(self, claim: Claim, row: OutboxRow, refusal: Refusal) -> None:
        """The row waits until GitHub may take its kind of write."""
        await self._holding(claim, lambda transaction: refusals.withhold(transaction, row, refusal))

    async def let_again(self, installation_id: int) -> None:
        """GitHub may take everything of this installation from now on: what waited is due."""
        await self._database.write(lambda transaction: refusals.let_again(transaction, installation_id))
        self._wakes.wake()

    async def server_version(self) -> int | None:
        """The major version of the PostgreSQL that keeps everything; None on SQLite."""

        def version(transaction: Transaction) -> int | None:
            known = transaction.connection.dialect.server_version_info
            return int(known[0]) if known and transaction.shared else None

        return await self._database.read(version)

    async def waiting(self) -> tuple[Waiting, ...]:
        """The writes that wait for a permission, by repository and kind."""
        return await self._database.read(refusals.waiting)

    async def replied(
        self, claim: Claim, row: OutboxRow, posted: PostedComment, then: tuple[Effect, ...]
    ) -> None:
        """The answer of this row stands there: forget the row, owe what follows from it."""
        await self._holding(claim, lambda transaction: turns.replied(transaction, row, posted, then))

    async def told(
        self, claim: Claim, row: OutboxRow, repository_id: int, number: int, then: tuple[Effect, ...]
    ) -> None:
        """The summary issue has this number: forget the row, owe what follows from it."""
        await self._holding(
            claim, lambda transaction: turns.told(transaction, row, repository_id, number, then)
        )

    async def remember(self, claim: Claim, sticky: Sticky) -> None:
        """This is the sticky comment now, whoever changed it."""
        await self._holding(claim, lambda transaction: records.remember(transaction, claim.lane, sticky))

    async def isolate(self, claim: Claim) -> None:
        """Commit that the claim's one delivery is handled alone from now on: a crash is counted on it."""
        await self._holding(claim, lambda transaction: lanes.isolate(transaction, claim))

    async def release(self, claim: Claim, *, retry_after: float | None = None, attempt: int = 0) -> None:
        """Give the lane back: due again after `retry_after`, or when something more arrives."""
        rest = lanes.Rest(retry_after, attempt)
        try:
            due = await self._database.write(
                lambda transaction: turns.release(transaction, claim, self.instance, rest)
            )
        finally:
            # Not earlier: a claim of ours that comes in between would take the lane from this turn.
            self.abandon(claim)
        if due is not None and retry_after is None:
            self._wakes.wake()

    def abandon(self, claim: Claim) -> None:
        """This turn is over; a lane that could not be given back may be claimed again."""
        if self._held.get(claim.lane) == claim.fence:
            del self._held[claim.lane]

    async def pause(self, installation_id: int, until: datetime) -> None:
        """No lane of this installation is due before `until`."""
        await self._database.write(
            lambda transaction: lanes.pause(transaction, installation_id, until.timestamp())
        )

    async def paused_until(self, installation_id: int) -> datetime | None:
        """Until when this installation must not ask GitHub; None where it may."""
        at = await self._database.read(lambda transaction: lanes.paused_until(transaction, installation_id))
        return None if at is None else moment(at)

    async def spend(self, installation_id: int, priority: int) -> float:
        """Count one content write: 0 when it may be made now, else the seconds to wait."""
        return await self._database.write(
            lambda transaction: budget.spend(transaction, installation_id, priority)
        )

    async def config(self, key: str) -> KeptConfig | None:
        """What is kept of a config file, None where nothing was ever."""
        return await self._database.read(lambda transaction: configs.load(transaction, key))

    async def keep_config(self, key: str, installation_id: int, kept: KeptConfig) -> None:
        """This is what is known of a config file now."""
        await self._database.write(lambda transaction: configs.keep(transaction, key, installation_id, kept))

    async def beat(self) -> None:
        """Say that this instance is alive."""

        def noted(transaction: Transaction) -> None:
            follow_clock(transaction)
            lanes.beat(transaction, self.instance)

        await self._database.write(noted)

    async def beat_age(self) -> float | None:
        """Seconds since this instance's last beat as the store knows it; None where it never beat."""
        return await self._database.read(lambda transaction: lanes.beat_age(transaction, self.instance))

    async def parked(self) -> tuple[Parked, ...]:
        """The deliveries given up on, newest first."""
        return await self._database.read(parking.parked)

    async def recorded(self, repository: tuple[str, str] | None, limit: int = 500) -> tuple[PullRequest, ...]:
        """The newest pull requests of one repository, or of all, without their sticky comments."""
        return await self._database.read(lambda transaction: listing.recorded(transaction, repository, limit))

    async def retry(self, ids: tuple[str, ...]) -> int:
        """Queue parked deliveries again; returns how many."""
        queued = await self._database.write(lambda transaction: parking.requeue(transaction, ids))
        self._wakes.wake()
        return len(queued)

    async def kept(self, delivery_id: str) -> Kept | None:
        """A delivery and what became of it, None where it is not known."""
        return await self._database.read(lambda transaction: deliveries.kept(transaction, delivery_id))

    async def unfinished(self, lane: str) -> Kept | None:
        """The newest delivery of a lane that waits or was given up on."""
        return await self._database.read(lambda transaction: deliveries.unfinished(transaction, lane))

    async def queued(self, lanes: str, ids: str) -> int:
        """How many deliveries wait whose lane and id begin so."""
        return await self._database.read(lambda transaction: deliveries.queued(transaction, lanes, ids))

    async def rests_until(self, lane: str) -> datetime | None:
        """When a lane that has work is due; None where it has none."""
        at = await self._database.read(lambda transaction: lanes.rests_until(transaction, lane))
        return None if at is None else moment(at)

    async def begin_reconcile(self, every: float) -> ReconcileRun | None:
        """A run that is this instance's, at most one in so many seconds; None where none is due."""
        return await self._database.write(
            lambda transaction: reconciling.begin(transaction, self.instance, every, self._lease)
        )

    async def missed(self, ids: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many of these were never missed before; how often each that never came was asked for."""
        return await self._database.write(lambda transaction: reconciling.missed(transaction, ids))

    async def asked_for(self, delivery_id: str) -> None:
        """GitHub was asked for this delivery once more."""
        await self._database.write(lambda transaction: reconciling.asked_for(transaction, delivery_id))

    async def end_reconcile(self, outcome: ReconcileOutcome) -> None:
        """Note what this instance's run has done."""
        await self._database.write(lambda transaction: reconciling.end(transaction, self.instance, outcome))

    async def sweep(self) -> int:
        """Forget what is older than its retention; returns how many rows changed."""
        return await retention.sweep(self._database)

    async def next_due(self) -> float | None:
        """Seconds until the next lane is due, None when none is."""
        who = self._claimant
        return await self._database.read(lambda transaction: lanes.seconds_until_due(transaction, who))

    @property
    def _claimant(self) -> lanes.Claimant:
        return lanes.Claimant(self.instance, tuple(self._held), self._lease)

    async def _holding(self, claim: Claim, work: Work[Result]) -> Result:
        """The work's result; nothing is written where somebody else owns the lane by now."""

        def held(transaction: Transaction) -> Result:
            lanes.hold(transaction, claim, self.instance)
            return work(transaction)

        try:
            return await self._database.write(held)
        except (Fenced, StoreUnavailable):
            self.abandon(claim)
            raise
