"""Who takes the lanes that are due, and what happens when a turn fails?"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.engine.pulse import Pulse
from bot.engine.sending import BELIEVE_GONE_AFTER
from bot.engine.settling import NotYet
from bot.ports import (
    Claim,
    Delivery,
    Fenced,
    Forbidden,
    GitHubError,
    Gone,
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
MOST_ATTEMPTS = 12
LONGEST_DELAY = 900.0

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
        try:
            await self._taken(claim)
        except Fenced:
            logger.warning("the lane was taken over", extra={"lane": claim.lane})
        except StoreUnavailable as away:
            # Nothing can be written down: the lane stays ours and is claimed again once the store is back.
            logger.warning("the store went away: %s", away, extra={"lane": claim.lane})
        except asyncio.CancelledError:
            await self._hand_back(claim)
            raise
        finally:
            self.store.abandon(claim)

    async def _hand_back(self, claim: Claim) -> None:
        """An unfinished turn leaves its lane due, unless it is somebody else's by now."""
        with contextlib.suppress(Fenced, StoreUnavailable):
            await self.store.release(claim, retry_after=0.0, attempt=claim.attempt)

    async def _wind_up(self) -> None:
        """Let what is under way come to its end for a while, then hand it back."""
        if self._running:
            _, unfinished = await asyncio.wait(self._running, timeout=WIND_UP)
            await self._cancel(unfinished)

    async def _cancel(self, tasks: set[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    async def _taken(self, claim: Claim) -> None:
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
        except Forbidden as refusal:
            await self._park(claim, claim.deliveries, refusal)
        except Exception as error:  # noqa: BLE001  caught once, here: logged, tried again, then parked
            await self._failed(claim, error)
        else:
            await self.store.release(claim)

    async def _failed(self, claim: Claim, error: Exception) -> None:
        attempt = claim.attempt + 1
        told = {"lane": claim.lane, "attempt": attempt, "deliveries": [d.id for d in claim.deliveries]}
        if isinstance(error, GitHubError):
            logger.warning("GitHub did not answer as hoped: %s", error, extra=told)
        else:
            logger.error("a turn failed", extra=told, exc_info=error)
        # By their own attempts: the lane may have failed for long with what it owed before they came.
        worn = tuple(one for one in claim.deliveries if _is_final(one.attempt + 1, error))
        if worn:
            await self._park(claim, worn, error)
        else:
            delay = min(LONGEST_DELAY, 2.0 ** min(claim.attempt, 10))
            await self.store.release(claim, retry_after=delay, attempt=attempt)

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
        except StoreUnavailable:
            logger.warning("the store is away")
            return ()
        except Exception:
            # A worker that ended here would leave the process alive and idle.
            logger.exception("no lane could be claimed")
            return ()
        if self.pulse.now() - asked <= self.pulse.pace.late_after:
            return claims
        # We were held up before the answer was read: these lanes may be somebody else's again.
        for claim in claims:
            self.store.abandon(claim)
        return ()

    async def _pause(self) -> None:
        """Wait until something arrives, a lane becomes due, or it is time to look again."""
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
                await self._cancel(set(self._running))
            await self._beat()

    async def _beat(self) -> None:
        asked = self.pulse.now()
        try:
            await self.store.beat()
        except StoreUnavailable:
            logger.warning("no beat: the store is away")
        except Exception:
            logger.exception("no beat")
        else:
            self.pulse.note(asked)

    async def _sweeps(self) -> None:
        while True:
            try:
                await self.store.sweep()
            except StoreUnavailable:
                logger.warning("nothing was swept: the store is away")
            except Exception:
                logger.exception("nothing was swept")
            await asyncio.sleep(SWEEP_EVERY)


def _is_final(attempt: int, error: Exception) -> bool:
    return attempt >= MOST_ATTEMPTS or (isinstance(error, Gone) and attempt > BELIEVE_GONE_AFTER)
