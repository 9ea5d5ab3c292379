"""Who is calling, and what may they read here? GitHub's word, remembered for five minutes."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Callable
from typing import Protocol

from aiohttp import web
from cachetools import TTLCache

from bot.adapters.github.visitors import UnknownToken
from bot.adapters.web.api.limits import PerMinute
from bot.adapters.web.api.refusals import Refusal, no_token, not_found, too_many
from bot.domain.visits import Visit
from bot.ports import GitHubError

REMEMBERED = 300.0
"""Seconds for which GitHub is not asked again."""
CALLS = 120
"""A minute and token."""
WRONG_TOKENS = 30
"""A minute and address: each of them is a question to GitHub, which shuts out who asks too often."""

_TOKEN = re.compile(r"[A-Za-z0-9_.\-]{20,512}")
_KEPT = 10_000

Key = tuple[str, str, str]


class Visitors(Protocol):
    """Whoever asks GitHub."""

    async def visit(self, token: str, owner: str, name: str) -> Visit | None:
        """What the token may do there; None for nothing, `UnknownToken` for one that is no good."""
        ...


class Access:
    """Lets callers in by their GitHub token; keeps its hash, never the token."""

    def __init__(self, visitors: Visitors, timer: Callable[[], float] = time.monotonic) -> None:
        self._visitors = visitors
        self._known: TTLCache[Key, Visit | None] = TTLCache(_KEPT, REMEMBERED, timer=timer)
        self._unknown: TTLCache[str, bool] = TTLCache(_KEPT, REMEMBERED, timer=timer)
        self._asked: dict[Key, asyncio.Task[Visit | None]] = {}
        self._calls = PerMinute(CALLS, timer)
        self._wrong = PerMinute(WRONG_TOKENS, timer)

    async def visit(self, request: web.Request) -> Visit:
        """What the caller may do in the repository of the path; raises `Refusal`."""
        token = _token(request)
        caller = hashlib.sha256(token.encode()).hexdigest()
        if wait := self._calls.spend(caller):
            raise too_many(wait)
        owner, name = request.match_info["owner"], request.match_info["repo"]
        visit = await self._asked_once((caller, owner.lower(), name.lower()), token, request.remote or "")
        if visit is None:
            raise not_found()
        return visit

    async def _asked_once(self, key: Key, token: str, address: str) -> Visit | None:
        if key[0] in self._unknown:
            raise no_token()
        if key in self._known:
            return self._known[key]
        if self._wrong.is_spent(address):
            raise too_many(60)
        try:
            return await self._answer(key, token)
        except UnknownToken:
            self._unknown[key[0]] = True
            self._wrong.spend(address)
            raise no_token() from None
        except GitHubError:
            raise Refusal(503, "GitHub can't be asked about this token right now.") from None

    async def _answer(self, key: Key, token: str) -> Visit | None:
        """Those who ask at the same time share one question."""
        task = self._asked.get(key)
        if task is None:
            task = asyncio.create_task(self._visitors.visit(token, key[1], key[2]))
            self._asked[key] = task
            task.add_done_callback(lambda done: self._settle(key, done))
        return await asyncio.shield(task)

    def _settle(self, key: Key, done: asyncio.Task[Visit | None]) -> None:
        del self._asked[key]
        if not done.cancelled() and done.exception() is None:
            self._known[key] = done.result()


def _token(request: web.Request) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() not in {"bearer", "token"} or not _TOKEN.fullmatch(token.strip()):
        raise no_token()
    return token.strip()
