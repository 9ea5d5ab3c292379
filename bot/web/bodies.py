"""Read request bodies within a shared memory budget, and limit JSON before it is decoded."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate

from aiohttp import web

from bot.web.responses import ApiError

MAX_DEPTH = 100
"""Levels of nesting; a SARIF log has about twenty."""
MAX_VALUES = 1_000_000
"""Values and keys: about 90 MB once decoded. A SARIF log of 10 MiB has hardly more even without spaces."""

_CHUNK = 65_536
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class TooComplex(Exception):
    """The JSON is nested too deep or has too many values; says which in one line."""


def check_json(data: bytes, *, max_depth: int = MAX_DEPTH, max_values: int = MAX_VALUES) -> None:
    """Raise `TooComplex` where decoding would build more than this; the time is linear, whatever the bytes.

    Nothing is said about bytes that are no JSON: a decoder stops at the first error, and up to there the
    counts hold.
    """
    depth, values, in_string, rest = 0, 1, 0, b""
    for start in range(0, len(data), _CHUNK):
        chunk = rest + data[start : start + _CHUNK]
        # A backslash without the character that it escapes waits for the next chunk.
        half = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2
        chunk, rest = chunk[: len(chunk) - half], chunk[len(chunk) - half :]
        parts = chunk.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[in_string::2])
        in_string = (in_string + len(parts) - 1) % 2
        # Every value but the first follows a comma, a colon or an opening bracket, and a key is one more.
        values += sum(map(outside.count, (b",", b":", b"[", b"{")))
        if values > max_values:
            raise TooComplex(f"more than {max_values:,} values")
        brackets = outside.translate(None, _NOT_BRACKETS)
        depths = list(accumulate(map(_STEPS.__getitem__, brackets), initial=depth))
        if max(depths) > max_depth:
            raise TooComplex(f"nested more than {max_depth} levels deep")
        depth = depths[-1]
        if min(depths) < 0:
            return  # a bracket too many: no decoder reads on


MIB = 1024 * 1024
TOTAL = 64 * MIB
"""Bytes of bodies at once whose sender is not verified, or that wait to be decoded."""
RESERVE = 32 * MIB
"""Of these for small bodies only: as much as 512 connections can hold in them."""
SMALL = 65_536
"""Bytes up to which a body is small; GitHub's deliveries have 10 to 30 kB."""
PER_CALLER = 25 * MIB
"""Bytes of large bodies at once from one caller: one delivery of the greatest length that GitHub sends."""

BODY_TIMEOUT = 10.0
"""Seconds for a whole body; GitHub itself gives up after ten."""
WINDOW = 3.0
PROGRESS = 65_536
"""Bytes that must come in each window, unless the body ends: a slower sender only holds memory."""

LOG_EVERY = 60.0
"""Seconds between two log lines about the same reason: refused callers can't fill the log."""

log = logging.getLogger("whetstone.web")


@dataclass(slots=True, eq=False)
class IncomingBody:
    """A body that is read when the block begins, and counts in the budget until it ends."""

    # No generator with `asynccontextmanager`: it takes a twentieth of the time of an ignored delivery.

    budget: BodyBudget
    request: web.BaseRequest
    caller: str
    max_size: int
    seconds: float
    size: int = 0
    """So far."""

    async def __aenter__(self) -> bytes:
        """Read the body; raises `ApiError`."""
        try:
            return await self.budget.read(self)
        except BaseException:
            self.budget.release(self)
            raise

    async def __aexit__(self, *_error: object) -> None:
        """Count it no longer."""
        self.budget.release(self)


@dataclass(slots=True, eq=False)
class BodyBudget:
    """A limit on the bytes of all bodies together; what does not fit is refused, counted and logged."""

    on_refused: Callable[[str], None] = lambda _reason: None
    address_of: Callable[[web.BaseRequest], str] = lambda request: request.remote or ""
    total: int = TOTAL
    reserve: int = RESERVE
    per_caller: int = PER_CALLER
    window: float = WINDOW
    used: int = 0
    _large: Counter[str] = field(default_factory=Counter)
    """Bytes of large bodies by caller."""
    _refused: dict[str, tuple[float, int]] = field(default_factory=dict)
    """By reason: when it was last logged, and how many were refused since."""

    def body(
        self, request: web.BaseRequest, max_size: int, *, caller: str = "", seconds: float = BODY_TIMEOUT
    ) -> IncomingBody:
        """Return a block that reads the body.

        Without another name the caller is the address that the request comes from.
        """
        return IncomingBody(self, request, caller or self.address_of(request), max_size, seconds)

    def refuse(self, request: web.BaseRequest, reason: str, refusal: ApiError) -> ApiError:
        """Count and log a refused body; returns the refusal, to be raised."""
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

    async def read(self, incoming: IncomingBody) -> bytes:
        """Read a body, and count it; raises `ApiError`."""
        content, loop = incoming.request.content, asyncio.get_running_loop()
        if (incoming.request.content_length or 0) > incoming.max_size:
            raise self._too_large(incoming)
        end, progress, body = loop.time() + incoming.seconds, 0, bytearray()
        try:
            if content.is_eof():
                # As most bodies do, it has come in with its head: there is nothing to wait for.
                return self._count(incoming, content.read_nowait())
            async with asyncio.timeout_at(min(end, loop.time() + self.window)) as limit:
                async for chunk in content.iter_any():
                    body += self._count(incoming, chunk)
                    progress += len(chunk)
                    if progress >= PROGRESS:
                        progress = 0
                        limit.reschedule(min(end, loop.time() + self.window))
                return bytes(body)
        except TimeoutError:
            slow = ApiError(408, "The body took too long to arrive.")
            raise self.refuse(incoming.request, "too_slow", slow) from None
        except (ConnectionError, web.RequestPayloadError):
            raise ApiError(400, "The body ended early.") from None

    def _count(self, incoming: IncomingBody, chunk: bytes) -> bytes:
        """Count the chunk; raises `ApiError` if it is too much."""
        size = incoming.size + len(chunk)
        if size > incoming.max_size:
            raise self._too_large(incoming)
        is_large = size > SMALL
        if self.used + len(chunk) > self.total - (self.reserve if is_large else 0):
            full = ApiError(503, "Too much data at once. Redeliver this later.")
            raise self.refuse(incoming.request, "memory", full)
        if is_large:
            large = self._large[incoming.caller] + size - (incoming.size if incoming.size > SMALL else 0)
            if large > self.per_caller:
                full = ApiError(429, "Too much data at once from this caller. Redeliver this later.")
                raise self.refuse(incoming.request, "caller", full)
            self._large[incoming.caller] = large
        self.used += len(chunk)
        incoming.size = size
        return chunk

    def release(self, incoming: IncomingBody) -> None:
        """Count a body no longer."""
        self.used -= incoming.size
        if incoming.size > SMALL:
            self._large[incoming.caller] -= incoming.size
            if not self._large[incoming.caller]:
                del self._large[incoming.caller]

    def _too_large(self, incoming: IncomingBody) -> ApiError:
        # A new one each time: a single one would keep every request that it refused.
        large = ApiError(413, f"The payload is larger than {incoming.max_size // MIB} MiB.")
        return self.refuse(incoming.request, "too_large", large)
