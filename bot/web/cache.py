"""Cache expensive results, computing each only once at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from cachetools import TLRUCache

CacheKey = TypeVar("CacheKey")
CacheValue = TypeVar("CacheValue")

KEEP_FACTOR = 20.0
"""A result is kept this many times longer than it took: computing it takes at most 1/20 of the time."""


class SingleFlightCache(Generic[CacheKey, CacheValue]):
    """Results kept for some seconds; concurrent callers of one key share one computation."""

    def __init__(
        self,
        seconds: float,
        *,
        max_size: int = 1000,
        concurrency: int = 1_000_000,
        keep_factor: float = KEEP_FACTOR,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timer = timer
        self._entries: TLRUCache[CacheKey, tuple[CacheValue, float]] = TLRUCache(
            max_size, lambda _, entry, now: now + max(seconds, keep_factor * entry[1]), timer=timer
        )
        self._tasks: dict[CacheKey, asyncio.Task[CacheValue]] = {}
        self._semaphore = asyncio.Semaphore(concurrency)

    async def get(self, key: CacheKey, compute: Callable[[], Awaitable[CacheValue]]) -> CacheValue:
        """Return the cached result or compute it; an error goes to all who wait, and is not cached."""
        entry = self._entries.get(key)
        if entry is not None:
            return entry[0]
        task = self._tasks.get(key)
        if task is None:
            task = asyncio.create_task(self._compute(key, compute))
            self._tasks[key] = task
            task.add_done_callback(lambda done: self._settle(key, done))
        return await asyncio.shield(task)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def _settle(self, key: CacheKey, done: asyncio.Task[CacheValue]) -> None:
        del self._tasks[key]
        if not done.cancelled():
            done.exception()  # retrieved, even where everybody who waited has gone

    async def _compute(self, key: CacheKey, compute: Callable[[], Awaitable[CacheValue]]) -> CacheValue:
        async with self._semaphore:
            start = self._timer()
            value = await compute()
        self._entries[key] = value, self._timer() - start
        return value
