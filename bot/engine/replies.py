"""How does the answer to a command reach its thread exactly once?"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.domain.escape import marker
from bot.domain.replied import is_said_anew
from bot.domain.thread_effects import MinimiseReply, React, Reply
from bot.engine.settling import LOOK_BACK, sent_at
from bot.ports import Claim, Forbidden, GitHub, Gone, OutboxRow, PostedComment, Refused, RowState, Store

MARK = "ANSWER"
"""The word of the mark by which an answer of ours is known again."""


@dataclass(frozen=True, slots=True)
class Replies:
    """Writes reactions and answers."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def react(self, claim: Claim, row: OutboxRow, effect: React) -> None:
        """Repeating it changes nothing; where it can't be given, the answer still comes."""
        try:
            await self.github.react(effect.repository, effect.where, effect.id, effect.node_id, effect.face)
        except (Gone, Forbidden, Refused) as refusal:
            if isinstance(refusal, Forbidden) and refusal.permission:
                raise  # it is not this one alone that can't be given
        await self.store.sent(claim, row, None, ())

    async def reply(self, claim: Claim, row: OutboxRow, effect: Reply) -> None:
        """Posted, or found where the last attempt's answer was lost; then older ones are folded away."""
        posted = await self._posted_before(row, effect) if row.state is RowState.SENDING else None
        if posted is None:
            await self.store.sending(claim, row)
            posted = await self._post(effect)
        older = await self._repeated(claim, effect)
        await self.store.replied(claim, row, posted, older)

    async def minimise(self, claim: Claim, row: OutboxRow, effect: MinimiseReply) -> None:
        """Folded away, unless somebody deleted it."""
        with contextlib.suppress(Gone):
            await self.github.minimise(effect.repository, effect.node_id)
        await self.store.sent(claim, row, None, ())

    async def _post(self, effect: Reply) -> PostedComment:
        body = f"{effect.body.rstrip()}\n\n{mark(effect.key)}\n"
        if effect.inline is None:
            return await self.github.create_comment(effect.repository, effect.number, body)
        return await self.github.reply_inline(effect.repository, effect.number, effect.inline, body)

    async def _posted_before(self, row: OutboxRow, effect: Reply) -> PostedComment | None:
        since = sent_at(row, self.clock()) - LOOK_BACK
        return await self.github.find_text(
            effect.repository, effect.number, mark(effect.key), since, inline=effect.inline is not None
        )

    async def _repeated(self, claim: Claim, effect: Reply) -> tuple[MinimiseReply, ...]:
        known = await self.store.memory.replies(claim.lane)
        return tuple(
            MinimiseReply(effect.repository, one.node_id)
            for one in known
            if is_said_anew(one.topic, effect.topic)
            and one.key != effect.key
            and one.node_id
            and one.at <= effect.at
        )


def mark(key: str) -> str:
    """What an answer to this command carries out of sight."""
    return marker(MARK, {"id": key})
