"""Authorize API calls by GitHub token, with rate limits."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from aiohttp import web
from cachetools import TTLCache

from bot import regex
from bot.gates.config import Permission
from bot.github.errors import GitHubError, RateLimited
from bot.github.model import TokenAccess
from bot.github.user_api import UnknownTokenError, UserApi
from bot.store.model import StoreUnavailable
from bot.values import Repository
from bot.web.cache import SingleFlightCache
from bot.web.responses import ApiError, api_not_found, github_unavailable, too_many_requests, unauthorized

_MINUTE = 60.0
_CALLERS = 20_000


class RateLimiter:
    """Counts calls in the minute that begins with a caller's first one."""

    def __init__(self, most: int, timer: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._timer = timer
        self._begun: TTLCache[str, tuple[float, int]] = TTLCache(_CALLERS, _MINUTE, timer=timer)

    def spend(self, caller: str) -> float:
        """0 for a call that may be made, else the seconds until the next one may."""
        begun, count = self._begun.get(caller, (self._timer(), 0))
        left = begun + _MINUTE - self._timer()
        if count and left <= 0:
            begun, count, left = self._timer(), 0, _MINUTE
        if count >= self._most:
            return left
        self._begun[caller] = (begun, count + 1)
        return 0.0

    def give_back(self, caller: str) -> None:
        """A call that was counted did no harm."""
        if caller in self._begun:
            begun, count = self._begun[caller]
            self._begun[caller] = (begun, count - 1)


ACCESS_MAX_AGE = 300.0
"""Seconds for which GitHub is not asked again."""
CALLS_PER_MINUTE = 120
"""A minute and token."""
NEW_TOKENS_PER_MINUTE = 30
"""A minute and address, of those that turn out to be no good: each is a question to GitHub, which shuts
out who asks too often. A token that was good lately is not held up by the others of its address, and one
that comes back after it was told to wait is counted apart from those that are new: made-up ones, each
used once, never use up what it needs."""
RECENT_TOKENS = 86_400.0
WAITING = 600.0
"""Seconds within which a token may come back."""

_NAMES = {
    "owner": regex.Regex(r"[A-Za-z0-9_-]{1,39}"),
    "repo": regex.Regex(r"[A-Za-z0-9._-]{1,100}"),
    "login": regex.Regex(r"[A-Za-z0-9_-]{1,39}(?:\[bot\])?"),
}
"""What GitHub allows as a name; `_` is in the logins of managed users."""
_TOKEN = regex.Regex(r"[A-Za-z0-9_.\-]{20,512}")
_KEPT = 10_000

AccessKey = tuple[str, str, str]


class AccessCache:
    """Lets callers in by their GitHub token; keeps its hash, never the token."""

    def __init__(self, github: UserApi, timer: Callable[[], float] = time.monotonic) -> None:
        self._github = github
        self._visits: SingleFlightCache[AccessKey, TokenAccess | None] = SingleFlightCache(
            ACCESS_MAX_AGE, most=_KEPT, worth=0, timer=timer
        )
        self._unknown: TTLCache[str, bool] = TTLCache(_KEPT, ACCESS_MAX_AGE, timer=timer)
        self._good: TTLCache[str, bool] = TTLCache(_KEPT, RECENT_TOKENS, timer=timer)
        self._calls = RateLimiter(CALLS_PER_MINUTE, timer)
        self._new = RateLimiter(NEW_TOKENS_PER_MINUTE, timer)
        self._again = RateLimiter(NEW_TOKENS_PER_MINUTE, timer)
        self._waiting: TTLCache[str, bool] = TTLCache(_KEPT, WAITING, timer=timer)

    async def visit(self, request: web.Request) -> TokenAccess:
        """What the caller may do in the repository of the path; raises `Refusal`."""
        token = _token(request)
        caller = hashlib.sha256(token.encode()).hexdigest()
        if wait := self._calls.spend(caller):
            raise too_many_requests(wait)
        if not _has_possible_names(request):
            raise api_not_found()
        owner, name = request.match_info["owner"], request.match_info["repo"]
        visit = await self._asked_once((caller, owner.lower(), name.lower()), token, request.remote or "")
        if visit is None:
            raise api_not_found()
        return visit

    async def _asked_once(self, key: AccessKey, token: str, address: str) -> TokenAccess | None:
        caller, owner, name = key
        if caller in self._unknown:
            raise unauthorized()
        is_new = caller not in self._good and not self._visits.knows(key)
        counted = self._again if caller in self._waiting else self._new
        if is_new and (wait := counted.spend(address)):
            if caller not in self._waiting:
                self._waiting[caller], wait = True, 1.0
            raise too_many_requests(wait, "Too many new tokens from this address")
        try:
            visit = await self._visits.of(key, lambda: self._github.visit(token, owner, name))
        except UnknownTokenError:
            self._unknown[caller] = True
            raise unauthorized() from None
        except GitHubError:
            raise ApiError(503, "GitHub can't be asked about this token right now.") from None
        if is_new:
            counted.give_back(address)
        self._good[caller] = True
        return visit


def _has_possible_names(request: web.Request) -> bool:
    # `.` and `..` have the form of a repository's name, and lead to GitHub's other endpoints.
    return all(
        name not in _NAMES or (text not in {".", ".."} and _NAMES[name].fullmatch(text))
        for name, text in request.match_info.items()
    )


def _token(request: web.Request) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() not in {"bearer", "token"} or not _TOKEN.fullmatch(token.strip()):
        raise unauthorized()
    return token.strip()


API_PREFIX = "/api/v1/repos/{owner}/{repo}"
"""Where everything about a repository stands."""

Endpoint = Callable[[web.Request, TokenAccess], Awaitable[web.StreamResponse]]

PauseInstallation = Callable[[int, datetime], Awaitable[None]]
"""Has an installation's work wait until then."""


class RepositoryLookup(Protocol):
    """Whoever knows where the App works."""

    async def repository(self, repository_id: int) -> Repository | None:
        """The repository as last seen, with its installation; None where the App never was."""
        ...


@dataclass(frozen=True, slots=True)
class RepositoryGuard:
    """Puts the question who is calling before every endpoint."""

    access: AccessCache
    repositories: RepositoryLookup
    pause: PauseInstallation

    def get(self, path: str, endpoint: Endpoint) -> web.RouteDef:
        """A route below the repository's that whoever may read there may call."""
        return web.get(API_PREFIX + path, self._guarded(endpoint, Permission.READ), allow_head=False)

    def post(self, path: str, endpoint: Endpoint, least: Permission) -> web.RouteDef:
        """A route below the repository's for those with at least this role."""
        return web.post(API_PREFIX + path, self._guarded(endpoint, least))

    def _guarded(
        self, endpoint: Endpoint, least: Permission
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def guarded(request: web.Request) -> web.StreamResponse:
            try:
                return await self._answered(request, endpoint, await self._visit(request, least))
            except ApiError as refusal:
                return refusal.answer()
            except GitHubError as trouble:
                return github_unavailable(trouble, datetime.now(UTC)).answer()
            except StoreUnavailable:
                return ApiError(503, "The store is away; ask again later.").answer()

        return guarded

    async def _answered(
        self, request: web.Request, endpoint: Endpoint, visit: TokenAccess
    ) -> web.StreamResponse:
        try:
            return await endpoint(request, visit)
        except RateLimited as limit:
            # The limit is the installation's, whoever met it: its turns wait, too.
            await self.pause(visit.repository.installation_id, limit.until)
            raise

    async def _visit(self, request: web.Request, least: Permission) -> TokenAccess:
        visit = await self.access.visit(request)
        known = await self.repositories.repository(visit.repository.id)
        if known is None:
            raise api_not_found()
        if not visit.may(least):
            raise ApiError(403, f"The token's holder needs the role {least.value} in this repository.")
        # GitHub's word on the name and on who may read it is newer than ours.
        seen = visit.repository
        return replace(visit, repository=replace(seen, id=known.id, installation_id=known.installation_id))
