"""Cache the answers to expensive questions, computing each only once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cachetools import TLRUCache

CacheKey = TypeVar("CacheKey")
CacheValue = TypeVar("CacheValue")

KEEP_FACTOR = 20.0
"""An answer lasts so many times longer than it took: asking takes a twentieth of the time at the most."""


@dataclass(frozen=True, slots=True)
class _Answer(Generic[CacheValue]):
    found: CacheValue
    took: float


class SingleFlightCache(Generic[CacheKey, CacheValue]):
    """Answers that are kept for some seconds; each is worked out by one at a time, whoever asks."""

    def __init__(
        self,
        seconds: float,
        *,
        most: int = 1000,
        at_once: int = 1_000_000,
        worth: float = KEEP_FACTOR,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timer = timer
        self._kept: TLRUCache[CacheKey, _Answer[CacheValue]] = TLRUCache(
            most, lambda _, answer, now: now + max(seconds, worth * answer.took), timer=timer
        )
        self._asked: dict[CacheKey, asyncio.Task[CacheValue]] = {}
        self._places = asyncio.Semaphore(at_once)

    async def of(self, key: CacheKey, work: Callable[[], Awaitable[CacheValue]]) -> CacheValue:
        """What the work gives, or gave lately; its error goes to all who wait, and is not kept."""
        kept = self._kept.get(key)
        if kept is not None:
            return kept.found
        task = self._asked.get(key)
        if task is None:
            task = asyncio.create_task(self._worked_out(key, work))
            self._asked[key] = task
            task.add_done_callback(lambda done: self._settle(key, done))
        return await asyncio.shield(task)

    def knows(self, key: CacheKey) -> bool:
        """Whether this can be answered without any work."""
        return key in self._kept

    def _settle(self, key: CacheKey, done: asyncio.Task[CacheValue]) -> None:
        del self._asked[key]
        if not done.cancelled():
            done.exception()  # seen, also where everybody who waited has gone

    async def _worked_out(self, key: CacheKey, work: Callable[[], Awaitable[CacheValue]]) -> CacheValue:
        async with self._places:
            begun = self._timer()
            found = await work()
        self._kept[key] = _Answer(found, self._timer() - begun)
        return found
