"""Who is calling, and what may they read here? GitHub's word, remembered for five minutes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Protocol

from aiohttp import web
from cachetools import TTLCache

from bot.adapters.github.visitors import UnknownToken
from bot.adapters.web.api.limits import PerMinute
from bot.adapters.web.api.refusals import Refusal, no_token, not_found, too_many
from bot.adapters.web.sharing import Shared
from bot.domain import regex
from bot.domain.visits import Visit
from bot.ports import GitHubError

REMEMBERED = 300.0
"""Seconds for which GitHub is not asked again."""
CALLS = 120
"""A minute and token."""
NEW_TOKENS = 30
"""A minute and address, of those that turn out to be no good: each is a question to GitHub, which shuts
out who asks too often. A token that was good lately is not held up by the others of its address, and one
that comes back after it was told to wait is counted apart from those that are new: made-up ones, each
used once, never use up what it needs."""
LATELY = 86_400.0
WAITING = 600.0
"""Seconds within which a token may come back."""

_NAMES = {
    "owner": regex.Pattern(r"[A-Za-z0-9_-]{1,39}"),
    "repo": regex.Pattern(r"[A-Za-z0-9._-]{1,100}"),
    "login": regex.Pattern(r"[A-Za-z0-9_-]{1,39}(?:\[bot\])?"),
}
"""What GitHub allows as a name; `_` is in the logins of managed users."""
_TOKEN = regex.Pattern(r"[A-Za-z0-9_.\-]{20,512}")
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
        self._visits: Shared[Key, Visit | None] = Shared(REMEMBERED, most=_KEPT, worth=0, timer=timer)
        self._unknown: TTLCache[str, bool] = TTLCache(_KEPT, REMEMBERED, timer=timer)
        self._good: TTLCache[str, bool] = TTLCache(_KEPT, LATELY, timer=timer)
        self._calls = PerMinute(CALLS, timer)
        self._new = PerMinute(NEW_TOKENS, timer)
        self._again = PerMinute(NEW_TOKENS, timer)
        self._waiting: TTLCache[str, bool] = TTLCache(_KEPT, WAITING, timer=timer)

    async def visit(self, request: web.Request) -> Visit:
        """What the caller may do in the repository of the path; raises `Refusal`."""
        token = _token(request)
        caller = hashlib.sha256(token.encode()).hexdigest()
        if wait := self._calls.spend(caller):
            raise too_many(wait)
        if not _has_possible_names(request):
            raise not_found()
        owner, name = request.match_info["owner"], request.match_info["repo"]
        visit = await self._asked_once((caller, owner.lower(), name.lower()), token, request.remote or "")
        if visit is None:
            raise not_found()
        return visit

    async def _asked_once(self, key: Key, token: str, address: str) -> Visit | None:
        caller, owner, name = key
        if caller in self._unknown:
            raise no_token()
        is_new = caller not in self._good and not self._visits.knows(key)
        counted = self._again if caller in self._waiting else self._new
        if is_new and (wait := counted.spend(address)):
            if caller not in self._waiting:
                self._waiting[caller], wait = True, 1.0
            raise too_many(wait, "Too many new tokens from this address")
        try:
            visit = await self._visits.of(key, lambda: self._visitors.visit(token, owner, name))
        except UnknownToken:
            self._unknown[caller] = True
            raise no_token() from None
        except GitHubError:
            raise Refusal(503, "GitHub can't be asked about this token right now.") from None
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
        raise no_token()
    return token.strip()
