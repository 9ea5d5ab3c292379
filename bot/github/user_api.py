"""Calls with a user's own token: what it may do in a repository."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from bot.gates.config import Permission
from bot.github import payloads
from bot.github.errors import GitHubUnavailable, parse_answer
from bot.github.model import TokenAccess
from bot.github.payloads import get_list, get_path
from bot.github.transport import ACCEPT_HEADER, REPO_PATH, USER_AGENT, fill_path, has_dot_segment
from bot.values import GHOST, Account

_MOST_PAGES = 20
_WHO = "query { viewer { databaseId login } }"
_NO_ACCESS = frozenset({403, 404, 410, 451})


class UnknownTokenError(Exception):
    """The token is not, or no longer, valid."""


@asynccontextmanager
async def open_user_api(api_url: str, graphql_url: str, *, seconds: float = 10) -> AsyncIterator[UserApi]:
    """Open with separate connections: a user's token never shares one with the App's."""
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield UserApi(session, api_url, graphql_url)


class UserApi:
    """Calls GitHub with a user's token; caches nothing."""

    def __init__(self, session: aiohttp.ClientSession, api_url: str, graphql_url: str) -> None:
        self._session = session
        self._api_url = api_url.rstrip("/")
        self._graphql_url = graphql_url

    async def visit(self, token: str, owner: str, name: str) -> TokenAccess | None:
        """What the token may do in a repository; None if it may not read it, or there is none."""
        if has_dot_segment(owner) or has_dot_segment(name):
            return None
        path = fill_path(REPO_PATH, owner=owner, repo=name)
        (repository, scopes), (user, _) = await asyncio.gather(
            self._get(token, path), self._get(token, "/user")
        )
        if repository is None:
            return None
        where = parse_answer(
            "malformed repository from GitHub", payloads.parse_repository, {"repository": repository}
        )
        if account := _account(user):
            return TokenAccess(where, account, _role(repository, scopes, private=where.private))
        # GitHub's flags are a user's. Where it names none, they give no right: what is done by it could
        # be ascribed to nobody.
        app = await self._app(token)
        installed = app is not None and await self._is_installed(token, where.id)
        return TokenAccess(where, app, Permission.READ, installed)

    async def _app(self, token: str) -> Account | None:
        """The App whose token it is, None if GitHub does not say; REST has no such call."""
        try:
            async with self._session.post(
                self._graphql_url, json={"query": _WHO}, headers=_headers(token), allow_redirects=False
            ) as response:
                said = _read(response.status, response.headers, await response.read())
        except (
            aiohttp.ClientError,
            TimeoutError,
            OSError,
            msgspec.DecodeError,
            GitHubUnavailable,
            UnknownTokenError,
        ):
            return None  # a validation without a name still counts
        login, identity = get_path(said, "data.viewer.login"), get_path(said, "data.viewer.databaseId")
        if not (isinstance(login, str) and login.endswith("[bot]") and isinstance(identity, int)):
            return None
        return Account(identity, login, bot=True)

    async def _is_installed(self, token: str, repository_id: int) -> bool:
        """Whether an App's token is for this repository: every App can read what is public."""
        for page in range(1, _MOST_PAGES + 1):
            answer, _ = await self._get(token, f"/installation/repositories?per_page=100&page={page}")
            listed = get_list(answer, "repositories")
            if not listed:
                return False
            if any(get_path(each, "id") == repository_id for each in listed):
                return True
        return False

    async def _get(self, token: str, path: str) -> tuple[Any, str | None]:
        """The answer, None if GitHub shows nothing to this token; and the scopes of a classic one."""
        try:
            # A renamed repository answers with another address; the token is shown to this host only.
            async with self._session.get(self._api_url + path, headers=_headers(token)) as response:
                content = _read(response.status, response.headers, await response.read())
                return content, response.headers.get("X-OAuth-Scopes")
        except (aiohttp.ClientError, TimeoutError, OSError, msgspec.DecodeError) as error:
            raise GitHubUnavailable(f"GET {path}: {type(error).__name__}") from error


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Accept": ACCEPT_HEADER, "User-Agent": USER_AGENT}


def _read(status: int, headers: Mapping[str, str], body: bytes) -> Any:
    if status == 401:
        raise UnknownTokenError
    limited = status == 429 or "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    if status in _NO_ACCESS and not (status == 403 and limited):
        return None
    if status != 200:
        raise GitHubUnavailable(f"GitHub responded with {status}")
    return msgspec.json.decode(body)


def _account(user: Any) -> Account | None:
    # An installation's token belongs to no user, and is refused this question.
    found = payloads.parse_account({"user": user}, "user")
    return None if found == GHOST else found


def _role(repository: Any, scopes: str | None, *, private: bool) -> Permission:
    """The role of the token's owner, which a classic token has only with the scope for it.

    What a fine-grained token itself may do GitHub does not tell, and trying it out would be a write: the
    owner's identity and role decide.
    """
    # Whoever is shown the repository may read it.
    if scopes is not None and not _may_act(scopes, private=private):
        return Permission.READ
    return Permission(payloads.highest_role(repository, "permissions") or Permission.READ)


def _may_act(scopes: str, *, private: bool) -> bool:
    """Whether a classic token has its owner's role there; GitHub's flags are the owner's, not the token's."""
    enough = {"repo"} if private else {"repo", "public_repo"}
    return not enough.isdisjoint(scope.strip() for scope in scopes.split(","))
