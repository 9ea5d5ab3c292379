"""The token of each repository: one at a time, asked for once, however many need it at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cachetools import TLRUCache

Scope = tuple[int, int]
"""An installation, and the one repository of it that is meant: 0 for all."""

_SPARE = timedelta(minutes=5)
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Token:
    """What opens an installation's repository, and until when."""

    value: str = field(repr=False)
    expires_at: datetime


class Tokens:
    """Remembers tokens until shortly before they end."""

    def __init__(self, fetch: Callable[[Scope], Awaitable[Token]], now: Callable[[], datetime]) -> None:
        self._fetch = fetch
        self._known: TLRUCache[Scope, Token] = TLRUCache(_KEPT, _good_until, timer=lambda: now().timestamp())
        self._asked: dict[Scope, asyncio.Task[Token]] = {}

    async def of(self, scope: Scope) -> Token:
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

    def drop(self, scope: Scope, token: Token) -> None:
        """Forget a token that GitHub refuses, unless a newer one is there already."""
        if self._known.get(scope) is token:
            del self._known[scope]

    def any_scope(self) -> Scope | None:
        """Any scope whose token is at hand."""
        return next(iter(self._known), None)

    async def _renew(self, scope: Scope) -> Token:
        try:
            token = await self._fetch(scope)
            self._known[scope] = token
            return token
        finally:
            del self._asked[scope]


def _good_until(_: Scope, token: Token, __: float) -> float:
    return (token.expires_at - _SPARE).timestamp()


def _look_at_the_error(task: asyncio.Task[Token]) -> None:
    # Whoever waited has it; where all of them gave up, asyncio would complain.
    if not task.cancelled():
        task.exception()
