"""Follow the progress of a job that was handed to a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.inbox.backfill import BackfillDeliveries, backfill_prefixes
from bot.inbox.parse import ParseDelivery
from bot.pull_request.events import BackfillStep
from bot.store.deliveries import count_queued, load_delivery
from bot.store.lanes import lane_due_at
from bot.store.model import Delivery, DeliveryState
from bot.store.store import Store


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job has come that somebody asked for."""

    done: int = 0
    total: int | None = None
    waits_until: datetime | None = None
    """GitHub is not asked before then."""
    finished: bool = False


class JobFailed(Exception):
    """Why a job was given up on, for whoever asked for it."""


POLL_JOB_SECONDS = 0.2
REPORT_WAIT_AFTER = timedelta(seconds=5)
"""A lane that rests for longer is said to wait."""


@dataclass(frozen=True, slots=True)
class JobFollower:
    """Looks at the inbox until a job is done."""

    store: Store
    clock: Callable[[], datetime]

    async def steps(self, job: Delivery) -> AsyncIterator[JobProgress]:
        """How far a job of one delivery is, until it is done; raises where it was given up on."""
        while await self._is_open(job.id):
            yield JobProgress(0, 1, await self._waits(job.lane))
            await asyncio.sleep(POLL_JOB_SECONDS)
        yield JobProgress(1, 1, finished=True)

    async def backfill(
        self, due: BackfillStep, parse: ParseDelivery, writing: BackfillDeliveries
    ) -> AsyncIterator[JobProgress]:
        """How far a backfill is, over all its steps, until it is done; raises where it was given up on."""
        while True:
            step = writing.step(due, self.clock())
            if await self._is_open(step.id):
                left = await self.store.read(count_queued, *backfill_prefixes(due))
                yield JobProgress(max(due.read - left, 0), due.total, await self._waits(step.lane))
                await asyncio.sleep(POLL_JOB_SECONDS)
            elif due.closing:
                yield JobProgress(due.read, due.read, finished=True)
                return
            else:
                due = await self._next(due, parse, writing)

    async def _next(
        self, due: BackfillStep, parse: ParseDelivery, writing: BackfillDeliveries
    ) -> BackfillStep:
        """The step after this one, which is written down before this one is done."""
        wanted = writing.step(replace(due, step=due.step + 1), self.clock()).id
        kept = await self.store.read(load_delivery, wanted)
        found = parse(kept.delivery) if kept else None
        if not isinstance(found, BackfillStep):
            raise JobFailed("the repository is gone, or the App is no longer installed there")
        return found

    async def _is_open(self, delivery_id: str) -> bool:
        kept = await self.store.read(load_delivery, delivery_id)
        if kept is None:
            raise JobFailed("a server took the job, but it keeps another store; DATABASE_URL is not the same")
        if kept.state is DeliveryState.PARKED:
            raise JobFailed(kept.error)
        return kept.state is DeliveryState.QUEUED

    async def _waits(self, lane: str) -> datetime | None:
        until = await self.store.read(lane_due_at, lane)
        return until if until and until - self.clock() > REPORT_WAIT_AFTER else None
