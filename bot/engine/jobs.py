"""How far has a job come that was handed to whoever works on this store?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.own_events import BackfillDue
from bot.engine.backfill import Writing, waiting
from bot.ports import Delivery, DeliveryState, JobFailed, Kept, Parse, Progress

LOOK_EVERY = 0.2
WORTH_SAYING = timedelta(seconds=5)
"""A lane that rests for longer is said to wait."""


class Watched(Protocol):
    """What is read of a store to follow a job."""

    async def kept(self, delivery_id: str) -> Kept | None:
        """A delivery and what became of it, None where it is not known."""
        ...

    async def queued(self, lanes: str, ids: str) -> int:
        """How many deliveries wait whose lane and id begin so."""
        ...

    async def rests_until(self, lane: str) -> datetime | None:
        """When a lane that has work is due; None where it has none."""
        ...


@dataclass(frozen=True, slots=True)
class Follower:
    """Looks at the inbox until a job is done."""

    store: Watched
    clock: Callable[[], datetime]

    async def steps(self, job: Delivery) -> AsyncIterator[Progress]:
        """How far a job of one delivery is, until it is done; raises where it was given up on."""
        while await self._is_open(job.id):
            yield Progress(0, 1, await self._waits(job.lane))
            await asyncio.sleep(LOOK_EVERY)
        yield Progress(1, 1, finished=True)

    async def backfill(self, due: BackfillDue, parse: Parse, writing: Writing) -> AsyncIterator[Progress]:
        """How far a backfill is, over all its steps, until it is done; raises where it was given up on."""
        while True:
            step = writing.step(due, self.clock())
            if await self._is_open(step.id):
                left = await self.store.queued(*waiting(due))
                yield Progress(max(due.read - left, 0), due.total, await self._waits(step.lane))
                await asyncio.sleep(LOOK_EVERY)
            elif due.closing:
                yield Progress(due.read, due.read, finished=True)
                return
            else:
                due = await self._next(due, parse, writing)

    async def _next(self, due: BackfillDue, parse: Parse, writing: Writing) -> BackfillDue:
        """The step after this one, which is written down before this one is done."""
        wanted = writing.step(replace(due, step=due.step + 1), self.clock()).id
        kept = await self.store.kept(wanted)
        found = parse(kept.delivery) if kept else None
        if not isinstance(found, BackfillDue):
            raise JobFailed("the repository is gone, or the App is no longer installed there")
        return found

    async def _is_open(self, delivery_id: str) -> bool:
        kept = await self.store.kept(delivery_id)
        if kept is None:
            raise JobFailed("a server took the job, but it keeps another store; DATABASE_URL is not the same")
        if kept.state is DeliveryState.PARKED:
            raise JobFailed(kept.error)
        return kept.state is DeliveryState.QUEUED

    async def _waits(self, lane: str) -> datetime | None:
        until = await self.store.rests_until(lane)
        return until if until and until - self.clock() > WORTH_SAYING else None
