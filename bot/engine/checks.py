"""How do check runs and suggestions reach GitHub, once, also when an answer is lost?"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.check_effects import ShowCheck, Suggest
from bot.domain.check_runs import CheckText
from bot.domain.model import Repository, Sticky
from bot.domain.suggestions import commentable_lines
from bot.engine.settling import sent_at
from bot.ports import Claim, GitHub, OutboxRow, Refused, RowState, Store

logger = logging.getLogger("whetstone.checks")


@dataclass(frozen=True, slots=True)
class Checks:
    """Writes our check runs and suggestion reviews."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def show(self, claim: Claim, row: OutboxRow, effect: ShowCheck, sticky: Sticky | None) -> None:
        """Bring the newest run of this name up to date, or add one where the places are others."""
        link = sticky.url if effect.links and sticky and not sticky.deleted_at else ""
        await self._write(claim, row, effect.repository, _linked(effect.said, link), link)

    async def suggest(self, claim: Claim, row: OutboxRow, effect: Suggest) -> None:
        """One review with the suggestions; again without the lines that GitHub does not take."""
        if row.state is RowState.SENDING:
            sent_at(row, self.clock())
            if await self._suggested_before(effect):
                await self.store.sent(claim, row, None, ())
                return
        await self.store.sending(claim, row)
        try:
            await self._review(effect)
        except Refused:
            await self._without_strangers(effect)
        await self.store.sent(claim, row, None, ())

    async def _write(
        self, claim: Claim, row: OutboxRow, repository: Repository, said: CheckText, link: str
    ) -> None:
        if row.state is RowState.SENDING:
            sent_at(row, self.clock())
        # Asked every time: what GitHub shows decides, so a repeat after a crash can't add a second run.
        known = await self.github.check_run(repository, said.head, said.name)
        if known and known.places == said.places:
            await self.github.update_check_run(repository, known.id, said, link)
        else:
            await self.store.sending(claim, row)
            await self._create(repository, said, link)
        await self.store.sent(claim, row, None, ())

    async def _create(self, repository: Repository, said: CheckText, link: str) -> None:
        try:
            await self.github.create_check_run(repository, said, link)
        except Refused as refusal:
            if not said.annotations:
                raise
            # A check may be required: what it says of the whole matters more than where.
            logger.warning("a check run is written without its places: %s", refusal)
            await self.github.create_check_run(repository, replace(said, annotations=()), link)

    async def _review(self, effect: Suggest) -> None:
        await self.github.create_review(
            effect.repository, effect.number, effect.head, effect.body, effect.suggestions
        )

    async def _without_strangers(self, effect: Suggest) -> None:
        """GitHub takes none of them if one line is outside the diff, and does not say which."""
        patches = await self.github.changed_files(effect.repository, effect.number)
        inside = tuple(
            one for one in effect.suggestions if one.line in commentable_lines(patches.get(one.path, ""))
        )
        logger.info("suggestions outside the diff are left out", extra={"left": len(inside)})
        if inside and inside != effect.suggestions:
            await self._review(replace(effect, suggestions=inside))

    async def _suggested_before(self, effect: Suggest) -> bool:
        me = await self.github.me()
        first = effect.body.split("\n", 1)[0]
        reviews = await self.github.reviews(effect.repository, effect.number)
        return any(review.author.id == me.id and review.body.startswith(first) for review in reviews)


def _linked(said: CheckText, link: str) -> CheckText:
    return replace(said, summary=f"{said.summary}\n\n[The comment]({link})") if link else said
