"""Claim lanes and run them concurrently until the process stops."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.inbox.heartbeat import TICK_EVERY, Heartbeat
from bot.inbox.retry import LATE_ERROR, StoreBackoff, must_run_isolated
from bot.inbox.runner import LaneHandler, LaneRunner, wait_or_stop
from bot.store.model import LaneClaim, StoreUnavailable
from bot.store.store import Store

POLL_SECONDS = 1.0
"""An idle server uses 2.7 ms of processor time a second with it: 9.3 ms at 0.1 s, 2.0 ms at 5 s."""
QUIET_SECONDS = 0.05
"""Seconds without an arrival after which the store is asked when the next lane is due. While deliveries come
in, one wakes the worker anyway; and a turn that has just begun is not held up by the question."""
SHUTDOWN_SECONDS = 7.0
"""Seconds that running turns get to finish when the process is asked to stop."""
SWEEP_SECONDS = 3600.0
CROWDED_PAUSE = 0.25
"""Seconds between one lane and the next during a burst of deliveries. To find the next lane among the
thousands that a burst leaves holds a file's only writer for as long as dozens of deliveries take."""

logger = logging.getLogger("whetstone.worker")


@dataclass(slots=True)
class Worker:
    """Claims lanes and runs several at a time, until it is stopped."""

    store: Store
    handler: LaneHandler
    clock: Callable[[], datetime]
    concurrency: int = 16
    """Lanes at a time. A turn mostly waits for GitHub: with answers after 0.1 s, a burst of 60 reviews takes
    3.1 s with 8 lanes, 2.0 s with 16 and 1.9 s with 24."""
    heartbeat: Heartbeat = field(default_factory=Heartbeat)
    is_registered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the store has recorded a first heartbeat."""
    _running: set[asyncio.Task[None]] = field(default_factory=set)
    _isolated: set[asyncio.Task[None]] = field(default_factory=set)
    """The running tasks that wait for all others to end, or run alone."""
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _rounds: int = 0
    _quiet_round: int = -1
    _has_looked: asyncio.Event = field(default_factory=asyncio.Event)
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _claims: StoreBackoff = field(default_factory=lambda: StoreBackoff("can't claim lanes"))
    _beats: StoreBackoff = field(default_factory=lambda: StoreBackoff("can't record the heartbeat"))
    _runner: LaneRunner = field(init=False)

    def __post_init__(self) -> None:
        self._runner = LaneRunner(self.store, self.handler, self.clock, self._stopping, self.heartbeat)

    async def run(self) -> None:
        """Work until `stop`; then let the running turns finish."""
        try:
            await self._run()
        finally:
            self._ended.set()

    async def wait_stopped(self) -> None:
        """Stop, and return when nothing runs any more."""
        self.stop()
        await self._ended.wait()

    async def _run(self) -> None:
        await self._heartbeat()
        async with asyncio.TaskGroup() as group:
            background = [
                group.create_task(task) for task in (self._ticks(), self._heartbeats(), self._sweeps())
            ]
            while not self._stopping.is_set():
                more = await self._claim_some()
                if not more:
                    await self._pause()
            await self._shut_down()
            for task in background:
                task.cancel()

    def stop(self) -> None:
        """Claim no further lane."""
        self._stopping.set()
        self.store.wakes.set()

    @property
    def is_stopping(self) -> bool:
        """Whether it claims no further lane."""
        return self._stopping.is_set()

    async def wait_until_idle(self) -> None:
        """Return when nothing runs and nothing is due."""
        begun = self._rounds
        while self._running or self._quiet_round <= begun:
            if self._running:
                await asyncio.wait(self._running)
                begun = self._rounds
            self._has_looked.clear()
            self.store.wakes.set()
            await self._has_looked.wait()

    @property
    def heartbeat_age(self) -> float:
        """Seconds since the last heartbeat that the store recorded."""
        return self.heartbeat.age

    def in_progress(self, task: asyncio.Task[Any] | None) -> tuple[LaneClaim, ...]:
        """The claim that a task processes; all claims in progress if the task has none itself."""
        running = self._runner.running
        return (running[task],) if task in running else tuple(running.values())

    async def _shut_down(self) -> None:
        """Let the running turns finish for a while, then release their lanes."""
        if self._running:
            _, unfinished = await asyncio.wait(self._running, timeout=SHUTDOWN_SECONDS)
            await self._cancel(unfinished)

    async def _cancel(self, tasks: set[asyncio.Task[None]], reason: str | None = None) -> None:
        for task in tasks:
            task.cancel(reason)
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    async def _claim_some(self) -> bool:
        """Claim lanes for the free slots; returns whether more may be due."""
        self._rounds += 1
        free = 0 if self._isolated else self.concurrency - len(self._running)
        if free <= 0:
            await self._until_one_ends()
            return True
        if not self.heartbeat.is_fresh():
            return False
        if await self._let_deliveries_pass():
            free = 1
        claims = await self._claim(free)
        for claim in sorted(claims, key=must_run_isolated):
            # Deliveries may have begun to crowd in the very commit that claimed their lanes.
            await self._let_deliveries_pass()
            self._start(claim)
        if not claims and not self._running:
            self._quiet_round = self._rounds
        self._has_looked.set()
        return len(claims) == free

    async def _let_deliveries_pass(self) -> bool:
        """Wait while deliveries crowd, but not for long; returns whether they still do.

        GitHub hangs up on a delivery after ten seconds; a turn can wait. But one at a time they go on, or an
        endless burst would end all work.
        """
        until = time.monotonic() + CROWDED_PAUSE
        while not self._stopping.is_set() and (crowded := self.store.crowded_seconds):
            if (left := until - time.monotonic()) <= 0:
                return True
            await wait_or_stop(self._stopping, min(crowded, left))
        return False

    def _start(self, claim: LaneClaim) -> None:
        after = self._running.copy() if must_run_isolated(claim) else ()
        task = asyncio.create_task(self._runner.run(claim, after))
        tasks = (self._running, self._isolated) if must_run_isolated(claim) else (self._running,)
        for kept in tasks:
            kept.add(task)
            task.add_done_callback(kept.discard)

    async def _until_one_ends(self) -> None:
        """Wait until a running turn ends, or the process is asked to stop."""
        stop = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({*self._running, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()

    async def _claim(self, free: int) -> tuple[LaneClaim, ...]:
        asked = self.heartbeat.now()
        try:
            claims = await self.store.claim(free)
        except Exception as error:  # noqa: BLE001  a worker that ended here would leave the process idle
            self._claims.failed(error, is_expected=self.heartbeat.is_after_standstill())
            return ()
        self._claims.recovered()
        if self.heartbeat.now() - asked <= self.heartbeat.settings.late_after:
            return claims
        # We were blocked before the answer was read: another instance may have these lanes again.
        for claim in claims:
            self.store.abandon(claim)
        return ()

    async def _pause(self) -> None:
        """Wait until something arrives, a lane becomes due, or it is time to poll."""
        if self._claims.failures:  # what is due can't be claimed
            await wait_or_stop(self._stopping, self._claims.delay)
            return
        if await self._is_woken(QUIET_SECONDS):
            return
        due = POLL_SECONDS
        with contextlib.suppress(Exception):  # an error of the store is logged by claiming
            ahead = await self.store.next_due()
            due = POLL_SECONDS if ahead is None else min(POLL_SECONDS, max(0.01, ahead))
        await self._is_woken(due)

    async def _is_woken(self, seconds: float) -> bool:
        """Wait until something arrives or the seconds are over; returns whether something arrived."""
        try:
            async with asyncio.timeout(seconds):
                await self.store.wakes.wait()
        except TimeoutError:
            return False
        self.store.wakes.clear()
        return True

    async def _ticks(self) -> None:
        while True:
            if still := self.heartbeat.tick():
                message = "the process was stopped or blocked for %.0f s; retrying unfinished work"
                lanes = [claim.lane for claim in self.in_progress(None)]
                logger.warning(message, still, extra={"lanes": lanes})
            await asyncio.sleep(TICK_EVERY)

    async def _heartbeats(self) -> None:
        while True:
            await asyncio.sleep(self.heartbeat.settings.interval)
            if not self.heartbeat.is_fresh() and self._running:
                # We were blocked, or the store was unavailable: another instance may have our lanes.
                if not self.heartbeat.is_after_standstill():
                    message = "the last heartbeat is %.0f s old; cancelling unfinished turns"
                    logger.warning(message, self.heartbeat_age)
                await self._cancel(set(self._running), LATE_ERROR)
            await self._heartbeat()

    async def _heartbeat(self) -> None:
        asked = self.heartbeat.now()
        try:
            await self.store.record_heartbeat()
        except Exception as error:  # noqa: BLE001  the next one may succeed
            self._beats.failed(error, is_expected=self.heartbeat.is_after_standstill())
        else:
            self._beats.recovered()
            self.heartbeat.record(asked)
            self.is_registered.set()

    async def _sweeps(self) -> None:
        while True:
            try:
                await self.store.sweep()
            except StoreUnavailable:
                if not self.heartbeat.is_after_standstill():
                    logger.warning("the sweep failed: the store is unavailable")
            except Exception:  # one of the worker's own tasks: if it ended, so would every turn
                logger.exception("the sweep failed")
            await asyncio.sleep(SWEEP_SECONDS)
