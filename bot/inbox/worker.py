"""Claim lanes and run them concurrently until the process stops."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.inbox.heartbeat import TICK_EVERY, Heartbeat
from bot.inbox.retry import LATE_ERROR, Backoff, must_run_isolated
from bot.inbox.runner import LaneHandler, LaneRunner, wait_or_stop
from bot.store.model import LaneClaim, StoreUnavailable
from bot.store.store import Store

POLL_SECONDS = 1.0
SHUTDOWN_SECONDS = 7.0
"""Seconds that unfinished turns get when the process is asked to stop."""
SWEEP_SECONDS = 3600.0
CROWDED_PAUSE = 0.25
"""Seconds between one lane and the next while deliveries crowd at the door. To find the next among the
thousands that a crowd leaves holds a file's only writer for as long as dozens of deliveries take."""

logger = logging.getLogger("whetstone.worker")


@dataclass(slots=True)
class Worker:
    """Claims lanes and takes their turns, several at a time, until it is stopped."""

    store: Store
    turns: LaneHandler
    clock: Callable[[], datetime]
    concurrency: int = 8
    pulse: Heartbeat = field(default_factory=Heartbeat)
    is_noted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the store has noted a first beat."""
    _running: set[asyncio.Task[None]] = field(default_factory=set)
    _isolated: set[asyncio.Task[None]] = field(default_factory=set)
    """Those of the running ones that wait for all others to end, or run alone."""
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _rounds: int = 0
    _quiet_round: int = -1
    _looked: asyncio.Event = field(default_factory=asyncio.Event)
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _claims: Backoff = field(default_factory=lambda: Backoff("no lane can be claimed"))
    _pulses: Backoff = field(default_factory=lambda: Backoff("no beat can be noted"))
    _hands: LaneRunner = field(init=False)

    def __post_init__(self) -> None:
        self._hands = LaneRunner(self.store, self.turns, self.clock, self._stopping, self.pulse)

    async def run(self) -> None:
        """Work until `stop`; then let what is under way come to its end."""
        try:
            await self._run()
        finally:
            self._ended.set()

    async def stopped(self) -> None:
        """Return when no lane is taken any more and nothing is under way."""
        self.stop()
        await self._ended.wait()

    async def _run(self) -> None:
        await self._heartbeat()
        async with asyncio.TaskGroup() as group:
            chores = [
                group.create_task(chore) for chore in (self._ticks(), self._heartbeats(), self._sweeps())
            ]
            while not self._stopping.is_set():
                more = await self._claim_some()
                if not more:
                    await self._pause()
            await self._shut_down()
            for chore in chores:
                chore.cancel()

    def stop(self) -> None:
        """Take no further lane."""
        self._stopping.set()
        self.store.wakes.set()

    @property
    def is_stopping(self) -> bool:
        """Whether it takes no further lane."""
        return self._stopping.is_set()

    async def settled(self) -> None:
        """Return when nothing is under way and nothing is due."""
        begun = self._rounds
        while self._running or self._quiet_round <= begun:
            if self._running:
                await asyncio.wait(self._running)
                begun = self._rounds
            self._looked.clear()
            self.store.wakes.set()
            await self._looked.wait()

    @property
    def beat_age(self) -> float:
        """Seconds since this instance last said that it is alive."""
        return self.pulse.age

    def in_progress(self, task: asyncio.Task[Any] | None) -> tuple[LaneClaim, ...]:
        """The claim that a task works on; all claims in progress where it works on none itself."""
        running = self._hands.running
        return (running[task],) if task in running else tuple(running.values())

    async def take(self, claim: LaneClaim) -> None:
        """One turn, and the lane given back, whatever happens."""
        await self._hands.take(claim)

    async def _shut_down(self) -> None:
        """Let what is under way come to its end for a while, then hand it back."""
        if self._running:
            _, unfinished = await asyncio.wait(self._running, timeout=SHUTDOWN_SECONDS)
            await self._cancel(unfinished)

    async def _cancel(self, tasks: set[asyncio.Task[None]], why: str | None = None) -> None:
        for task in tasks:
            task.cancel(why)
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    async def _claim_some(self) -> bool:
        """Take lanes for as many hands as are free; says whether there may be more of them."""
        self._rounds += 1
        free = 0 if self._isolated else self.concurrency - len(self._running)
        if free <= 0:
            await self._until_one_ends()
            return True
        if not self.pulse.is_fresh():
            return False
        if self.store.is_crowded:
            # GitHub hangs up on a delivery after ten seconds; a turn can wait. But one at a time they
            # go on, or a crowd without an end would end all work.
            await asyncio.sleep(CROWDED_PAUSE)
            free = 1
        claims = await self._claimed(free)
        for claim in sorted(claims, key=must_run_isolated):
            self._start(claim)
        if not claims and not self._running:
            self._quiet_round = self._rounds
        self._looked.set()
        return len(claims) == free

    def _start(self, claim: LaneClaim) -> None:
        after = self._running.copy() if must_run_isolated(claim) else ()
        task = asyncio.create_task(self._hands.take(claim, after))
        tasks = (self._running, self._isolated) if must_run_isolated(claim) else (self._running,)
        for kept in tasks:
            kept.add(task)
            task.add_done_callback(kept.discard)

    async def _until_one_ends(self) -> None:
        """Wait until a running turn ends, or the process is asked to stop."""
        stop = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({*self._running, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()

    async def _claimed(self, free: int) -> tuple[LaneClaim, ...]:
        asked = self.pulse.now()
        try:
            claims = await self.store.claim(free)
        except Exception as error:  # noqa: BLE001  a worker that ended here would leave the process idle
            self._claims.refused(error, is_expected=self.pulse.is_after_standstill())
            return ()
        self._claims.over()
        if self.pulse.now() - asked <= self.pulse.pace.late_after:
            return claims
        # We were held up before the answer was read: these lanes may be somebody else's again.
        for claim in claims:
            self.store.abandon(claim)
        return ()

    async def _pause(self) -> None:
        """Wait until something arrives, a lane becomes due, or it is time to look again."""
        if self._claims.refusals:  # whatever is due can't be had
            await wait_or_stop(self._stopping, self._claims.rest)
            return
        due = POLL_SECONDS
        with contextlib.suppress(Exception):  # whatever is wrong with the store, claiming says it
            ahead = await self.store.next_due()
            due = POLL_SECONDS if ahead is None else min(POLL_SECONDS, max(0.01, ahead))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.store.wakes.wait(), due)
        self.store.wakes.clear()

    async def _ticks(self) -> None:
        while True:
            if still := self.pulse.tick():
                message = "the process was stopped or blocked for %.0f s: unfinished work is retried"
                logger.warning(message, still, extra={"lanes": [one.lane for one in self.in_progress(None)]})
            await asyncio.sleep(TICK_EVERY)

    async def _heartbeats(self) -> None:
        while True:
            await asyncio.sleep(self.pulse.pace.interval)
            if not self.pulse.is_fresh() and self._running:
                # We were held up, or the store was away: our lanes may have been given to somebody else.
                if not self.pulse.is_after_standstill():
                    logger.warning("the beat is late by %.0f s: unfinished turns are dropped", self.beat_age)
                await self._cancel(set(self._running), LATE_ERROR)
            await self._heartbeat()

    async def _heartbeat(self) -> None:
        asked = self.pulse.now()
        try:
            await self.store.record_heartbeat()
        except Exception as error:  # noqa: BLE001  the next beat may be noted
            self._pulses.refused(error, is_expected=self.pulse.is_after_standstill())
        else:
            self._pulses.over()
            self.pulse.note(asked)
            self.is_noted.set()

    async def _sweeps(self) -> None:
        while True:
            try:
                await self.store.sweep()
            except StoreUnavailable:
                if not self.pulse.is_after_standstill():
                    logger.warning("nothing was swept: the store is away")
            except Exception:  # one of the worker's own tasks: if it ended, so would every turn
                logger.exception("nothing was swept")
            await asyncio.sleep(SWEEP_SECONDS)
