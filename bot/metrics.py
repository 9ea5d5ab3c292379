"""Count what this process does, as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import aiohttp
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

MAX_BUDGETS = 1_000
"""Installations whose budget is remembered."""


@dataclass(frozen=True, slots=True)
class RequestBudget:
    """The requests of an hour that GitHub leaves to an installation."""

    remaining: int
    limit: int


class Meter:
    """The metrics of this process, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.turns = Counter("whetstone_turns", "Lane turns by outcome", ["outcome"], registry=self.registry)
        self.turn_seconds = Histogram("whetstone_turn_seconds", "Duration of a turn", registry=self.registry)
        self.latency = Histogram(
            "whetstone_latency_seconds",
            "Time from the receipt of a delivery to the end of its turn",
            buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900),
            registry=self.registry,
        )
        self.calls = Counter(
            "whetstone_github_calls",
            "Requests to GitHub by status",
            ["method", "status"],
            registry=self.registry,
        )
        self.remaining = Gauge(
            "whetstone_github_remaining",
            "Remaining rate limit, as last reported by GitHub",
            registry=self.registry,
        )

        self.budgets: dict[int, RequestBudget] = {}
        """By installation, as last reported by GitHub; 0 is the App itself."""
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
        """Count the requests of a client session."""
        config = aiohttp.TraceConfig()
        config.on_request_end.append(self._request_ended)
        config.on_request_exception.append(self._request_failed)
        return config

    async def _request_ended(
        self,
        _session: aiohttp.ClientSession,
        context: SimpleNamespace,
        params: aiohttp.TraceRequestEndParams,
    ) -> None:
        self.calls.labels(params.method, str(params.response.status)).inc()
        remaining = params.response.headers.get("x-ratelimit-remaining", "")
        if remaining.isdigit():
            self.remaining.set(int(remaining))
            self._note_budget(context.trace_request_ctx, params.response.headers, int(remaining))

    def _note_budget(self, about: object, headers: Mapping[str, str], remaining: int) -> None:
        limit = headers.get("x-ratelimit-limit", "")
        # GraphQL has a budget of its own.
        is_core = headers.get("x-ratelimit-resource", "core") == "core"
        if isinstance(about, dict) and is_core and limit.isdigit():
            if len(self.budgets) >= MAX_BUDGETS:
                self.budgets.clear()
            self.budgets[about["installation"]] = RequestBudget(remaining, int(limit))

    async def _request_failed(
        self,
        _session: aiohttp.ClientSession,
        _context: SimpleNamespace,
        params: aiohttp.TraceRequestExceptionParams,
    ) -> None:
        self.calls.labels(params.method, type(params.exception).__name__).inc()
