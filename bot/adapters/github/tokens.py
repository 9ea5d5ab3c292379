"""The token of each installation: one at a time, asked for once, however many need it at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cachetools import TLRUCache

_SPARE = timedelta(minutes=5)
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Token:
    """What opens an installation, and until when."""

    value: str = field(repr=False)
    expires_at: datetime


class Tokens:
    """Remembers tokens until shortly before they end."""

    def __init__(self, fetch: Callable[[int], Awaitable[Token]], now: Callable[[], datetime]) -> None:
        self._fetch = fetch
        self._known: TLRUCache[int, Token] = TLRUCache(_KEPT, _good_until, timer=lambda: now().timestamp())
        self._asked: dict[int, asyncio.Task[Token]] = {}

    async def of(self, installation_id: int) -> Token:
        """The installation's token; those who ask while it is fetched share the answer, or the error."""
        known = self._known.get(installation_id)
        if known is not None:
            return known
        task = self._asked.get(installation_id)
        if task is None:
            task = asyncio.create_task(self._renew(installation_id))
            self._asked[installation_id] = task
            task.add_done_callback(_look_at_the_error)
        # One who gives up waiting does not take the token from the others.
        return await asyncio.shield(task)

    def drop(self, installation_id: int, token: Token) -> None:
        """Forget a token that GitHub refuses, unless a newer one is there already."""
        if self._known.get(installation_id) is token:
            del self._known[installation_id]

    def an_installation(self) -> int | None:
        """Any installation whose token is at hand."""
        return next(iter(self._known), None)

    async def _renew(self, installation_id: int) -> Token:
        try:
            token = await self._fetch(installation_id)
            self._known[installation_id] = token
            return token
        finally:
            del self._asked[installation_id]


def _good_until(_: int, token: Token, __: float) -> float:
    return (token.expires_at - _SPARE).timestamp()


def _look_at_the_error(task: asyncio.Task[Token]) -> None:
    # Whoever waited has it; where all of them gave up, asyncio would complain.
    if not task.cancelled():
        task.exception()
