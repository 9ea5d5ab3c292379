"""Authenticate as the App or as an installation, with cached installation tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

import jwt
from cachetools import TLRUCache
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from bot.github.errors import (
    ApiRequest,
    BadToken,
    Forbidden,
    GitHubUnavailable,
    NotFound,
    RateLimited,
    ValidationFailed,
    parse_answer,
)
from bot.github.model import PostedComment
from bot.github.payloads import (
    get_integer,
    get_path,
    get_text,
    parse_account,
    require_id,
    require_text,
    require_time,
)
from bot.github.transport import REPO_PATH, GitHubRequester, InstallationToken, Transport, fill_path
from bot.values import GHOST, Account, Repository

_BACK = timedelta(seconds=60)  # clocks differ
_LIFE = timedelta(minutes=9)  # GitHub takes ten at most, from its own clock


@dataclass(frozen=True, slots=True)
class AppKey:
    """The App's number and its private key."""

    app_id: int
    pem: str = field(repr=False)

    def sign_jwt(self, now: datetime) -> str:
        """A JWT that is valid for the next minutes."""
        issued = now - _BACK
        claims = {
            "iat": int(issued.timestamp()),
            "exp": int((issued + _LIFE).timestamp()),
            "iss": str(self.app_id),
        }
        return jwt.encode(claims, _parsed(self.pem), algorithm="RS256")


@lru_cache(maxsize=4)
def _parsed(pem: str) -> RSAPrivateKey:
    # Checking a key takes tens of milliseconds, in which nothing else would be served.
    key = load_pem_private_key(pem.encode(), password=None)
    if not isinstance(key, RSAPrivateKey):
        raise TypeError("the App's private key must be an RSA key")
    return key


TokenScope = tuple[int, int]
"""An installation, and the one repository that the token is for: 0 for all."""

_SPARE = timedelta(minutes=5)
_AHEAD = timedelta(minutes=15)
"""A token that ends within this time is used once more while the next one is fetched: nobody waits for it."""
_KEPT = 10_000


class TokenCache:
    """Caches tokens until shortly before they expire."""

    def __init__(
        self, fetch: Callable[[TokenScope], Awaitable[InstallationToken]], now: Callable[[], datetime]
    ) -> None:
        self._fetch = fetch
        self._now = now
        self._cached: TLRUCache[TokenScope, InstallationToken] = TLRUCache(
            _KEPT, _good_until, timer=lambda: now().timestamp()
        )
        self._pending: dict[TokenScope, asyncio.Task[InstallationToken]] = {}

    async def get(self, scope: TokenScope) -> InstallationToken:
        """The scope's token; concurrent callers share one request and its error."""
        token = self._cached.get(scope)
        if token is not None and token.expires_at - self._now() > _AHEAD:
            return token
        task = self._pending.get(scope)
        if task is None:
            task = asyncio.create_task(self._renew(scope))
            self._pending[scope] = task
            task.add_done_callback(_retrieve_error)
        if token is not None:
            return token
        # One who gives up waiting does not take the token from the others.
        return await asyncio.shield(task)

    def drop(self, scope: TokenScope, token: InstallationToken) -> None:
        """Forget a token that GitHub refused, unless a newer one has replaced it."""
        if self._cached.get(scope) is token:
            del self._cached[scope]

    def any_scope(self) -> TokenScope | None:
        """Any scope with a cached token."""
        return next(iter(self._cached), None)

    async def _renew(self, scope: TokenScope) -> InstallationToken:
        try:
            token = await self._fetch(scope)
            self._cached[scope] = token
            return token
        finally:
            del self._pending[scope]


def _good_until(_: TokenScope, token: InstallationToken, __: float) -> float:
    return (token.expires_at - _SPARE).timestamp()


def _retrieve_error(task: asyncio.Task[InstallationToken]) -> None:
    # Whoever waited has it; where all of them gave up, asyncio would complain.
    if not task.cancelled():
        task.exception()


Answered = TypeVar("Answered")

PauseCheck = Callable[[int], Awaitable[datetime | None]]
"""Until when an installation is paused by a rate limit, as the store has it; None if it is not."""


async def never_paused(_installation_id: int) -> None:
    """No installation is paused."""


class Authenticator:
    """Sends each request with the right credentials."""

    def __init__(
        self,
        key: AppKey,
        transport: Transport,
        now: Callable[[], datetime],
        paused: PauseCheck = never_paused,
    ) -> None:
        self._key = key
        self._transport = transport
        self._now = now
        self._paused = paused
        self._tokens = TokenCache(self._new_token, now)

    @property
    def app_id(self) -> int:
        """The App's number."""
        return self._key.app_id

    async def as_installation(
        self, request: ApiRequest, send: Callable[[GitHubRequester], Awaitable[Answered]]
    ) -> Answered:
        """Send a request as the installation; a revoked token is replaced once."""
        scope = (request.installation_id, request.repository_id)
        if not request.installation_id:
            raise Forbidden(f"{request.what}: the delivery names no installation of the App")
        if until := await self._paused(request.installation_id):
            raise RateLimited(until)  # GitHub shuts out who asks all the same
        token = await self._tokens.get(scope)
        try:
            return await send(GitHubRequester(self._transport, request, token))
        except BadToken:
            # Nothing was done, so asking again is safe.
            self._tokens.drop(scope, token)
        except Forbidden as refusal:
            if refusal.permission and request.permission.endswith("=write"):
                # A token has the permissions of its day: when the write is tried again, they may be more.
                self._tokens.drop(scope, token)
            raise
        return await send(GitHubRequester(self._transport, request, await self._tokens.get(scope)))

    async def as_app(
        self, request: ApiRequest, send: Callable[[GitHubRequester], Awaitable[Answered]]
    ) -> Answered:
        """Send a request as the App."""
        try:
            return await send(GitHubRequester(self._transport, request, jwt=self._key.sign_jwt(self._now())))
        except BadToken as error:
            hint = "check GITHUB_APP_ID, GITHUB_PRIVATE_KEY and this machine's clock"
            raise GitHubUnavailable(f"{error}; {hint}") from error

    async def as_anybody(
        self, request: ApiRequest, send: Callable[[GitHubRequester], Awaitable[Answered]]
    ) -> Answered:
        """Send a request that needs no rights; as some installation, because anonymous limits are low."""
        scope = self._tokens.any_scope() or await self._any_installation()
        if not scope:
            return await send(GitHubRequester(self._transport, request))
        return await self.as_installation(ApiRequest(request.what, request.permission, *scope), send)

    async def _new_token(self, scope: TokenScope) -> InstallationToken:
        installation, repository = scope
        request = ApiRequest("POST /app/installations/{installation}/access_tokens", "", 0)
        path = f"/app/installations/{installation}/access_tokens"
        # Without `permissions`: asking for one that was not granted refuses the whole token. For one
        # repository by its number: a name may be another repository's by now, whose thread is not ours.
        body = {"repository_ids": [repository]} if repository else b""
        try:
            answer = await self.as_app(request, lambda api: api.write("POST", path, body))
        except ValidationFailed as error:
            raise NotFound(f"{request.what}: the installation has no such repository: {error}") from error
        return parse_answer(
            request.what,
            lambda tree: InstallationToken(require_text(tree, "token"), require_time(tree, "expires_at")),
            answer,
        )

    async def _any_installation(self) -> TokenScope | None:
        path = "/app/installations?per_page=100"
        installations = await self.as_app(ApiRequest(f"GET {path}", "", 0), lambda api: api.get(path))
        active = (item for item in installations if not get_path(item, "suspended_at"))
        installation_id = next((get_integer(item, "id") for item in active), None)
        return (installation_id, 0) if installation_id else None


def parse_posted_comment(answer: Any) -> PostedComment:
    """Parse the bot's comment from GitHub's answer."""
    return parse_answer(
        "malformed comment from GitHub",
        lambda tree: PostedComment(
            require_id(tree, "id"), require_text(tree, "node_id"), require_text(tree, "html_url")
        ),
        answer,
    )


class InstallationApi:
    """Requests about a repository, sent as the installation that owns it."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._auth = authenticator
        self._me: Account | None = None
        self._me_lock = asyncio.Lock()

    async def me(self) -> Account:
        """The App's own bot account; asked for once."""
        async with self._me_lock:
            if self._me is None:
                self._me = await self._fetch_me()
        return self._me

    async def _fetch_me(self) -> Account:
        app = await self._auth.as_app(ApiRequest("GET /app", "", 0), lambda api: api.get("/app"))
        path, login = "/users/{login}", f"{get_text(app, 'slug')}[bot]"
        request = ApiRequest(f"GET {path}", "metadata=read", 0)
        url = fill_path(path, login=login)
        answer = await self._auth.as_anybody(request, lambda api: api.get(url))
        account = parse_account({"user": answer}, "user")
        if account == GHOST:
            raise GitHubUnavailable(f"{request.what}: {login} can't be read")
        return account

    async def _call(
        self,
        repository: Repository,
        method: str,
        path: str,
        permission: str,
        send: Callable[[GitHubRequester, str], Awaitable[Answered]],
        **gaps: str | int,
    ) -> Answered:
        """Send a request to a path below the repository's, as its installation."""
        path = f"{REPO_PATH}{path}"
        what = f"{method} {path.partition('?')[0]} in {repository.full_name}"
        request = ApiRequest(what, permission, repository.installation_id, repository.id)
        url = fill_path(path, owner=repository.owner, repo=repository.name, **gaps)
        return await self._auth.as_installation(request, lambda api: send(api, url))

    async def _get(self, repository: Repository, path: str, permission: str, **gaps: str | int) -> Any:
        return await self._call(repository, "GET", path, permission, GitHubRequester.get, **gaps)

    async def _list(
        self, repository: Repository, path: str, permission: str, limit: int | None = None, **gaps: str | int
    ) -> list[Any]:
        return await self._call(
            repository, "GET", path, permission, lambda api, url: api.items(url, limit), **gaps
        )

    async def _write(
        self,
        repository: Repository,
        method: str,
        path: str,
        permission: str,
        data: Any = b"",
        **gaps: str | int,
    ) -> Any:
        return await self._call(
            repository, method, path, permission, lambda api, url: api.write(method, url, data), **gaps
        )

    async def _mutate(self, repository: Repository, what: str, query: str, **variables: str) -> None:
        request = ApiRequest(what, "pull_requests=write", repository.installation_id, repository.id)
        await self._auth.as_installation(request, lambda api: api.mutate(query, **variables))
