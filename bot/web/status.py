"""Serve the status page (`GET /`) and the same as JSON (`GET /status.json`)."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from heapq import nsmallest
from importlib.metadata import version
from typing import Any

from aiohttp import web

from bot import regex
from bot.metrics import Meter
from bot.store.model import ParkedDelivery, StoreUnavailable
from bot.store.outbox import RATE_WINDOWS
from bot.store.status import MAX_ROWS, StoreStatus, load_status
from bot.store.store import Store
from bot.web.cache import SingleFlightCache
from bot.web.responses import has_token, json_response, page_templates, problem_response

STATUS_MAX_AGE = 2.0
"""Seconds for which the store is not asked again: anybody may look, as often as they like."""
_ERROR_NAME = regex.Regex(r"^[A-Za-z_]{1,60}:")


@dataclass(slots=True)
class StatusPage:
    """Answers `GET /` and `GET /status.json`; without the token nothing in them names anybody."""

    meter: Meter
    store: Store
    token: str | None
    now: Callable[[], datetime]
    _status: SingleFlightCache[str, StoreStatus] = field(
        default_factory=lambda: SingleFlightCache(STATUS_MAX_AGE)
    )

    def routes(self) -> list[web.RouteDef]:
        """The page, and its content as JSON."""
        return [web.get("/", self.page), web.get("/status.json", self.json)]

    async def page(self, request: web.Request) -> web.Response:
        """The page for people; it loads itself again, without a script."""
        try:
            status: dict[str, Any] | None = await self._describe(request)
        except StoreUnavailable:
            status = None
        nonce = secrets.token_urlsafe(12)
        text = page_templates().get_template("status.html").render(status=status, nonce=nonce, ago=format_age)
        policy = f"default-src 'none'; style-src 'nonce-{nonce}'; frame-ancestors 'none'; base-uri 'none'"
        headers = {
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        return web.Response(
            text=text, content_type="text/html", status=200 if status else 503, headers=headers
        )

    async def json(self, request: web.Request) -> web.Response:
        """The same for programs."""
        try:
            response = json_response(200, await self._describe(request))
        except StoreUnavailable:
            response = problem_response(503, "The store is unavailable.")
        response.headers["Cache-Control"] = "no-store"
        return response

    async def _describe(self, request: web.Request) -> dict[str, Any]:
        status = await self._status.get("status", partial(self.store.read, load_status))
        is_operator = has_token(request, self.token)
        now = self.now()

        def age(at: datetime | None) -> float | None:
            return None if at is None else round(max(0.0, (now - at).total_seconds()), 1)

        return {
            "version": _version(),
            "store": f"PostgreSQL {status.postgres_version}" if status.postgres_version else "SQLite",
            "queue": {
                "deliveries": status.queued,
                "lanes_due": status.lanes_due,
                "owed_writes": status.owed_writes,
                "oldest_seconds": age(status.oldest_waiting),
            },
            "last_delivery_seconds": age(status.last_delivery),
            "reconciled_seconds": age(status.reconciled_at),
            "parked": {
                "count": status.parked_count,
                "deliveries": [
                    _describe_parked(one, age(one.parked_at), is_operator=is_operator)
                    for one in status.parked
                ],
            },
            "budgets": self._budgets(status, now),
        }

    def _budgets(self, status: StoreStatus, now: datetime) -> list[dict[str, Any]]:
        """GitHub's limits by installation: requests as this process saw them, writes of all processes."""
        writes = {budget.installation_id: budget for budget in status.budgets}
        rows = []
        told = dict(self.meter.budgets)
        scarcest = nsmallest(MAX_ROWS, told, key=lambda identity: told[identity].remaining)
        # Installation 0 is the App itself, which has a budget of its own.
        for identity in sorted({*writes, *scarcest}):
            wrote, requests = writes.get(identity), told.get(identity)
            paused = wrote.paused_until if wrote else None
            rows.append(
                {
                    "installation": identity,
                    "requests_left": requests.remaining if requests else None,
                    "requests_limit": requests.limit if requests else None,
                    "writes_last_minute": wrote.last_minute if wrote else 0,
                    "writes_last_hour": wrote.last_hour if wrote else 0,
                    "writes_limits": [window.most for window in RATE_WINDOWS],
                    "paused_seconds": paused and max(0.0, round((paused - now).total_seconds(), 1)),
                }
            )
        return rows


@cache
def _version() -> str:
    return version("whetstone-bot")


def _describe_parked(delivery: ParkedDelivery, age: float | None, *, is_operator: bool) -> dict[str, Any]:
    about = {"event": delivery.event, "attempts": delivery.attempts, "parked_seconds": age}
    if is_operator:
        return {"id": delivery.id, "lane": delivery.lane, "reason": delivery.error, **about}
    # Ids of the bot's own deliveries hold the number of a repository, and what follows an error's name
    # may quote a name.
    identity = "own delivery" if ":" in delivery.id else delivery.id
    name = _ERROR_NAME.match(delivery.error)
    return {"id": identity, "reason": name[0].rstrip(":") if name else "error", **about}


def format_age(seconds: float | None) -> str:
    """Write a number of seconds as people say it."""
    if seconds is None:
        return "never"
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}s"
    return f"{seconds:.0f} s"
