"""Lanes that are not a pull request's: weeks, repositories, installations; and their scheduler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.github.errors import GitHubError, RateLimited
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
from bot.store.deliveries import load_parked
from bot.store.lanes import pause_installation
from bot.store.model import Delivery, LaneClaim, LaneFenced, StoreUnavailable, TurnResult
from bot.store.repositories import find_active_repositories, find_repository
from bot.store.store import Store
from bot.turn.store import apply_turn
from bot.values import Repository
from bot.weekly.fetch import WeeklyFetcher, WeeklySchedule
from bot.weekly.store import has_weekly_run

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
                        await apply_turn(
                            self.store, claim, TurnResult(None, (), (), store_commands=tuple(memos))
                        )
                        memos.clear()
                        await self.heads.start_for_installation(event.added)
                case RetryEvent():
                    await self.store.retry(event.ids)
                case _:
                    continue
        return tuple(effects), tuple(memos)

    async def _week(self, due: WeekDueEvent) -> tuple[tuple[Effect, ...], tuple[StoreCommand, ...]]:
        repository = await self.store.read(find_repository, due.repository_id)
        if repository is None:
            return (), ()
        if due.week:
            is_decided = await self.store.read(has_weekly_run, repository.id, due.week)
            if is_decided:
                return (), ()
        rules = await self.rule_book.rules(repository)
        weeks = WeeklyFetcher(self.store, self.github, self.site)
        week = parse_week(due.week) if due.week else None
        told = await weeks.told(repository, rules, week, self.clock())
        return told.effects, told.memos

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
            parked = await self.store.read(load_parked)
            of_it = (each.id for each in parked if each.installation_id == event.installation_id)
            await self.store.retry(tuple(of_it))
            await self.store.clear_blocks(event.installation_id)

    def _installation(self, event: InstallationEvent) -> tuple[StoreCommand, ...]:
        if event.action == "deleted":
            return (RemoveInstallation(event.installation_id),)
        left = (RemoveRepository(each, event.installation_id) for each in event.removed)
        return (*left, *map(AddRepository, event.added))


TICK_SECONDS = 60.0
"""Seconds between two looks at the calendar."""
SOON_SECONDS = 1.0
"""Seconds after which a look that could not be had is repeated, then twice as many each time."""
RECHECK_AFTER = timedelta(hours=1)
"""A config may have another day, time or zone by then."""
ACTIVE_WITHIN = timedelta(days=30)
"""Nothing is told about a repository in which nothing was judged for so long."""

WeekDelivery = Callable[[Repository, str, datetime], Delivery]
"""The inbox row of a repository's week; the same week has the same id, whoever writes it."""

logger = logging.getLogger("whetstone.clock")


@dataclass(slots=True)
class WeeklyScheduler:
    """Puts every week that is due into the inbox; the inbox takes it once."""

    store: Store
    rule_book: RuleBook
    delivery: WeekDelivery
    clock: Callable[[], datetime]
    tick_soon: float = SOON_SECONDS
    _not_before: dict[int, datetime] = field(default_factory=dict)

    async def run(self) -> None:
        """Tick until cancelled."""
        wait = self.tick_soon
        while True:
            try:
                await self.tick()
            except (StoreUnavailable, LaneFenced) as reason:
                # A process whose heartbeat is late may not ask for a token.
                logger.warning("the calendar is looked at later: %s", reason)
                await asyncio.sleep(wait)
                wait = min(TICK_SECONDS, 2 * wait)
                continue
            except Exception:  # a week that can't be told must not stop the others for ever
                logger.exception("a look at the calendar failed")
            wait = self.tick_soon
            await asyncio.sleep(TICK_SECONDS)

    async def tick(self) -> int:
        """How many weeks were put into the inbox."""
        now, put = self.clock(), 0
        for repository in await self.store.read(find_active_repositories, now - ACTIVE_WITHIN):
            if self._not_before.get(repository.id, now) <= now:
                put += await self._look(repository, now)
        return put

    async def _look(self, repository: Repository, now: datetime) -> bool:
        try:
            rules = await self.rule_book.rules(repository)
        except RateLimited as limit:
            logger.warning("the week is looked at later: %s", limit, extra={"repository": repository.id})
            self._not_before[repository.id] = limit.until
            await self.store.write(pause_installation, repository.installation_id, limit.until)
            return False
        except GitHubError as error:
            logger.warning("no config to tell the week by: %s", error, extra={"repository": repository.id})
            return False
        schedule = WeeklySchedule.of(rules)
        week = str(schedule.latest_due(now))
        due = rules.weekly.enabled and not await self.store.read(has_weekly_run, repository.id, week)
        if due:
            await self.store.accept(self.delivery(repository, week, now))
        # Only now: where the store is away, it is tried again with the next tick.
        self._not_before[repository.id] = min(now + RECHECK_AFTER, schedule.next_due(now))
        return due
