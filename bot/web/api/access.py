"""Authorize API calls by GitHub token, with rate limits."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from aiohttp import web
from cachetools import TTLCache

from bot import regex
from bot.gates.config import Permission
from bot.github.errors import GitHubError, RateLimited
from bot.github.model import TokenAccess
from bot.github.user_api import UnknownTokenError, UserApi
from bot.store.lanes import pause_installation
from bot.store.model import StoreUnavailable
from bot.store.repositories import find_repository
from bot.store.store import Store
from bot.values import Repository
from bot.web.api.oidc import GITHUB_ACTIONS, OidcVerifier, is_oidc_token
from bot.web.cache import SingleFlightCache
from bot.web.responses import ApiError, api_not_found, github_unavailable, too_many_requests, unauthorized

_MINUTE = 60.0
_MAX_CALLERS = 20_000


class RateLimiter:
    """Limits calls in the minute that begins with a caller's first one."""

    def __init__(self, limit: int, timer: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._timer = timer
        self._windows: TTLCache[str, tuple[float, int]] = TTLCache(_MAX_CALLERS, _MINUTE, timer=timer)

    def spend(self, caller: str) -> float:
        """Count a call; returns 0 if it may be made, else the seconds until the next one may."""
        start, count = self._windows.get(caller, (self._timer(), 0))
        remaining = start + _MINUTE - self._timer()
        if count and remaining <= 0:
            start, count, remaining = self._timer(), 0, _MINUTE
        if count >= self._limit:
            return remaining
        self._windows[caller] = (start, count + 1)
        return 0.0

    def give_back(self, caller: str) -> None:
        """Take a counted call back."""
        if caller in self._windows:
            start, count = self._windows[caller]
            self._windows[caller] = (start, count - 1)


ACCESS_MAX_AGE = 300.0
"""Seconds for which GitHub is not asked again."""
CALLS_PER_MINUTE = 120
NEW_TOKENS_PER_MINUTE = 30
"""Invalid tokens per minute and address: each costs a request to GitHub, which blocks callers that ask
too often. A token that was valid lately is not held up by the others of its address, and one
that comes back after a 429 is counted apart from those that are new: made-up ones, each used once,
never use up its share."""
RECENT_TOKENS = 86_400.0
RETRY_WINDOW = 600.0
"""Seconds within which a token may come back."""

_NAMES = {
    "owner": regex.Regex(r"[A-Za-z0-9_-]{1,39}"),
    "repo": regex.Regex(r"[A-Za-z0-9._-]{1,100}"),
    "login": regex.Regex(r"[A-Za-z0-9_-]{1,39}(?:\[bot\])?"),
}
"""What GitHub allows as a name; `_` is in the logins of managed users."""
_TOKEN = regex.Regex(r"[A-Za-z0-9_.\-]{20,512}")
_CACHE_SIZE = 10_000

AccessKey = tuple[str, str, str]


class AccessCache:
    """Authorizes callers by their GitHub token; keeps its hash, never the token."""

    def __init__(
        self,
        user_api: UserApi,
        timer: Callable[[], float] = time.monotonic,
        oidc: OidcVerifier | None = None,
    ) -> None:
        self._user_api = user_api
        self._oidc = oidc
        self._access: SingleFlightCache[AccessKey, TokenAccess | None] = SingleFlightCache(
            ACCESS_MAX_AGE, max_size=_CACHE_SIZE, keep_factor=0, timer=timer
        )
        self._invalid: TTLCache[str, bool] = TTLCache(_CACHE_SIZE, ACCESS_MAX_AGE, timer=timer)
        self._valid: TTLCache[str, bool] = TTLCache(_CACHE_SIZE, RECENT_TOKENS, timer=timer)
        self._calls = RateLimiter(CALLS_PER_MINUTE, timer)
        self._new = RateLimiter(NEW_TOKENS_PER_MINUTE, timer)
        self._retries = RateLimiter(NEW_TOKENS_PER_MINUTE, timer)
        self._retrying: TTLCache[str, bool] = TTLCache(_CACHE_SIZE, RETRY_WINDOW, timer=timer)

    async def authorize(self, request: web.Request) -> TokenAccess:
        """Return what the caller may do in the repository of the path; raises `ApiError`."""
        token = _token(request)
        if self._oidc and is_oidc_token(token):
            return await self._authorize_workflow(self._oidc, token, request)
        caller = hashlib.sha256(token.encode()).hexdigest()
        if wait := self._calls.spend(caller):
            raise too_many_requests(wait)
        if not _has_possible_names(request):
            raise api_not_found()
        owner, name = request.match_info["owner"], request.match_info["repo"]
        access = await self._lookup((caller, owner.lower(), name.lower()), token, request.remote or "")
        if access is None:
            raise api_not_found()
        return access

    async def _authorize_workflow(self, oidc: OidcVerifier, token: str, request: web.Request) -> TokenAccess:
        """Let a job of GitHub Actions read its own repository; it may submit validations there."""
        claims = await oidc.verify(token)
        if wait := self._calls.spend(f"run:{claims.run_id}"):
            raise too_many_requests(wait)
        owner, name = request.match_info["owner"], request.match_info["repo"]
        if claims.repository.lower() != f"{owner}/{name}".lower():
            raise api_not_found()
        # GitHub numbers the repository, and the guard finds the installation.
        repository = Repository(claims.repository_id, owner, name, 0)
        return TokenAccess(repository, GITHUB_ACTIONS, Permission.READ, workflow=claims)

    async def _lookup(self, key: AccessKey, token: str, address: str) -> TokenAccess | None:
        caller, owner, name = key
        if caller in self._invalid:
            raise unauthorized()
        is_new = caller not in self._valid and key not in self._access
        limiter = self._retries if caller in self._retrying else self._new
        if is_new and (wait := limiter.spend(address)):
            if caller not in self._retrying:
                self._retrying[caller], wait = True, 1.0
            raise too_many_requests(wait, "Too many new tokens from this address")
        try:
            access = await self._access.get(key, lambda: self._user_api.visit(token, owner, name))
        except UnknownTokenError:
            self._invalid[caller] = True
            raise unauthorized() from None
        except GitHubError:
            raise ApiError(503, "GitHub can't verify this token right now. Try again later.") from None
        if is_new:
            limiter.give_back(address)
        self._valid[caller] = True
        return access


def _has_possible_names(request: web.Request) -> bool:
    # `.` and `..` have the form of a repository's name, and lead to GitHub's other endpoints.
    return all(
        name not in _NAMES or (text not in {".", ".."} and _NAMES[name].fullmatch(text))
        for name, text in request.match_info.items()
    )


def _token(request: web.Request) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() not in {"bearer", "token"} or not (
        _TOKEN.fullmatch(token.strip()) or is_oidc_token(token.strip())
    ):
        raise unauthorized()
    return token.strip()


API_PREFIX = "/api/v1/repos/{owner}/{repo}"
"""The path of everything about a repository."""

Endpoint = Callable[[web.Request, TokenAccess], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class RepositoryGuard:
    """Authorizes the caller before every endpoint."""

    access: AccessCache
    store: Store

    def get(self, path: str, endpoint: Endpoint) -> web.RouteDef:
        """A route below the repository's for callers who may read there."""
        return web.get(API_PREFIX + path, self._guarded(endpoint, Permission.READ), allow_head=False)

    def post(self, path: str, endpoint: Endpoint, minimum: Permission) -> web.RouteDef:
        """A route below the repository's for callers with at least this role."""
        return web.post(API_PREFIX + path, self._guarded(endpoint, minimum))

    def _guarded(
        self, endpoint: Endpoint, minimum: Permission
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def guarded(request: web.Request) -> web.StreamResponse:
            try:
                return await self._call(request, endpoint, await self._authorize(request, minimum))
            except ApiError as refusal:
                return refusal.response()
            except GitHubError as error:
                return github_unavailable(error, datetime.now(UTC)).response()
            except StoreUnavailable:
                return ApiError(503, "The store is unavailable. Try again later.").response()

        return guarded

    async def _call(
        self, request: web.Request, endpoint: Endpoint, access: TokenAccess
    ) -> web.StreamResponse:
        try:
            return await endpoint(request, access)
        except RateLimited as limit:
            # The limit is the installation's: its turns wait, too.
            await self.store.write(pause_installation, access.repository.installation_id, limit.until)
            raise

    async def _authorize(self, request: web.Request, minimum: Permission) -> TokenAccess:
        access = await self.access.authorize(request)
        recorded = await self.store.read(find_repository, access.repository.id)
        if recorded is None:
            raise api_not_found()
        if not access.may(minimum):
            raise ApiError(403, f"This needs the role {minimum.value} in the repository.")
        if access.workflow:  # its token says the name, but not who may see it
            owner, name = access.workflow.repository.split("/", 1)
            return replace(access, repository=replace(recorded, owner=owner, name=name))
        # GitHub's answer about the name and the visibility is newer than what is recorded.
        repository = replace(access.repository, id=recorded.id, installation_id=recorded.installation_id)
        return replace(access, repository=repository)
