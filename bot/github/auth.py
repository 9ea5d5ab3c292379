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
)
from bot.github.payloads import PayloadError, get_integer, get_path, require_text, require_time
from bot.github.transport import GitHubRequester, InstallationToken, Transport

_BACK = timedelta(seconds=60)  # clocks differ
_LIFE = timedelta(minutes=9)  # GitHub takes ten at most, from its own clock


@dataclass(frozen=True, slots=True)
class AppKey:
    """The App's number and its private key."""

    app_id: int
    pem: str = field(repr=False)

    def signed(self, now: datetime) -> str:
        """A JWT that is good for the next minutes."""
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
        raise TypeError("the App's key is not an RSA key")
    return key


TokenScope = tuple[int, int]
"""An installation, and the one repository of it that is meant: 0 for all."""

_SPARE = timedelta(minutes=5)
_KEPT = 10_000


class TokenCache:
    """Remembers tokens until shortly before they end."""

    def __init__(
        self, fetch: Callable[[TokenScope], Awaitable[InstallationToken]], now: Callable[[], datetime]
    ) -> None:
        self._fetch = fetch
        self._known: TLRUCache[TokenScope, InstallationToken] = TLRUCache(
            _KEPT, _good_until, timer=lambda: now().timestamp()
        )
        self._asked: dict[TokenScope, asyncio.Task[InstallationToken]] = {}

    async def of(self, scope: TokenScope) -> InstallationToken:
        """The scope's token; those who ask while it is fetched share the answer, or the error."""
        known = self._known.get(scope)
        if known is not None:
            return known
        task = self._asked.get(scope)
        if task is None:
            task = asyncio.create_task(self._renew(scope))
            self._asked[scope] = task
            task.add_done_callback(_look_at_the_error)
        # One who gives up waiting does not take the token from the others.
        return await asyncio.shield(task)

    def drop(self, scope: TokenScope, token: InstallationToken) -> None:
        """Forget a token that GitHub refuses, unless a newer one is there already."""
        if self._known.get(scope) is token:
            del self._known[scope]

    def any_scope(self) -> TokenScope | None:
        """Any scope whose token is at hand."""
        return next(iter(self._known), None)

    async def _renew(self, scope: TokenScope) -> InstallationToken:
        try:
            token = await self._fetch(scope)
            self._known[scope] = token
            return token
        finally:
            del self._asked[scope]


def _good_until(_: TokenScope, token: InstallationToken, __: float) -> float:
    return (token.expires_at - _SPARE).timestamp()


def _look_at_the_error(task: asyncio.Task[InstallationToken]) -> None:
    # Whoever waited has it; where all of them gave up, asyncio would complain.
    if not task.cancelled():
        task.exception()


Answered = TypeVar("Answered")

PauseCheck = Callable[[int], Awaitable[datetime | None]]
"""Until when an installation must not ask, as whoever met its limit wrote it down; None where it may."""


async def never_paused(_installation_id: int) -> None:
    """Nobody else met a limit."""


class Authenticator:
    """Lends the right credentials to each request."""

    def __init__(
        self, key: AppKey, wire: Transport, now: Callable[[], datetime], paused: PauseCheck = never_paused
    ) -> None:
        self._key = key
        self._wire = wire
        self._now = now
        self._paused = paused
        self._tokens = TokenCache(self._new_token, now)

    @property
    def app_id(self) -> int:
        """The App's number."""
        return self._key.app_id

    async def as_installation(
        self, asked: ApiRequest, ask: Callable[[GitHubRequester], Awaitable[Answered]]
    ) -> Answered:
        """What the installation is answered; a token that was revoked is replaced once."""
        scope = (asked.installation_id, asked.repository_id)
        if not asked.installation_id:
            raise Forbidden(f"{asked.what}: the delivery came through no installation of the App")
        if until := await self._paused(asked.installation_id):
            raise RateLimited(until)  # GitHub shuts out who asks all the same
        token = await self._tokens.of(scope)
        try:
            return await ask(GitHubRequester(self._wire, asked, token))
        except BadToken:
            # Nothing was done, so asking again is safe.
            self._tokens.drop(scope, token)
        except Forbidden as refusal:
            if refusal.permission and asked.permission.endswith("=write"):
                # A token has the permissions of its day: when the write is tried again, they may be more.
                self._tokens.drop(scope, token)
            raise
        return await ask(GitHubRequester(self._wire, asked, await self._tokens.of(scope)))

    async def as_app(
        self, asked: ApiRequest, ask: Callable[[GitHubRequester], Awaitable[Answered]]
    ) -> Answered:
        """What the App is answered."""
        try:
            return await ask(GitHubRequester(self._wire, asked, jwt=self._key.signed(self._now())))
        except BadToken as error:
            hint = "check GITHUB_APP_ID, GITHUB_PRIVATE_KEY and this machine's clock"
            raise GitHubUnavailable(f"{error}; {hint}") from error

    async def as_anybody(
        self, asked: ApiRequest, ask: Callable[[GitHubRequester], Awaitable[Answered]]
    ) -> Answered:
        """What GitHub tells everybody; by some installation, because strangers are soon limited."""
        scope = self._tokens.any_scope() or await self._an_installation()
        if not scope:
            return await ask(GitHubRequester(self._wire, asked))
        return await self.as_installation(ApiRequest(asked.what, asked.permission, *scope), ask)

    async def _new_token(self, scope: TokenScope) -> InstallationToken:
        installation, repository = scope
        path = "/app/installations/{installation}/access_tokens"
        asked = ApiRequest(f"POST {path}", "", 0)
        # Without `permissions`: asking for one that was not granted refuses the whole token. For one
        # repository by its number: a name may be another repository's by now, whose thread is not ours.
        body = {"repository_ids": [repository]} if repository else b""
        try:
            answer = await self.as_app(
                asked, lambda api: api.write("POST", path, body, installation=installation)
            )
        except ValidationFailed as refused:
            raise NotFound(f"{asked.what}: the installation has no such repository: {refused}") from refused
        try:
            return InstallationToken(require_text(answer, "token"), require_time(answer, "expires_at"))
        except PayloadError as error:
            raise GitHubUnavailable(f"{asked.what}: {error}") from error

    async def _an_installation(self) -> TokenScope | None:
        path = "/app/installations?per_page=100"
        installations: list[Any] = await self.as_app(
            ApiRequest(f"GET {path}", "", 0), lambda api: api.get(path)
        )
        living = (each for each in installations if not get_path(each, "suspended_at"))
        found = next((get_integer(each, "id") for each in living), None)
        return (found, 0) if found else None
