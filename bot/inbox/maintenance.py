"""Process the lanes that are not a pull request's: commits, weeks, repositories, installations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.feedback.check_run import render_config_check
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.history.model import parse_week
from bot.inbox.backfill import CheckBackfill
from bot.inbox.internal_deliveries import derive_for_pull_request
from bot.markdown.links import LinkContext
from bot.pull_request.effects import (
    AddRepository,
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
from bot.store.deliveries import load_parked
from bot.store.model import Delivery, LaneClaim, TurnResult
from bot.store.pull_requests import find_numbers_at_head, find_numbers_that_left, load_pull_request
from bot.store.repositories import find_repository
from bot.store.store import Store
from bot.turn.store import apply_turn
from bot.verdicts.checks import is_mapped_check
from bot.weekly.fetch import WeeklyFetcher
from bot.weekly.store import has_weekly_run

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
        commands: list[StoreCommand] = []
        pulls_at: dict[str, tuple[PullRequestSnapshot, ...]] = {}
        for delivery, event in parsed:
            match event:
                case ConfigBrokenEvent():
                    effects.append(await self._report_broken_config(event))
                case CheckBackfillStep():
                    await self.check_backfill.step(event)
                    rules = await self.rule_book.rules(event.repository)  # as just read
                    commands.append(SetHistorySharing(event.repository.id, rules.history.shared))
                case CheckEvent() if not await self._is_mapped(event):
                    await self._queue_for_scores(delivery, event)
                case CheckEvent() | ConfigPushEvent():
                    await self._queue_for_pull_requests(delivery, event, pulls_at)
                case _:
                    continue
        return TurnResult(None, tuple(effects), (), store_commands=tuple(commands))

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
            numbers = await self._find_stored(event)
        if numbers:
            for number in numbers:
                await self.store.accept(derive_for_pull_request(delivery, number))
            return
        if event.head not in pulls_at:
            pulls_at[event.head] = await self.github.pull_requests_at(event.repository, event.head)
        for snapshot in pulls_at[event.head]:
            await self.store.accept(derive_for_pull_request(delivery, snapshot.number, snapshot))

    async def _find_stored(self, event: CheckEvent | ConfigPushEvent) -> tuple[int, ...]:
        """Find the stored pull requests at this head; a check counts also at one that the branch has left."""
        numbers = await self.store.read(find_numbers_at_head, event.repository.id, event.head)
        if numbers or not isinstance(event, CheckEvent):
            return numbers
        return await self.store.read(find_numbers_that_left, event.repository.id, event.head)

    async def _queue_for_scores(self, delivery: Delivery, event: CheckEvent) -> None:
        """An unmapped check still counts in the score of what was reviewed; no call is made for it."""
        for number in event.numbers:
            stored = await self.store.read(load_pull_request, f"pr:{event.repository.id}:{number}")
            if stored and stored.verdicts:
                await self.store.accept(derive_for_pull_request(delivery, number))

    async def _are_all_stored(self, repository_id: int, numbers: tuple[int, ...]) -> bool:
        for number in numbers:
            if await self.store.read(load_pull_request, f"pr:{repository_id}:{number}") is None:
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
        commands: list[StoreCommand] = []
        for event in events:
            match event:
                case WeekDueEvent():
                    shown, run = await self._week(event)
                    effects += shown
                    commands += run
                case RepositoryEvent():
                    commands += self._repository(event)
                case InstallationEvent():
                    commands += self._installation(event)
                    await self._unblock(event)
                    if event.added:
                        # At once: the steps that follow have to find the repository in its installation.
                        result = TurnResult(None, (), (), store_commands=tuple(commands))
                        await apply_turn(self.store, claim, result)
                        commands.clear()
                        await self.check_backfill.start_for_installation(event.added)
                case RetryEvent():
                    await self.store.retry(event.ids)
                case _:
                    continue
        return TurnResult(None, tuple(effects), (), store_commands=tuple(commands))

    async def _week(self, due: WeekDueEvent) -> tuple[tuple[Effect, ...], tuple[StoreCommand, ...]]:
        repository = await self.store.read(find_repository, due.repository_id)
        if repository is None:
            return (), ()
        if due.week:
            is_decided = await self.store.read(has_weekly_run, repository.id, due.week)
            if is_decided:
                return (), ()
        rules = await self.rule_book.rules(repository)
        fetcher = WeeklyFetcher(self.store, self.github, self.site)
        week = parse_week(due.week) if due.week else None
        decision = await fetcher.fetch_week(repository, rules, week, self.clock())
        return decision.effects, decision.store_commands

    def _repository(self, event: RepositoryEvent) -> tuple[StoreCommand, ...]:
        repository = event.repository
        if event.action == "deleted":
            return (RemoveRepository(repository.id, repository.installation_id, is_deleted=True),)
        if event.action == "transferred":
            return (AddRepository(repository, transferred=True),)
        return (UpdateRepository(repository),)

    async def _unblock(self, event: InstallationEvent) -> None:
        """Retry what was given up on while the App was suspended or lacked a permission."""
        if event.action in _UNBLOCKING_ACTIONS:
            parked = await self.store.read(load_parked)
            ids = (delivery.id for delivery in parked if delivery.installation_id == event.installation_id)
            await self.store.retry(tuple(ids))
            await self.store.clear_blocks(event.installation_id)

    def _installation(self, event: InstallationEvent) -> tuple[StoreCommand, ...]:
        if event.action == "deleted":
            return (RemoveInstallation(event.installation_id),)
        removed = (RemoveRepository(repository_id, event.installation_id) for repository_id in event.removed)
        return (*removed, *map(AddRepository, event.added))
