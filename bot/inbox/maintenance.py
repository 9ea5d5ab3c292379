"""Process the lanes that are not a pull request's (commits, weeks, installations); schedule weeks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.feedback.check_run import render_config_check
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.github.errors import GitHubError, RateLimited
from bot.history.model import parse_week
from bot.inbox.backfill import CheckBackfill
from bot.inbox.internal_deliveries import derive_for_pull_request, weekly_delivery
from bot.markdown.links import LinkContext
from bot.pull_request.effects import (
    AddRepository,
    DeleteRepository,
    Effect,
    RemoveInstallation,
    RemoveRepository,
    SetHistorySharing,
    ShowCheckRun,
    StoreCommand,
    UpdateRepository,
)
from bot.pull_request.events import (
    CheckBackfillStep,
    CheckEvent,
    ConfigBrokenEvent,
    ConfigPushEvent,
    Event,
    InstallationEvent,
    PullRequestSnapshot,
    RepositoryEvent,
    RetryEvent,
    WeekDueEvent,
)
from bot.store.model import Delivery, LaneClaim, LaneFenced, StoreUnavailable, TurnResult
from bot.turn.store import Store
from bot.values import Repository
from bot.verdicts.checks import is_mapped_check
from bot.weekly.fetch import WeeklyFetcher, WeeklySchedule

_UNBLOCKING_ACTIONS = frozenset({"unsuspend", "new_permissions_accepted"})


@dataclass(frozen=True, slots=True)
class CommitProcessor:
    """Passes checks and pushes of a commit on to the pull requests with that head."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    check_backfill: CheckBackfill

    async def process(self, parsed: Sequence[tuple[Delivery, Event]]) -> TurnResult:
        """Queue a copy for each pull request before this result is applied."""
        effects: list[Effect] = []
        memos: list[StoreCommand] = []
        pulls_at: dict[str, tuple[PullRequestSnapshot, ...]] = {}
        for delivery, event in parsed:
            match event:
                case ConfigBrokenEvent():
                    effects.append(await self._report_broken_config(event))
                case CheckBackfillStep():
                    await self.check_backfill.step(event)
                    rules = await self.rule_book.rules(event.repository)  # as just read
                    memos.append(SetHistorySharing(event.repository.id, rules.history.shared))
                case CheckEvent() if not await self._is_mapped(event):
                    await self._queue_for_scores(delivery, event)
                case CheckEvent() | ConfigPushEvent():
                    await self._queue_for_pull_requests(delivery, event, pulls_at)
                case _:
                    continue
        return TurnResult(None, tuple(effects), (), memos=tuple(memos))

    async def _report_broken_config(self, event: ConfigBrokenEvent) -> ShowCheckRun:
        """Report the config's problems on the newest commit of the default branch."""
        report = await self.rule_book.check_default(event.repository)
        head = await self.github.branch_head(event.repository)
        return ShowCheckRun(event.repository, render_config_check(report, head, in_force=True))

    async def _is_mapped(self, event: CheckEvent) -> bool:
        """Whether the config maps the check to a verdict; most checks end here, without a call."""
        rules = await self.rule_book.rules(event.repository)
        return bool(rules.validators.checks) and is_mapped_check(event, rules, await self.github.me())

    async def _queue_for_pull_requests(
        self,
        delivery: Delivery,
        event: CheckEvent | ConfigPushEvent,
        pulls_at: dict[str, tuple[PullRequestSnapshot, ...]],
    ) -> None:
        numbers = event.numbers if isinstance(event, CheckEvent) else ()
        if isinstance(event, ConfigPushEvent) and event.in_force:
            await self.check_backfill.start(event.repository, event.head)
        if numbers and not await self._are_all_stored(event.repository.id, numbers):
            numbers = ()
        elif not numbers:  # a fork's: those that are stored need no search
            numbers = await self.store.numbers_at(event.repository.id, event.head)
        if numbers:
            for number in numbers:
                await self.store.accept(derive_for_pull_request(delivery, number))
            return
        if event.head not in pulls_at:
            pulls_at[event.head] = await self.github.pull_requests_at(event.repository, event.head)
        for snapshot in pulls_at[event.head]:
            await self.store.accept(derive_for_pull_request(delivery, snapshot.number, snapshot))

    async def _queue_for_scores(self, delivery: Delivery, event: CheckEvent) -> None:
        """An unmapped check still counts in the score of what was reviewed; no call is made for it."""
        for number in event.numbers:
            stored = await self.store.load(f"pr:{event.repository.id}:{number}")
            if stored and stored.verdicts:
                await self.store.accept(derive_for_pull_request(delivery, number))

    async def _are_all_stored(self, repository_id: int, numbers: tuple[int, ...]) -> bool:
        for number in numbers:
            if await self.store.load(f"pr:{repository_id}:{number}") is None:
                return False
        return True


@dataclass(frozen=True, slots=True)
class MaintenanceProcessor:
    """Processes the lanes of weeks, repositories, installations and parked deliveries."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    site: LinkContext
    clock: Callable[[], datetime]
    check_backfill: CheckBackfill

    async def process(self, claim: LaneClaim, events: Sequence[Event]) -> TurnResult:
        """Decide what to write, and what to store or forget."""
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
                        # At once: the steps that follow have to find the repository in its installation.
                        await self.store.apply(claim, TurnResult(None, (), (), memos=tuple(memos)))
                        memos.clear()
                        await self.check_backfill.start_for_installation(event.added)
                case RetryEvent():
                    await self.store.retry(event.ids)
                case _:
                    continue
        return TurnResult(None, tuple(effects), (), memos=tuple(memos))

    async def _week(self, due: WeekDueEvent) -> tuple[tuple[Effect, ...], tuple[StoreCommand, ...]]:
        repository = await self.store.memory.repository(due.repository_id)
        if repository is None:
            return (), ()
        if due.week and await self.store.memory.was_told(repository.id, due.week):
            return (), ()
        rules = await self.rule_book.rules(repository)
        weeks = WeeklyFetcher(self.store.memory, self.github, self.site)
        week = parse_week(due.week) if due.week else None
        told = await weeks.told(repository, rules, week, self.clock())
        return told.effects, told.memos

    def _repository(self, event: RepositoryEvent) -> tuple[StoreCommand, ...]:
        repository = event.repository
        if event.action == "deleted":
            return (DeleteRepository(repository.id, repository.installation_id),)
        if event.action == "transferred":
            return (AddRepository(repository, transferred=True),)
        return (UpdateRepository(repository),)

    async def _unblock(self, event: InstallationEvent) -> None:
        """Retry what was given up on while the App was suspended or lacked a permission."""
        if event.action in _UNBLOCKING_ACTIONS:
            parked = await self.store.parked()
            ids = (delivery.id for delivery in parked if delivery.installation_id == event.installation_id)
            await self.store.retry(tuple(ids))
            await self.store.let_again(event.installation_id)

    def _installation(self, event: InstallationEvent) -> tuple[StoreCommand, ...]:
        if event.action == "deleted":
            return (RemoveInstallation(event.installation_id),)
        removed = (RemoveRepository(repository_id, event.installation_id) for repository_id in event.removed)
        return (*removed, *map(AddRepository, event.added))


TICK_SECONDS = 60.0
"""Seconds between two ticks of the scheduler."""
SOON_SECONDS = 1.0
"""Seconds until a failed tick is repeated; doubled each time."""
RECHECK_AFTER = timedelta(hours=1)
"""How often the schedule is read again: the config may have another day, time or zone by then."""
ACTIVE_WITHIN = timedelta(days=30)
"""A repository without a review for this long gets no summary."""

logger = logging.getLogger("whetstone.clock")


@dataclass(slots=True)
class WeeklyScheduler:
    """Queues every week that is due; the inbox accepts each once."""

    store: Store
    rule_book: RuleBook
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
                logger.warning("the weekly scheduler retries later: %s", reason)
                await asyncio.sleep(wait)
                wait = min(TICK_SECONDS, 2 * wait)
                continue
            except Exception:  # one week that fails must not stop the others for ever
                logger.exception("a tick of the weekly scheduler failed")
            wait = self.tick_soon
            await asyncio.sleep(TICK_SECONDS)

    async def tick(self) -> int:
        """Queue the weeks that are due; returns how many."""
        now, count = self.clock(), 0
        for repository in await self.store.memory.active(now - ACTIVE_WITHIN):
            if self._not_before.get(repository.id, now) <= now:
                count += await self._queue_if_due(repository, now)
        return count

    async def _queue_if_due(self, repository: Repository, now: datetime) -> bool:
        try:
            rules = await self.rule_book.rules(repository)
        except RateLimited as limit:
            logger.warning(
                "the weekly summary waits for the rate limit: %s", limit, extra={"repository": repository.id}
            )
            self._not_before[repository.id] = limit.until
            await self.store.pause(repository.installation_id, limit.until)
            return False
        except GitHubError as error:
            logger.warning("no config for the weekly summary: %s", error, extra={"repository": repository.id})
            return False
        schedule = WeeklySchedule.of(rules)
        week = str(schedule.latest_due(now))
        due = rules.weekly.enabled and not await self.store.memory.was_told(repository.id, week)
        if due:
            await self.store.accept(weekly_delivery(repository, week, now))
        # Only now: if the store is unavailable, it is tried again with the next tick.
        self._not_before[repository.id] = min(now + RECHECK_AFTER, schedule.next_due(now))
        return due
