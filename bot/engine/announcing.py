"""How does a comment of its own reach the thread exactly once, also when the answer is lost?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.domain.announcement import Announce
from bot.engine.settling import LOOK_BACK, sent_at
from bot.ports import Claim, GitHub, OutboxRow, PostedComment, RowState, Store


@dataclass(frozen=True, slots=True)
class Announcer:
    """Posts what is said once."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def announce(self, claim: Claim, row: OutboxRow, effect: Announce) -> None:
        """Posted, or found where an attempt whose answer was lost had posted it."""
        if row.state is not RowState.SENDING or not await self._posted_before(row, effect):
            await self.store.sending(claim, row)
            await self.github.create_comment(effect.repository, effect.number, effect.body)
        await self.store.sent(claim, row, None, ())

    async def _posted_before(self, row: OutboxRow, effect: Announce) -> PostedComment | None:
        since = sent_at(row, self.clock()) - LOOK_BACK
        return await self.github.find_comment(effect.repository, effect.number, effect.marker_id, since)
