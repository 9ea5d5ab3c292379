"""JSON that costs far more memory to read than to send, thrown at a running server."""

from __future__ import annotations

import asyncio
import http.client
import io
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp

MIB = 1024 * 1024
BOMBS_AT_ONCE = 12


def _json_array(unit: bytes, size: int) -> bytes:
    """An array of about `size` bytes that repeats one value."""
    return b"[" + (unit + b",") * (size // (len(unit) + 1) - 1) + unit + b"]"


JSON_BOMBS: dict[str, tuple[bytes, set[int]]] = {
    "too long": (_json_array(b"[]", 24_000_000), {413}),
    "too long, without a length": (_json_array(b"[]", 24_000_000), {413, 429, 503}),
    "as long as allowed": (_json_array(b"[]", 10 * MIB), {422, 429, 503}),
    "as many values as allowed": (_json_array(b'{"a":{"b":[1]}}', 2_600_000), {422, 429, 503}),
    "a document of nothing": (b'{"feedback_items":' + _json_array(b"[]", MIB - 50) + b"}", {422, 429, 503}),
    "a log of nothing": (
        b'{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}},"results":'
        + _json_array(b"{}", 1_400_000)
        + b"}]}",
        {202, 429, 503},
    ),
}
"""The bodies by name, each with the statuses that answer it."""


async def throw_bombs(name: str, url: str, token: str) -> Counter[int]:
    """Post one of the bombs several times at once; count the statuses of the answers."""
    body, _ = JSON_BOMBS[name]

    async def in_chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), MIB):
            yield body[start : start + MIB]

    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session:

        async def post() -> int:
            data = in_chunks() if "without a length" in name else io.BytesIO(body)
            async with session.post(url, data=data) as response:
                return response.status

        return Counter(await asyncio.gather(*(post() for _ in range(BOMBS_AT_ONCE))))


class HealthProbe:
    """Asks for `/healthz` all the time, from a thread: the bombs may keep the event loop busy."""

    def __init__(self, port: int) -> None:
        self.seconds: list[float] = []
        """How long each answer took."""
        self._port = port
        self._stop = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
            start = time.monotonic()
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200
            self.seconds.append(time.monotonic() - start)
            connection.close()


def peak_memory(pid: int) -> int:
    """The most memory that the process ever had resident, in MB."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1000
