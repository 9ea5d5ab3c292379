"""What anybody may ask: the App's login, the schemas, the description of this API; and the gates in force."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from bot.adapters import schemas
from bot.adapters.web.api.guard import Guard
from bot.adapters.web.api.openapi import description
from bot.adapters.web.api.refusals import github_away, not_found
from bot.adapters.web.api.replies import reply
from bot.adapters.web.sharing import Shared
from bot.domain.gates import Gate
from bot.domain.model import Account
from bot.domain.visits import Visit
from bot.ports import GitHubError, RuleBook

REMEMBERED = 30.0
"""Seconds for which GitHub is not asked again who we are, whatever it said."""
_SCHEMA = "application/schema+json"


@dataclass(frozen=True, slots=True)
class OpenDoors:
    """Answers that need no token, and the gates, which need one."""

    me: Callable[[], Awaitable[Account]]
    rule_book: RuleBook
    shared: Shared[str, Account | GitHubError] = field(default_factory=lambda: Shared(REMEMBERED))

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
        me = await self.shared.of("me", self._me)
        if isinstance(me, GitHubError):
            return github_away(me, datetime.now(UTC)).answer()
        return reply(request, {"id": me.id, "login": me.login})

    async def _me(self) -> Account | GitHubError:
        try:
            return await self.me()
        except GitHubError as trouble:
            return trouble  # kept as well: anybody may ask, as often as they like

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
