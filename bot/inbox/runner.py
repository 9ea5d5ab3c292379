"""Run one claimed lane: process its deliveries, then finish, retry or park them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from bot.github.errors import GitHubError, RateLimited
from bot.inbox.heartbeat import Heartbeat
from bot.inbox.retry import (
    CRASH_ERROR,
    LATE_ERROR,
    Backoff,
    RetryLater,
    TurnDropped,
    crashing_deliveries,
    is_final_attempt,
    is_internal_error,
    isolate_delivery,
    must_run_isolated,
    retry_delay,
)
from bot.metrics import Meter
from bot.store.lanes import pause_installation
from bot.store.model import Delivery, LaneClaim, LaneFenced, StoreUnavailable, TurnResult
from bot.store.store import Store
from bot.turn.store import apply_turn


class _LaneHandler(Protocol):
    """Whoever takes the turns of lanes."""

    async def take(self, claim: LaneClaim) -> None:
        """One turn."""
        ...


@dataclass(frozen=True, slots=True)
class MeteredHandler:
    """The same turns, counted."""

    turns: _LaneHandler
    meter: Meter
    clock: Callable[[], datetime]

    async def take(self, claim: LaneClaim) -> None:
        """One turn, with how it ended and how long it took."""
        begun, outcome = time.perf_counter(), "done"
        try:
            await self.turns.take(claim)
        except Exception as error:
            outcome = type(error).__name__
            raise
        else:
            for delivery in claim.deliveries:
                waited = (self.clock() - delivery.received_at).total_seconds()
                self.meter.latency.observe(max(0.0, waited))
        finally:
            self.meter.turns.labels(outcome).inc()
            self.meter.turn_seconds.observe(time.perf_counter() - begun)


logger = logging.getLogger("whetstone.worker")


class LaneHandler(Protocol):
    """Whoever takes the turns of lanes."""

    async def take(self, claim: LaneClaim) -> None:
        """Bring GitHub up to what the lane's deliveries say; raises where it must be tried again."""
        ...


@dataclass(slots=True)
class LaneRunner:
    """Takes turns, and gives each lane back: done, due again later, or with what was given up on."""

    store: Store
    turns: LaneHandler
    clock: Callable[[], datetime]
    stopping: asyncio.Event
    pulse: Heartbeat
    running: dict[asyncio.Task[Any], LaneClaim] = field(default_factory=dict)
    """The claim that each task works on, with the deliveries of its turn only."""
    isolated_lanes: set[str] = field(default_factory=set)
    _writes: Backoff = field(default_factory=lambda: Backoff("no turn can be written down"))

    async def take(self, claim: LaneClaim, after: Collection[asyncio.Task[None]] = ()) -> None:
        """One turn once the tasks of `after` have ended, and the lane given back, whatever happens."""
        careful = self._run_guarded(claim)
        task = asyncio.current_task()
        try:
            if after:
                await asyncio.wait(after)
            if task:
                self.running[task] = careful
            await self._taken(careful, claim)
        except LaneFenced:
            self._log("the lane was taken over", {"lane": claim.lane})
        except StoreUnavailable as away:
            await self._unwritten(careful, away)
        except asyncio.CancelledError as stop:
            await self._release(careful, is_late=LATE_ERROR in stop.args)
            raise
        finally:
            if task:
                self.running.pop(task, None)
            self.store.abandon(claim)

    def _run_guarded(self, claim: LaneClaim) -> LaneClaim:
        """The claim; of a lane in which our own code fails, with the delivery that failed least alone."""
        one_by_one = claim.lane in self.isolated_lanes or must_run_isolated(claim)
        return isolate_delivery(claim) if one_by_one and len(claim.deliveries) > 1 else claim

    async def _taken(self, claim: LaneClaim, whole: LaneClaim) -> None:
        if crashing_deliveries(whole):
            await self._park_crashing(whole)
            return
        if must_run_isolated(whole):
            told = {"lane": claim.lane, "deliveries": [one.id for one in claim.deliveries]}
            logger.warning("%d claims of the lane ended in a crash: it runs alone", whole.crashes, extra=told)
            await self.store.isolate(claim)
        try:
            await self.turns.take(claim)
        except RetryLater as early:
            await self.store.release(claim, retry_after=early.seconds, attempt=claim.attempt)
        except RateLimited as limit:
            await self.store.write(pause_installation, claim.installation_id, limit.until)
            wait = max(1.0, (limit.until - self.clock()).total_seconds())
            await self.store.release(claim, retry_after=wait, attempt=claim.attempt)
        except (LaneFenced, StoreUnavailable):
            raise
        except Exception as error:  # noqa: BLE001  caught once, here: logged, tried again, then parked
            await self._failed(claim, error)
        else:
            await self._done(claim, whole)

    async def _done(self, claim: LaneClaim, whole: LaneClaim) -> None:
        if claim is not whole:
            await self.store.release(claim, retry_after=0.0)
            return
        self.isolated_lanes.discard(claim.lane)
        await self.store.release(claim)

    async def _failed(self, claim: LaneClaim, error: Exception) -> None:
        attempt = claim.attempt + 1
        told = {"lane": claim.lane, "attempt": attempt, "deliveries": [d.id for d in claim.deliveries]}
        if isinstance(error, GitHubError):
            self._log(f"GitHub did not answer as hoped: {error}", told)
        elif isinstance(error, StoreUnavailable | TurnDropped):
            self._log(f"a turn could not be finished: {error}", told)
        else:
            logger.error("a turn failed", extra=told, exc_info=error)
        if is_internal_error(attempt, error):
            self.isolated_lanes.add(claim.lane)
        # By their own attempts: the lane may have failed for long with what it owed before they came.
        worn = tuple(one for one in claim.deliveries if is_final_attempt(one.attempt + 1, error))
        if worn:
            await self._park(claim, worn, error)
        else:
            await self.store.release(claim, retry_after=retry_delay(claim.attempt), attempt=attempt)

    async def _park(self, claim: LaneClaim, deliveries: Sequence[Delivery], error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        parked = tuple((delivery.id, text) for delivery in deliveries)
        await apply_turn(self.store, claim, TurnResult(None, (), done=(), parked=parked))
        await self.store.release(claim)

    async def _park_crashing(self, claim: LaneClaim) -> None:
        """Park what ended the process; the lane's other deliveries go on one by one."""
        parked = tuple((delivery.id, CRASH_ERROR) for delivery in crashing_deliveries(claim))
        for delivery_id, why in parked:
            logger.error(
                "a delivery was parked: %s", why, extra={"lane": claim.lane, "delivery": delivery_id}
            )
        await apply_turn(self.store, claim, TurnResult(None, (), done=(), parked=parked))
        await self.store.release(claim, retry_after=0.0, attempt=claim.attempt)

    async def _unwritten(self, claim: LaneClaim, away: StoreUnavailable) -> None:
        """A store that takes our attempts but not this turn will never take it: that is no outage."""
        try:
            await self._failed(claim, away)
        except LaneFenced:
            self._log("the lane was taken over", {"lane": claim.lane})
        except StoreUnavailable:
            # Nothing can be written down: the lane stays ours and is claimed again once the store is back.
            self._writes.refused(away, is_expected=self.pulse.is_after_standstill())
            await wait_or_stop(self.stopping, self._writes.rest)
        else:
            self._writes.over()

    def _log(self, message: str, facts: Mapping[str, Any]) -> None:
        # After a standstill everything under way fails at once; one line has said why.
        level = logging.DEBUG if self.pulse.is_after_standstill() else logging.WARNING
        logger.log(level, "%s", message, extra=facts)

    async def _release(self, claim: LaneClaim, *, is_late: bool) -> None:
        """An unfinished turn leaves its lane due, unless it is somebody else's by now."""
        with contextlib.suppress(LaneFenced, StoreUnavailable):
            if is_late:
                await self._failed(claim, TurnDropped(LATE_ERROR))
            else:
                await self.store.release(claim, retry_after=0.0, attempt=claim.attempt)


async def wait_or_stop(stopping: asyncio.Event, seconds: float) -> None:
    """Wait so long, or until the process is asked to stop."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)
