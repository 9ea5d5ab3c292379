"""Run one claimed lane: process its deliveries, then finish, retry or park them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from bot.github.errors import GitHubError, RateLimited
from bot.inbox.heartbeat import Heartbeat
from bot.inbox.retry import (
    CRASH_ERROR,
    LATE_ERROR,
    RetryLater,
    StoreBackoff,
    TurnDropped,
    crashing_deliveries,
    is_final_attempt,
    is_internal_error,
    isolate_delivery,
    must_run_isolated,
    retry_delay,
)
from bot.store.lanes import pause_installation
from bot.store.model import Delivery, LaneClaim, LaneFenced, StoreUnavailable, TurnResult
from bot.store.store import Store
from bot.turn.store import apply_turn

logger = logging.getLogger("whetstone.worker")


class LaneHandler(Protocol):
    """Processes claimed lanes."""

    async def process(self, claim: LaneClaim) -> None:
        """Bring GitHub up to date with the lane's deliveries; raises if it must be tried again."""
        ...


@dataclass(slots=True)
class LaneRunner:
    """Runs claimed lanes, and releases each: done, due again later, or with deliveries parked."""

    store: Store
    handler: LaneHandler
    clock: Callable[[], datetime]
    stopping: asyncio.Event
    heartbeat: Heartbeat
    running: dict[asyncio.Task[Any], LaneClaim] = field(default_factory=dict)
    """The claim that each task processes, with the deliveries of its turn only."""
    isolated_lanes: set[str] = field(default_factory=set)
    _writes: StoreBackoff = field(default_factory=lambda: StoreBackoff("can't store the turn"))

    async def run(self, claim: LaneClaim, after: Collection[asyncio.Task[None]] = ()) -> None:
        """Process the lane once the tasks of `after` have ended, and release it whatever happens."""
        turn = self._select_deliveries(claim)
        task = asyncio.current_task()
        try:
            if after:
                await asyncio.wait(after)
            if task:
                self.running[task] = turn
            await self._process_claim(turn, claim)
        except LaneFenced:
            self._log("another instance took over the lane", {"lane": claim.lane})
        except StoreUnavailable as error:
            await self._handle_store_error(turn, error)
        except asyncio.CancelledError as stop:
            await self._release(turn, is_late=LATE_ERROR in stop.args)
            raise
        finally:
            if task:
                self.running.pop(task, None)
            self.store.abandon(claim)

    def _select_deliveries(self, claim: LaneClaim) -> LaneClaim:
        """The claim, reduced to one delivery if the lane hits internal errors or crashes."""
        one_by_one = claim.lane in self.isolated_lanes or must_run_isolated(claim)
        return isolate_delivery(claim) if one_by_one and len(claim.deliveries) > 1 else claim

    async def _process_claim(self, claim: LaneClaim, whole: LaneClaim) -> None:
        if crashing_deliveries(whole):
            await self._park_crashing(whole)
            return
        if must_run_isolated(whole):
            details = {"lane": claim.lane, "deliveries": [delivery.id for delivery in claim.deliveries]}
            logger.warning(
                "%d runs of this lane ended in a crash; running it alone", whole.crashes, extra=details
            )
            await self.store.isolate(claim)
        try:
            await self._call_handler(claim)
            await self._release_done(claim, whole)
        except RetryLater as retry:
            await self.store.release(claim, retry_after=retry.seconds, attempt=claim.attempt)
        except RateLimited as limit:
            await self.store.write(pause_installation, claim.installation_id, limit.until)
            wait = max(1.0, (limit.until - self.clock()).total_seconds())
            await self.store.release(claim, retry_after=wait, attempt=claim.attempt)
        except (LaneFenced, StoreUnavailable):
            raise
        except Exception as error:  # noqa: BLE001  caught once, here: logged, tried again, then parked
            await self._release_failed(claim, error)

    async def _call_handler(self, claim: LaneClaim) -> None:
        try:
            await self.handler.process(claim)
        except Exception:
            # Apart from the release: if it is this that can't be stored, the lane is still released.
            await self.store.write_notes(claim)
            raise

    async def _release_done(self, claim: LaneClaim, whole: LaneClaim) -> None:
        if claim is not whole:
            await self.store.release(claim, retry_after=0.0)
            return
        self.isolated_lanes.discard(claim.lane)
        await self.store.release(claim)

    async def _release_failed(self, claim: LaneClaim, error: Exception) -> None:
        attempt = claim.attempt + 1
        deliveries = [delivery.id for delivery in claim.deliveries]
        details = {"lane": claim.lane, "attempt": attempt, "deliveries": deliveries}
        if isinstance(error, GitHubError):
            self._log(f"a request to GitHub failed: {error}", details)
        elif isinstance(error, StoreUnavailable | TurnDropped):
            self._log(f"the turn could not be finished: {error}", details)
        else:
            logger.error("a turn failed", extra=details, exc_info=error)
        if is_internal_error(attempt, error):
            self.isolated_lanes.add(claim.lane)
        # By their own attempts: the lane may have failed for long with what it owed before they came.
        final = tuple(one for one in claim.deliveries if is_final_attempt(one.attempt + 1, error))
        if final:
            await self._park(claim, final, error)
        else:
            await self.store.release(claim, retry_after=retry_delay(claim.attempt), attempt=attempt)

    async def _park(self, claim: LaneClaim, deliveries: Sequence[Delivery], error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        parked = tuple((delivery.id, text) for delivery in deliveries)
        await apply_turn(self.store, claim, TurnResult(None, (), done=(), parked=parked))
        await self.store.release(claim)

    async def _park_crashing(self, claim: LaneClaim) -> None:
        """Park what crashed the process; the lane's other deliveries run one by one."""
        parked = tuple((delivery.id, CRASH_ERROR) for delivery in crashing_deliveries(claim))
        for delivery_id, reason in parked:
            logger.error(
                "a delivery was parked: %s", reason, extra={"lane": claim.lane, "delivery": delivery_id}
            )
        await apply_turn(self.store, claim, TurnResult(None, (), done=(), parked=parked))
        await self.store.release(claim, retry_after=0.0, attempt=claim.attempt)

    async def _handle_store_error(self, claim: LaneClaim, error: StoreUnavailable) -> None:
        """Record a failed attempt; if even that can't be stored, it is an outage, and the lane waits."""
        try:
            await self._release_failed(claim, error)
        except LaneFenced:
            self._log("another instance took over the lane", {"lane": claim.lane})
        except StoreUnavailable:
            # Nothing can be stored: the lane stays ours and is claimed again once the store is back.
            self._writes.failed(error, is_expected=self.heartbeat.is_after_standstill())
            await wait_or_stop(self.stopping, self._writes.delay)
        else:
            self._writes.recovered()

    def _log(self, message: str, details: Mapping[str, Any]) -> None:
        # After a standstill everything in progress fails at once; one line has said why.
        level = logging.DEBUG if self.heartbeat.is_after_standstill() else logging.WARNING
        logger.log(level, "%s", message, extra=details)

    async def _release(self, claim: LaneClaim, *, is_late: bool) -> None:
        """Make the lane of an unfinished turn due again, unless another instance has it by now."""
        with contextlib.suppress(LaneFenced, StoreUnavailable):
            if is_late:
                await self._release_failed(claim, TurnDropped(LATE_ERROR))
            else:
                await self.store.release(claim, retry_after=0.0, attempt=claim.attempt)


async def wait_or_stop(stopping: asyncio.Event, seconds: float) -> None:
    """Wait, but no longer than until the process is asked to stop."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)
