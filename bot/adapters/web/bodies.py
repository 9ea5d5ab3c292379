"""Request bodies, read within one memory budget that no caller can use up for the others."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from bot.adapters.web.api.refusals import Refusal

MIB = 1024 * 1024
TOTAL = 64 * MIB
"""Bytes of bodies at once whose sender is not verified, or that wait to be decoded."""
RESERVE = 32 * MIB
"""Of these for small bodies only: as much as 512 connections can hold in them."""
SMALL = 65_536
"""Bytes up to which a body is small; GitHub's deliveries have 10 to 30 kB."""
PER_CALLER = 25 * MIB
"""Bytes of large bodies at once from one caller: one delivery of the greatest length that GitHub sends."""

PATIENCE = 10.0
"""Seconds for a whole body; GitHub itself gives up after ten."""
WINDOW = 3.0
PROGRESS = 65_536
"""Bytes that must come in each window, unless the body ends: who sends less only holds memory."""

LOG_EVERY = 60.0
"""Seconds between two lines of the log about the same reason: whoever is refused can't fill the log."""

log = logging.getLogger("whetstone.web")


def remote_address(request: web.BaseRequest) -> str:
    """The address that a request comes from."""
    return request.remote or ""


@dataclass(slots=True, eq=False)
class _Incoming:
    """A body that is being read: whose it is, and how much of it has come in."""

    request: web.BaseRequest
    caller: str
    largest: int
    size: int = 0


def _ignore(_reason: str) -> None:
    """Count nothing."""


@dataclass(slots=True, eq=False)
class BodyBudget:
    """Bytes for the bodies of all callers together; what does not fit is refused, counted and logged."""

    on_refused: Callable[[str], None] = _ignore
    address_of: Callable[[web.BaseRequest], str] = remote_address
    total: int = TOTAL
    reserve: int = RESERVE
    per_caller: int = PER_CALLER
    window: float = WINDOW
    used: int = 0
    _large: Counter[str] = field(default_factory=Counter)
    """Bytes of large bodies by caller."""
    _refused: dict[str, tuple[float, int]] = field(default_factory=dict)
    """By reason: when it was last logged, and how many were refused since."""

    @asynccontextmanager
    async def body(
        self, request: web.BaseRequest, largest: int, *, caller: str = "", patience: float = PATIENCE
    ) -> AsyncIterator[bytes]:
        """The body, which counts until the end of the block; raises `Refusal`.

        Without another name the caller is the address that the request comes from.
        """
        incoming = _Incoming(request, caller or self.address_of(request), largest)
        try:
            yield await self._read(incoming, patience)
        finally:
            self._give_back(incoming)

    def refuse(self, request: web.BaseRequest, reason: str, refusal: Refusal) -> Refusal:
        """Count and log that a body is refused; returns the refusal, to be raised."""
        self.on_refused(reason)
        logged, count = self._refused.get(reason, (-LOG_EVERY, 0))
        now = time.monotonic()
        if now - logged < LOG_EVERY:
            self._refused[reason] = (logged, count + 1)
        else:
            self._refused[reason] = (now, 0)
            facts = {"reason": reason, "path": request.path, "address": self.address_of(request)}
            log.warning("a request body was refused", extra={**facts, "refused_since_last_line": count})
        return refusal

    async def _read(self, incoming: _Incoming, patience: float) -> bytes:
        content, loop = incoming.request.content, asyncio.get_running_loop()
        if (incoming.request.content_length or 0) > incoming.largest:
            raise self._too_large(incoming)
        end, progress, body = loop.time() + patience, 0, bytearray()
        try:
            if content.is_eof():
                # As most bodies do, it has come in with its head: there is nothing to wait for.
                return self._take(incoming, content.read_nowait())
            async with asyncio.timeout_at(min(end, loop.time() + self.window)) as limit:
                async for chunk in content.iter_any():
                    body += self._take(incoming, chunk)
                    progress += len(chunk)
                    if progress >= PROGRESS:
                        progress = 0
                        limit.reschedule(min(end, loop.time() + self.window))
                return bytes(body)
        except TimeoutError:
            slow = Refusal(408, "The body did not come in time.")
            raise self.refuse(incoming.request, "too_slow", slow) from None
        except (ConnectionError, web.RequestPayloadError):
            raise Refusal(400, "The body was cut off.") from None

    def _take(self, incoming: _Incoming, chunk: bytes) -> bytes:
        """Count the chunk; raises `Refusal` where it is too much."""
        size = incoming.size + len(chunk)
        if size > incoming.largest:
            raise self._too_large(incoming)
        is_large = size > SMALL
        if self.used + len(chunk) > self.total - (self.reserve if is_large else 0):
            full = Refusal(503, "Too much comes in at once; deliver this again later.")
            raise self.refuse(incoming.request, "memory", full)
        if is_large:
            large = self._large[incoming.caller] + size - (incoming.size if incoming.size > SMALL else 0)
            if large > self.per_caller:
                full = Refusal(429, "Too much comes in at once from this caller; deliver this again later.")
                raise self.refuse(incoming.request, "caller", full)
            self._large[incoming.caller] = large
        self.used += len(chunk)
        incoming.size = size
        return chunk

    def _give_back(self, incoming: _Incoming) -> None:
        self.used -= incoming.size
        if incoming.size > SMALL:
            self._large[incoming.caller] -= incoming.size
            if not self._large[incoming.caller]:
                del self._large[incoming.caller]

    def _too_large(self, incoming: _Incoming) -> Refusal:
        # A new one each time: a single one would keep every request that it refused.
        large = Refusal(413, f"The payload is larger than {incoming.largest // MIB} MiB.")
        return self.refuse(incoming.request, "too_large", large)
