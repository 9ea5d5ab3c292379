"""Follow the progress of a job that was handed to a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.inbox.backfill import backfill_prefixes
from bot.inbox.internal_deliveries import backfill_delivery
from bot.inbox.parse import parse_delivery
from bot.pull_request.events import BackfillStep
from bot.store.deliveries import count_queued, load_delivery
from bot.store.lanes import lane_due_at
from bot.store.model import Delivery, DeliveryState, JobFailed, JobProgress
from bot.store.store import Store

POLL_JOB_SECONDS = 0.2
REPORT_WAIT_AFTER = timedelta(seconds=5)
"""A lane that is due later than this is reported as waiting."""


@dataclass(frozen=True, slots=True)
class JobFollower:
    """Polls the inbox until a job is done."""

    store: Store
    clock: Callable[[], datetime]

    async def follow(self, job: Delivery) -> AsyncIterator[JobProgress]:
        """The progress of a job of one delivery, until it is done; raises if it was given up on."""
        while await self._is_open(job.id):
            yield JobProgress(0, 1, await self._waits(job.lane))
            await asyncio.sleep(POLL_JOB_SECONDS)
        yield JobProgress(1, 1, finished=True)

    async def follow_backfill(self, due: BackfillStep) -> AsyncIterator[JobProgress]:
        """The progress of a backfill over all its steps, until it is done; raises if it was given up on."""
        while True:
            step = backfill_delivery(due, self.clock())
            if await self._is_open(step.id):
                left = await self.store.read(count_queued, *backfill_prefixes(due))
                yield JobProgress(max(due.read - left, 0), due.total, await self._waits(step.lane))
                await asyncio.sleep(POLL_JOB_SECONDS)
            elif due.closing:
                yield JobProgress(due.read, due.read, finished=True)
                return
            else:
                due = await self._next(due)

    async def _next(self, due: BackfillStep) -> BackfillStep:
        """The step after this one, which is queued before this one is done."""
        next_id = backfill_delivery(replace(due, step=due.step + 1), self.clock()).id
        kept = await self.store.read(load_delivery, next_id)
        step = parse_delivery(kept.delivery) if kept else None
        if not isinstance(step, BackfillStep):
            raise JobFailed("the repository was deleted, or the App is no longer installed there")
        return step

    async def _is_open(self, delivery_id: str) -> bool:
        kept = await self.store.read(load_delivery, delivery_id)
        if kept is None:
            raise JobFailed(
                "the running server accepted the job but uses another store: DATABASE_URL differs"
            )
        if kept.state is DeliveryState.PARKED:
            raise JobFailed(kept.error)
        return kept.state is DeliveryState.QUEUED

    async def _waits(self, lane: str) -> datetime | None:
        until = await self.store.read(lane_due_at, lane)
        return until if until and until - self.clock() > REPORT_WAIT_AFTER else None
