"""Lanes that are not a pull request's: weeks, repositories, installations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.history.model import parse_week
from bot.inbox.backfill import CheckBackfill
from bot.markdown.links import LinkContext
from bot.pull_request.effects import (
    AddRepository,
    DeleteRepository,
    Effect,
    RemoveInstallation,
    RemoveRepository,
    StoreCommand,
    UpdateRepository,
)
from bot.pull_request.events import Event, InstallationEvent, RepositoryEvent, RetryEvent, WeekDueEvent
from bot.store.model import LaneClaim, TurnResult
from bot.turn.store import Store
from bot.weekly.fetch import WeeklyFetcher

_LET_AGAIN = frozenset({"unsuspend", "new_permissions_accepted"})
_LANES = ("weekly:", "repository:", "installation:", "parked:")


def is_maintenance_lane(lane: str) -> bool:
    """Whether the lane is no pull request's."""
    return lane.startswith(_LANES)


@dataclass(frozen=True, slots=True)
class MaintenanceProcessor:
    """Decides what such a lane's events come to."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    site: LinkContext
    clock: Callable[[], datetime]
    heads: CheckBackfill

    async def done(
        self, claim: LaneClaim, events: Sequence[Event]
    ) -> tuple[tuple[Effect, ...], tuple[StoreCommand, ...]]:
        """What to write, and what to remember or forget."""
        effects: list[Effect] = []
        memos: list[StoreCommand] = []
        for event in events:
            match event:
                case WeekDueEvent():
                    shown, run = await self._week(event)
                    effects += shown
                    memos += run
                case RepositoryEvent():
                    memos += self._repository(event)
                case InstallationEvent():
                    memos += self._installation(event)
                    await self._unblock(event)
                    if event.added:
                        # At once: whoever takes up what follows has to find the repository at home.
                        await self.store.apply(claim, TurnResult(None, (), (), memos=tuple(memos)))
                        memos.clear()
                        await self.heads.start_for_installation(event.added)
                case RetryEvent():
                    await self.store.retry(event.ids)
                case _:
                    continue
        return tuple(effects), tuple(memos)

    async def _week(self, due: WeekDueEvent) -> tuple[tuple[Effect, ...], tuple[StoreCommand, ...]]:
        repository = await self.store.memory.repository(due.repository_id)
        if repository is None:
            return (), ()
        if due.week and await self.store.memory.was_told(repository.id, due.week):
            return (), ()
        rules = await self.rule_book.rules(repository)
        fetcher = WeeklyFetcher(self.store.memory, self.github, self.site)
        week = parse_week(due.week) if due.week else None
        decision = await fetcher.fetch_week(repository, rules, week, self.clock())
        return decision.effects, decision.store_commands

    def _repository(self, event: RepositoryEvent) -> tuple[StoreCommand, ...]:
        where = event.repository
        if event.action == "deleted":
            return (DeleteRepository(where.id, where.installation_id),)
        if event.action == "transferred":
            return (AddRepository(where, transferred=True),)
        return (UpdateRepository(where),)

    async def _unblock(self, event: InstallationEvent) -> None:
        """What was given up on while we were shut out gets another chance."""
        if event.action in _LET_AGAIN:
            parked = await self.store.parked()
            of_it = (each.id for each in parked if each.installation_id == event.installation_id)
            await self.store.retry(tuple(of_it))
            await self.store.let_again(event.installation_id)

    def _installation(self, event: InstallationEvent) -> tuple[StoreCommand, ...]:
        if event.action == "deleted":
            return (RemoveInstallation(event.installation_id),)
        left = (RemoveRepository(each, event.installation_id) for each in event.removed)
        return (*left, *map(AddRepository, event.added))
