"""Count what this process does, as Prometheus metrics."""

from __future__ import annotations

from types import SimpleNamespace

import aiohttp
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Meter:
    """Counts what happens in this process; one registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.turns = Counter(
            "whetstone_turns", "Turns of lanes by how they ended", ["outcome"], registry=self.registry
        )
        self.turn_seconds = Histogram(
            "whetstone_turn_seconds", "How long a turn took", registry=self.registry
        )
        self.latency = Histogram(
            "whetstone_latency_seconds",
            "From a delivery's receipt to the end of the turn that dealt with it",
            buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900),
            registry=self.registry,
        )
        self.calls = Counter(
            "whetstone_github_calls",
            "Calls of GitHub by status",
            ["method", "status"],
            registry=self.registry,
        )
        self.remaining = Gauge(
            "whetstone_github_remaining", "The least budget of requests last seen", registry=self.registry
        )

        self.loop_stalls = Counter(
            "whetstone_loop_stalls",
            "How often the event loop was blocked for more than five seconds",
            registry=self.registry,
        )
        self.bodies_refused = Counter(
            "whetstone_bodies_refused",
            "Request bodies that were refused, by reason",
            ["reason"],
            registry=self.registry,
        )

    def tracing(self) -> aiohttp.TraceConfig:
        """Counts the calls of a session."""
        config = aiohttp.TraceConfig()
        config.on_request_end.append(self._ended)
        config.on_request_exception.append(self._failed)
        return config

    async def _ended(
        self,
        _session: aiohttp.ClientSession,
        _context: SimpleNamespace,
        ended: aiohttp.TraceRequestEndParams,
    ) -> None:
        self.calls.labels(ended.method, str(ended.response.status)).inc()
        left = ended.response.headers.get("x-ratelimit-remaining", "")
        if left.isdigit():
            self.remaining.set(int(left))

    async def _failed(
        self,
        _session: aiohttp.ClientSession,
        _context: SimpleNamespace,
        failed: aiohttp.TraceRequestExceptionParams,
    ) -> None:
        self.calls.labels(failed.method, type(failed.exception).__name__).inc()
