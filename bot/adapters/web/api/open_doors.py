"""What anybody may ask: the App's login, the schemas, the description of this API; and the gates in force."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any

from aiohttp import web

from bot.adapters import schemas
from bot.adapters.web.api.guard import Guard
from bot.adapters.web.api.openapi import description
from bot.adapters.web.api.refusals import Refusal, not_found
from bot.adapters.web.api.replies import reply
from bot.domain.gates import Gate
from bot.domain.model import Account
from bot.domain.visits import Visit
from bot.ports import GitHubError, RuleBook

_SCHEMA = "application/schema+json"


@dataclass(frozen=True, slots=True)
class OpenDoors:
    """Answers that need no token, and the gates, which need one."""

    me: Callable[[], Awaitable[Account]]
    rule_book: RuleBook

    def routes(self, guard: Guard) -> list[web.RouteDef]:
        """The routes about the bot itself."""
        return [
            guard.get("/gates", self.gates),
            web.get("/api/v1/app", self.app, allow_head=False),
            web.get("/schemas/{name}.json", self.schema, allow_head=False),
            web.get("/openapi.json", self.openapi, allow_head=False),
        ]

    async def gates(self, request: web.Request, visit: Visit) -> web.Response:
        """The gates in force in a repository, in order."""
        rules = await self.rule_book.rules(visit.repository)
        return reply(request, [_gate(gate) for gate in rules.gates])

    async def app(self, request: web.Request) -> web.Response:
        """Whose comments are ours: agents believe nobody else's."""
        try:
            me = await self.me()
        except GitHubError:
            return Refusal(503, "GitHub can't be asked for the App right now.").answer()
        return reply(request, {"id": me.id, "login": me.login})

    async def schema(self, request: web.Request) -> web.Response:
        """A published schema by its name."""
        try:
            text = schemas.text(request.match_info["name"])
        except LookupError:
            return not_found(f"There is no such schema; one of {', '.join(schemas.names())}.").answer()
        return reply(request, text, content_type=_SCHEMA)

    async def openapi(self, request: web.Request) -> web.Response:
        """The description of this API."""
        return reply(request, description())


def _gate(gate: Gate) -> dict[str, Any]:
    known = asdict(gate)
    return {**known, "severity": gate.severity.value, "aspect": gate.aspect.value}
