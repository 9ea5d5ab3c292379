"""Count what this process does, as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

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
        counter = partial(Counter, registry=self.registry)
        self.turns = counter("whetstone_turns", "Lane turns by outcome", ["outcome"])
        self.turn_seconds = Histogram("whetstone_turn_seconds", "Duration of a turn", registry=self.registry)
        self.latency = Histogram(
            "whetstone_latency_seconds",
            "Time from the receipt of a delivery to the end of its turn",
            buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900),
            registry=self.registry,
        )
        self.calls = counter("whetstone_github_calls", "Requests to GitHub by status", ["method", "status"])
        self.remaining = Gauge(
            "whetstone_github_remaining",
            "Remaining rate limit, as last reported by GitHub",
            registry=self.registry,
        )
        self.budgets: dict[int, RequestBudget] = {}
        """By installation, as last reported by GitHub; 0 is the App itself."""
        stalls = "How often the event loop was blocked for more than five seconds"
        self.loop_stalls = counter("whetstone_loop_stalls", stalls)
        refused = "Request bodies that were refused, by reason"
        self.bodies_refused = counter("whetstone_bodies_refused", refused, ["reason"])

    def count_request(
        self, installation_id: int, method: str, status: str, headers: Mapping[str, str]
    ) -> None:
        """Count a request to GitHub by its status, or by its error where no response came."""
        self.calls.labels(method, status).inc()
        remaining, limit = (headers.get(f"x-ratelimit-{name}", "") for name in ("remaining", "limit"))
        if not remaining.isdigit():
            return
        self.remaining.set(int(remaining))
        # GraphQL has a budget of its own.
        if limit.isdigit() and headers.get("x-ratelimit-resource", "core") == "core":
            if len(self.budgets) >= MAX_BUDGETS:
                self.budgets.clear()
            self.budgets[installation_id] = RequestBudget(int(remaining), int(limit))
