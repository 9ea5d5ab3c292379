"""What does GitHub say that the holder of a token may do? Asked with that token, which is not kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec

from bot.adapters.github.asking import has_dot_segment
from bot.adapters.github.wire import ACCEPT, REQUESTER
from bot.adapters.payloads import things
from bot.adapters.payloads.fields import Odd, find
from bot.domain.choices import Permission
from bot.domain.model import GHOST, Account
from bot.domain.visits import Visit
from bot.ports import Unavailable

_FLAGS = {
    "admin": Permission.ADMIN,
    "maintain": Permission.MAINTAIN,
    "push": Permission.WRITE,
    "triage": Permission.TRIAGE,
}
_MOST_PAGES = 20
_WHO = "query { viewer { databaseId login } }"
_NO_ACCESS = frozenset({403, 404, 410, 451})


class UnknownToken(Exception):
    """GitHub does not know this token, or knows it no longer."""


@asynccontextmanager
async def visitors(api_url: str, graphql_url: str, *, seconds: float = 10) -> AsyncIterator[Visitors]:
    """Connections of their own: a stranger's token never shares one with the App's."""
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield Visitors(session, api_url, graphql_url)


class Visitors:
    """Asks GitHub, and remembers nothing."""

    def __init__(self, session: aiohttp.ClientSession, api_url: str, graphql_url: str) -> None:
        self._session = session
        self._api_url = api_url.rstrip("/")
        self._graphql_url = graphql_url

    async def visit(self, token: str, owner: str, name: str) -> Visit | None:
        """What the token may do there; None where it may not even read, or nothing is there."""
        if has_dot_segment(owner) or has_dot_segment(name):
            return None
        path = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}"
        (repository, scopes), (user, _) = await asyncio.gather(
            self._get(token, path), self._get(token, "/user")
        )
        if repository is None:
            return None
        try:
            where = things.repository({"repository": repository})
            if account := _account(user):
                return Visit(where, account, _role(repository, scopes, private=where.private))
            # GitHub's flags are a user's. Where it names none, they give no right: what is done by it could
            # be ascribed to nobody.
            app = await self._app(token)
            installed = app is not None and await self._is_installed(token, where.id)
            return Visit(where, app, Permission.READ, installed)
        except Odd as error:
            raise Unavailable(f"GitHub's repository can't be read: {error}") from error

    async def _app(self, token: str) -> Account | None:
        """The App whose token it is, None where GitHub does not say; REST has no such question."""
        try:
            async with self._session.post(
                self._graphql_url, json={"query": _WHO}, headers=_headers(token), allow_redirects=False
            ) as response:
                said = _read(response.status, response.headers, await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError, msgspec.DecodeError, Unavailable, UnknownToken):
            return None  # a voice without a name is still heard
        login, identity = find(said, "data.viewer.login"), find(said, "data.viewer.databaseId")
        if not (isinstance(login, str) and login.endswith("[bot]") and isinstance(identity, int)):
            return None
        return Account(identity, login, bot=True)

    async def _is_installed(self, token: str, repository_id: int) -> bool:
        """Whether an App's token was given for this repository: what is public every App can read."""
        for page in range(1, _MOST_PAGES + 1):
            answer, _ = await self._get(token, f"/installation/repositories?per_page=100&page={page}")
            listed = find(answer, "repositories")
            if not isinstance(listed, list) or not listed:
                return False
            if any(find(each, "id") == repository_id for each in listed):
                return True
        return False

    async def _get(self, token: str, path: str) -> tuple[Any, str | None]:
        """The answer, None where GitHub shows nothing to this token; and the scopes of a classic one."""
        try:
            # A renamed repository answers with another address; the token is shown to this host only.
            async with self._session.get(self._api_url + path, headers=_headers(token)) as response:
                content = _read(response.status, response.headers, await response.read())
                return content, response.headers.get("X-OAuth-Scopes")
        except (aiohttp.ClientError, TimeoutError, OSError, msgspec.DecodeError) as error:
            raise Unavailable(f"GET {path}: {type(error).__name__}") from error


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Accept": ACCEPT, "User-Agent": REQUESTER}


def _read(status: int, headers: Mapping[str, str], body: bytes) -> Any:
    if status == 401:
        raise UnknownToken
    limited = status == 429 or "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    if status in _NO_ACCESS and not (status == 403 and limited):
        return None
    if status != 200:
        raise Unavailable(f"GitHub answers {status}")
    return msgspec.json.decode(body)


def _account(user: Any) -> Account | None:
    # An installation's token belongs to no user, and is refused this question.
    found = things.account({"user": user}, "user")
    return None if found == GHOST else found


def _role(repository: Any, scopes: str | None, *, private: bool) -> Permission:
    """The role of the token's owner, which a classic token has only with the scope for it.

    What a fine-grained token itself may do GitHub does not tell, and trying it out would be a write: the
    owner's identity and role decide.
    """
    # Whoever is shown the repository may read it.
    if scopes is not None and not _may_act(scopes, private=private):
        return Permission.READ
    granted = (role for flag, role in _FLAGS.items() if find(repository, f"permissions.{flag}") is True)
    return next(granted, Permission.READ)


def _may_act(scopes: str, *, private: bool) -> bool:
    """Whether a classic token has its owner's role there; GitHub's flags are the owner's, not the token's."""
    enough = {"repo"} if private else {"repo", "public_repo"}
    return not enough.isdisjoint(scope.strip() for scope in scopes.split(","))
