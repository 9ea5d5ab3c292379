"""Which calls reach an endpoint of a repository: those of a token that may read it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from aiohttp import web

from bot.adapters.web.api.access import Access
from bot.adapters.web.api.refusals import Refusal, github_away, not_found
from bot.domain.choices import Permission
from bot.domain.model import Repository
from bot.domain.visits import Visit
from bot.ports import GitHubError, RateLimited, StoreUnavailable

PREFIX = "/api/v1/repos/{owner}/{repo}"
"""Where everything about a repository stands."""

Endpoint = Callable[[web.Request, Visit], Awaitable[web.StreamResponse]]

Pause = Callable[[int, datetime], Awaitable[None]]
"""Has an installation's work wait until then."""


class Repositories(Protocol):
    """Whoever knows where the App works."""

    async def repository(self, repository_id: int) -> Repository | None:
        """The repository as last seen, with its installation; None where the App never was."""
        ...


@dataclass(frozen=True, slots=True)
class Guard:
    """Puts the question who is calling before every endpoint."""

    access: Access
    repositories: Repositories
    pause: Pause

    def get(self, path: str, endpoint: Endpoint) -> web.RouteDef:
        """A route below the repository's that whoever may read there may call."""
        return web.get(PREFIX + path, self._guarded(endpoint, Permission.READ), allow_head=False)

    def post(self, path: str, endpoint: Endpoint, least: Permission) -> web.RouteDef:
        """A route below the repository's for those with at least this role."""
        return web.post(PREFIX + path, self._guarded(endpoint, least))

    def _guarded(
        self, endpoint: Endpoint, least: Permission
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def guarded(request: web.Request) -> web.StreamResponse:
            try:
                return await self._answered(request, endpoint, await self._visit(request, least))
            except Refusal as refusal:
                return refusal.answer()
            except GitHubError as trouble:
                return github_away(trouble, datetime.now(UTC)).answer()
            except StoreUnavailable:
                return Refusal(503, "The store is away; ask again later.").answer()

        return guarded

    async def _answered(self, request: web.Request, endpoint: Endpoint, visit: Visit) -> web.StreamResponse:
        try:
            return await endpoint(request, visit)
        except RateLimited as limit:
            # The limit is the installation's, whoever met it: its turns wait, too.
            await self.pause(visit.repository.installation_id, limit.until)
            raise

    async def _visit(self, request: web.Request, least: Permission) -> Visit:
        visit = await self.access.visit(request)
        known = await self.repositories.repository(visit.repository.id)
        if known is None:
            raise not_found()
        if not visit.may(least):
            raise Refusal(403, f"The token's holder needs the role {least.value} in this repository.")
        # GitHub's word on the name and on who may read it is newer than ours.
        seen = visit.repository
        return replace(visit, repository=replace(seen, id=known.id, installation_id=known.installation_id))
