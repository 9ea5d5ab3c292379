"""Who takes the lanes that are due, and what happens when a turn fails?"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.engine.outage import Outage
from bot.engine.patience import LATE, Late, alone, delay, is_final, is_ours
from bot.engine.pulse import Pulse
from bot.engine.settling import NotYet
from bot.ports import (
    Claim,
    Delivery,
    Fenced,
    GitHubError,
    RateLimited,
    Store,
    StoreUnavailable,
    Turn,
)

POLL_EVERY = 1.0
WIND_UP = 7.0
"""Seconds that unfinished turns get when the process is asked to stop."""
SWEEP_EVERY = 3600.0
STEP_ASIDE = 0.1
"""Seconds between one lane and the next while deliveries crowd at the door."""

logger = logging.getLogger("whetstone.worker")


class Taking(Protocol):
    """Whoever takes the turns of lanes."""

    async def take(self, claim: Claim) -> None:
        """Bring GitHub up to what the lane's deliveries say; raises where it must be tried again."""
        ...


@dataclass(slots=True)
class Worker:
    """Claims lanes and takes their turns, several at a time, until it is stopped."""

    store: Store
    turns: Taking
    clock: Callable[[], datetime]
    concurrency: int = 8
    pulse: Pulse = field(default_factory=Pulse)
    _running: set[asyncio.Task[None]] = field(default_factory=set)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _rounds: int = 0
    _quiet_round: int = -1
    _looked: asyncio.Event = field(default_factory=asyncio.Event)
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _singly: set[str] = field(default_factory=set)
    _claims: Outage = field(default_factory=lambda: Outage("no lane can be claimed"))
    _pulses: Outage = field(default_factory=lambda: Outage("no beat can be noted"))
    _writes: Outage = field(default_factory=lambda: Outage("no turn can be written down"))

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
        await self._beat()
        async with asyncio.TaskGroup() as group:
            chores = [group.create_task(self._beats()), group.create_task(self._sweeps())]
            while not self._stopping.is_set():
                more = await self._claim_some()
                if not more:
                    await self._pause()
            await self._wind_up()
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

    async def take(self, claim: Claim) -> None:
        """One turn, and the lane given back, whatever happens."""
        careful = self._careful(claim)
        try:
            await self._taken(careful, claim)
        except Fenced:
            logger.warning("the lane was taken over", extra={"lane": claim.lane})
        except StoreUnavailable as away:
            await self._unwritten(careful, away)
        except asyncio.CancelledError as stop:
            await self._hand_back(careful, is_late=LATE in stop.args)
            raise
        finally:
            self.store.abandon(claim)

    def _careful(self, claim: Claim) -> Claim:
        """The claim; of a lane in which our own code fails, with the delivery that failed least alone."""
        if claim.lane not in self._singly or len(claim.deliveries) <= 1:
            return claim
        return alone(claim)

    async def _unwritten(self, claim: Claim, away: StoreUnavailable) -> None:
        """A store that takes our attempts but not this turn will never take it: that is no outage."""
        try:
            await self._failed(claim, away)
        except Fenced:
            logger.warning("the lane was taken over", extra={"lane": claim.lane})
        except StoreUnavailable:
            # Nothing can be written down: the lane stays ours and is claimed again once the store is back.
            self._writes.refused(away)
            await self._rest(self._writes.rest)
        else:
            self._writes.over()

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _hand_back(self, claim: Claim, *, is_late: bool) -> None:
        """An unfinished turn leaves its lane due, unless it is somebody else's by now."""
        with contextlib.suppress(Fenced, StoreUnavailable):
            if is_late:
                await self._failed(claim, Late(LATE))
            else:
                await self.store.release(claim, retry_after=0.0, attempt=claim.attempt)

    async def _wind_up(self) -> None:
        """Let what is under way come to its end for a while, then hand it back."""
        if self._running:
            _, unfinished = await asyncio.wait(self._running, timeout=WIND_UP)
            await self._cancel(unfinished)

    async def _cancel(self, tasks: set[asyncio.Task[None]], why: str | None = None) -> None:
        for task in tasks:
            task.cancel(why)
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    async def _taken(self, claim: Claim, whole: Claim) -> None:
        try:
            await self.turns.take(claim)
        except NotYet as early:
            await self.store.release(claim, retry_after=early.seconds, attempt=claim.attempt)
        except RateLimited as limit:
            await self.store.pause(claim.installation_id, limit.until)
            wait = max(1.0, (limit.until - self.clock()).total_seconds())
            await self.store.release(claim, retry_after=wait, attempt=claim.attempt)
        except (Fenced, StoreUnavailable):
            raise
        except Exception as error:  # noqa: BLE001  caught once, here: logged, tried again, then parked
            await self._failed(claim, error)
        else:
            await self._done(claim, whole)

    async def _done(self, claim: Claim, whole: Claim) -> None:
        if claim is not whole:
            await self.store.release(claim, retry_after=0.0)
            return
        self._singly.discard(claim.lane)
        await self.store.release(claim)

    async def _failed(self, claim: Claim, error: Exception) -> None:
        attempt = claim.attempt + 1
        told = {"lane": claim.lane, "attempt": attempt, "deliveries": [d.id for d in claim.deliveries]}
        if isinstance(error, GitHubError):
            logger.warning("GitHub did not answer as hoped: %s", error, extra=told)
        elif isinstance(error, StoreUnavailable | Late):
            logger.warning("a turn could not be finished: %s", error, extra=told)
        else:
            logger.error("a turn failed", extra=told, exc_info=error)
        if is_ours(attempt, error):
            self._singly.add(claim.lane)
        # By their own attempts: the lane may have failed for long with what it owed before they came.
        worn = tuple(one for one in claim.deliveries if is_final(one.attempt + 1, error))
        if worn:
            await self._park(claim, worn, error)
        else:
            await self.store.release(claim, retry_after=delay(claim.attempt), attempt=attempt)

    async def _park(self, claim: Claim, deliveries: Sequence[Delivery], error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        parked = tuple((delivery.id, text) for delivery in deliveries)
        await self.store.apply(claim, Turn(None, (), done=(), parked=parked))
        await self.store.release(claim)

    async def _claim_some(self) -> bool:
        """Take lanes for as many hands as are free; says whether there may be more of them."""
        self._rounds += 1
        free = self.concurrency - len(self._running)
        if free <= 0:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
            return True
        if not self.pulse.is_fresh():
            return False
        if self.store.is_crowded:
            # GitHub hangs up on a delivery after ten seconds; a turn can wait. But one at a time they
            # go on, or a crowd without an end would end all work.
            await asyncio.sleep(STEP_ASIDE)
            free = 1
        claims = await self._claimed(free)
        for claim in claims:
            task = asyncio.create_task(self.take(claim))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        if not claims and not self._running:
            self._quiet_round = self._rounds
        self._looked.set()
        return len(claims) == free

    async def _claimed(self, free: int) -> tuple[Claim, ...]:
        asked = self.pulse.now()
        try:
            claims = await self.store.claim(free)
        except Exception as error:  # noqa: BLE001  a worker that ended here would leave the process idle
            self._claims.refused(error)
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
            await self._rest(self._claims.rest)
            return
        due = POLL_EVERY
        with contextlib.suppress(Exception):  # whatever is wrong with the store, claiming says it
            ahead = await self.store.next_due()
            due = POLL_EVERY if ahead is None else min(POLL_EVERY, max(0.01, ahead))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.store.wakes.wait(), due)
        self.store.wakes.clear()

    async def _beats(self) -> None:
        while True:
            await asyncio.sleep(self.pulse.pace.beat_every)
            if not self.pulse.is_fresh() and self._running:
                # We were held up, or the store was away: our lanes may have been given to somebody else.
                logger.warning("the beat is late by %.0f s: unfinished turns are dropped", self.beat_age)
                await self._cancel(set(self._running), LATE)
            await self._beat()

    async def _beat(self) -> None:
        asked = self.pulse.now()
        try:
            await self.store.beat()
        except Exception as error:  # noqa: BLE001  the next beat may be noted
            self._pulses.refused(error)
        else:
            self._pulses.over()
            self.pulse.note(asked)

    async def _sweeps(self) -> None:
        while True:
            try:
                await self.store.sweep()
            except StoreUnavailable:
                logger.warning("nothing was swept: the store is away")
            except Exception:  # one of the worker's own tasks: if it ended, so would every turn
                logger.exception("nothing was swept")
            await asyncio.sleep(SWEEP_EVERY)
