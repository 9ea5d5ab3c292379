"""What does a turn of a lane do that is no pull request's: a week, a repository, an installation?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.comment import Site
from bot.domain.effects import Effect
from bot.domain.events import Event, InstallationSeen, RepositoryChanged
from bot.domain.memos import (
    InstallationGone,
    Memo,
    RepositoryDeleted,
    RepositoryGained,
    RepositoryLeft,
    RepositorySeen,
)
from bot.domain.own_events import RetryDue, WeekDue
from bot.domain.weeks import week_named
from bot.engine.heads import Heads
from bot.engine.weeks import Weeks
from bot.ports import Claim, GitHub, RuleBook, Store, Turn

_LET_AGAIN = frozenset({"unsuspend", "new_permissions_accepted"})
_LANES = ("weekly:", "repository:", "installation:", "parked:")


def is_chore(lane: str) -> bool:
    """Whether the lane is no pull request's."""
    return lane.startswith(_LANES)


@dataclass(frozen=True, slots=True)
class Chores:
    """Decides what such a lane's events come to."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    site: Site
    clock: Callable[[], datetime]
    heads: Heads

    async def done(
        self, claim: Claim, events: Sequence[Event]
    ) -> tuple[tuple[Effect, ...], tuple[Memo, ...]]:
        """What to write, and what to remember or forget."""
        effects: list[Effect] = []
        memos: list[Memo] = []
        for event in events:
            match event:
                case WeekDue():
                    shown, run = await self._week(event)
                    effects += shown
                    memos += run
                case RepositoryChanged():
                    memos += self._repository(event)
                case InstallationSeen():
                    memos += self._installation(event)
                    await self._let_again(event)
                    if event.added:
                        # At once: whoever takes up what follows has to find the repository at home.
                        await self.store.apply(claim, Turn(None, (), (), memos=tuple(memos)))
                        memos.clear()
                        await self.heads.let_in(event.added)
                case RetryDue():
                    await self.store.retry(event.ids)
                case _:
                    continue
        return tuple(effects), tuple(memos)

    async def _week(self, due: WeekDue) -> tuple[tuple[Effect, ...], tuple[Memo, ...]]:
        repository = await self.store.memory.repository(due.repository_id)
        if repository is None:
            return (), ()
        if due.week and await self.store.memory.was_told(repository.id, due.week):
            return (), ()
        rules = await self.rule_book.rules(repository)
        weeks = Weeks(self.store.memory, self.github, self.site)
        week = week_named(due.week) if due.week else None
        told = await weeks.told(repository, rules, week, self.clock())
        return told.effects, told.memos

    def _repository(self, event: RepositoryChanged) -> tuple[Memo, ...]:
        where = event.repository
        if event.action == "deleted":
            return (RepositoryDeleted(where.id, where.installation_id),)
        if event.action == "transferred":
            return (RepositoryGained(where, transferred=True),)
        return (RepositorySeen(where),)

    async def _let_again(self, event: InstallationSeen) -> None:
        """What was given up on while we were shut out gets another chance."""
        if event.action in _LET_AGAIN:
            parked = await self.store.parked()
            of_it = (each.id for each in parked if each.installation_id == event.installation_id)
            await self.store.retry(tuple(of_it))
            await self.store.let_again(event.installation_id)

    def _installation(self, event: InstallationSeen) -> tuple[Memo, ...]:
        if event.action == "deleted":
            return (InstallationGone(event.installation_id),)
        left = (RepositoryLeft(each, event.installation_id) for each in event.removed)
        return (*left, *map(RepositoryGained, event.added))
