"""`/healthz` and `/readyz`: whether this process lives, and whether it can do its work."""

from __future__ import annotations

from typing import Any, Protocol

from aiohttp import web

from bot.adapters.web.answers import answer


class Readiness(Protocol):
    """Whoever knows the state of store and worker."""

    async def ready(self) -> tuple[bool, dict[str, Any]]:
        """Whether work can be done, and what was looked at."""
        ...


def routes(readiness: Readiness) -> list[web.RouteDef]:
    """The two probes."""

    async def healthz(_: web.Request) -> web.Response:
        return answer(200, {"status": "ok"})

    async def readyz(_: web.Request) -> web.Response:
        is_ready, details = await readiness.ready()
        status = "ready" if is_ready else "not ready"
        return answer(200 if is_ready else 503, {"status": status, **details})

    return [web.get("/healthz", healthz), web.get("/readyz", readyz)]
