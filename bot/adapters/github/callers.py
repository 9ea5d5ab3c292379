"""Who asks: the App itself by its key, or one of its installations by a token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, TypeVar

from bot.adapters.github.app_key import AppKey
from bot.adapters.github.errors import Asked, BadToken
from bot.adapters.github.tokens import Scope, Token, Tokens
from bot.adapters.github.wire import Api, Wire
from bot.adapters.payloads.fields import Odd, find, moment, optional_integer, word
from bot.ports import Forbidden, Gone, RateLimited, Refused, Unavailable

T = TypeVar("T")

Paused = Callable[[int], Awaitable[datetime | None]]
"""Until when an installation must not ask, as whoever met its limit wrote it down; None where it may."""


async def never(_installation_id: int) -> None:
    """Nobody else met a limit."""


class Callers:
    """Lends the right credentials to each request."""

    def __init__(self, key: AppKey, wire: Wire, now: Callable[[], datetime], paused: Paused = never) -> None:
        self._key = key
        self._wire = wire
        self._now = now
        self._paused = paused
        self._tokens = Tokens(self._new_token, now)

    @property
    def app_id(self) -> int:
        """The App's number."""
        return self._key.app_id

    async def as_installation(self, asked: Asked, ask: Callable[[Api], Awaitable[T]]) -> T:
        """What the installation is answered; a token that was revoked is replaced once."""
        scope = (asked.installation_id, asked.repository_id)
        if not asked.installation_id:
            raise Forbidden(f"{asked.what}: the delivery came through no installation of the App")
        if until := await self._paused(asked.installation_id):
            raise RateLimited(until)  # GitHub shuts out who asks all the same
        token = await self._tokens.of(scope)
        try:
            return await ask(Api(self._wire, asked, token))
        except BadToken:
            # Nothing was done, so asking again is safe.
            self._tokens.drop(scope, token)
        except Forbidden as refusal:
            if refusal.permission and asked.permission.endswith("=write"):
                # A token has the permissions of its day: when the write is tried again, they may be more.
                self._tokens.drop(scope, token)
            raise
        return await ask(Api(self._wire, asked, await self._tokens.of(scope)))

    async def as_app(self, asked: Asked, ask: Callable[[Api], Awaitable[T]]) -> T:
        """What the App is answered."""
        try:
            return await ask(Api(self._wire, asked, jwt=self._key.signed(self._now())))
        except BadToken as error:
            hint = "check GITHUB_APP_ID, GITHUB_PRIVATE_KEY and this machine's clock"
            raise Unavailable(f"{error}; {hint}") from error

    async def as_anybody(self, asked: Asked, ask: Callable[[Api], Awaitable[T]]) -> T:
        """What GitHub tells everybody; by some installation, because strangers are soon limited."""
        scope = self._tokens.any_scope() or await self._an_installation()
        if not scope:
            return await ask(Api(self._wire, asked))
        return await self.as_installation(Asked(asked.what, asked.permission, *scope), ask)

    async def _new_token(self, scope: Scope) -> Token:
        installation, repository = scope
        path = "/app/installations/{installation}/access_tokens"
        asked = Asked(f"POST {path}", "", 0)
        # Without `permissions`: asking for one that was not granted refuses the whole token. For one
        # repository by its number: a name may be another repository's by now, whose thread is not ours.
        body = {"repository_ids": [repository]} if repository else b""
        try:
            answer = await self.as_app(
                asked, lambda api: api.write("POST", path, body, installation=installation)
            )
        except Refused as refused:
            raise Gone(f"{asked.what}: the installation has no such repository: {refused}") from refused
        try:
            return Token(word(answer, "token"), moment(answer, "expires_at"))
        except Odd as error:
            raise Unavailable(f"{asked.what}: {error}") from error

    async def _an_installation(self) -> Scope | None:
        path = "/app/installations?per_page=100"
        installations: list[Any] = await self.as_app(Asked(f"GET {path}", "", 0), lambda api: api.get(path))
        living = (each for each in installations if not find(each, "suspended_at"))
        found = next((optional_integer(each, "id") for each in living), None)
        return (found, 0) if found else None
