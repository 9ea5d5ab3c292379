"""How does a repository's week reach its one issue, and never a second one?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.escape import read_marker
from bot.domain.thread_effects import ShowIssue, WeekComment
from bot.domain.weekly import LABEL
from bot.domain.weekly_text import WORD
from bot.engine.settling import sent_at
from bot.ports import Claim, FoundIssue, GitHub, Gone, OutboxRow, RowState, Store

_A_WEEK = timedelta(days=8)


@dataclass(frozen=True, slots=True)
class Summaries:
    """Writes the summary issue and the comments of its weeks."""

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def show(self, claim: Claim, row: OutboxRow, effect: ShowIssue) -> None:
        """The issue as it should be; one that somebody closed is left alone."""
        if row.state is RowState.SENDING:
            sent_at(row, self.clock())
        found = await self._found(effect)
        if found is None:
            await self.store.sending(claim, row)
            found = await self.github.create_issue(
                effect.repository, effect.title, effect.body, effect.labels
            )
        elif found.open and found.body != effect.body:
            await self.github.edit_issue(effect.repository, found.number, effect.body)
        then: tuple[WeekComment, ...] = ()
        if found.open and effect.comment:
            then = (WeekComment(effect.repository, found.number, effect.week, effect.comment),)
        await self.store.told(claim, row, effect.repository.id, found.number, then)

    async def comment(self, claim: Claim, row: OutboxRow, effect: WeekComment) -> None:
        """The week's comment, once: also when an earlier attempt's answer was lost."""
        if row.state is RowState.SENDING:
            sent_at(row, self.clock())
            first_line = effect.body.partition("\n")[0]
            since = self.clock() - _A_WEEK
            if await self.github.find_text(effect.repository, effect.number, first_line, since):
                await self.store.sent(claim, row, None, ())
                return
        await self.store.sending(claim, row)
        await self.github.create_comment(effect.repository, effect.number, effect.body)
        await self.store.sent(claim, row, None, ())

    async def _found(self, effect: ShowIssue) -> FoundIssue | None:
        """By the stored number, then by label, creator and marker."""
        number = await self.store.memory.weekly_issue(effect.repository.id)
        if number is not None:
            try:
                return await self.github.issue(effect.repository, number)
            except Gone:
                pass  # somebody deleted it
        labelled = await self.github.issues_labelled(effect.repository, LABEL)
        ours = [issue for issue in labelled if read_marker(WORD, issue.body) is not None]
        return next((issue for issue in ours if issue.open), ours[0] if ours else None)
