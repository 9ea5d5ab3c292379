"""When a repository's weekly summary is due, and the scheduler that queues it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.gates.config import RepositoryRules, Weekday
from bot.gates.rule_book import RuleBook
from bot.github.errors import GitHubError, RateLimited
from bot.history.model import Week, week_containing
from bot.store.lanes import pause_installation
from bot.store.model import Delivery, LaneFenced, StoreUnavailable
from bot.store.repositories import find_active_repositories
from bot.store.store import Store
from bot.values import Repository
from bot.weekly.store import has_weekly_run

TICK_SECONDS = 60.0
RETRY_SECONDS = 1.0
"""Seconds after which a failed tick is repeated, then twice as many each time."""
RECHECK_AFTER = timedelta(hours=1)
"""The config may have another day, time or zone by then."""
ACTIVE_WITHIN = timedelta(days=30)
"""A repository in which nothing was reviewed for this long gets no summary."""

WeekDelivery = Callable[[Repository, str, datetime], Delivery]
"""Builds the inbox row of a repository's week; the same week has the same id, whichever process writes it."""

logger = logging.getLogger("whetstone.clock")


@dataclass(frozen=True, slots=True)
class WeeklySchedule:
    """The weekday (Monday is 0) and time at which the summary of the week before is due."""

    zone: ZoneInfo
    weekday: int
    at: time

    @classmethod
    def from_rules(cls, rules: RepositoryRules) -> WeeklySchedule:
        """Read the schedule from the repository's config."""
        weekly = rules.weekly
        weekday = tuple(Weekday).index(weekly.day)
        return cls(ZoneInfo(weekly.timezone), weekday, time.fromisoformat(weekly.time))

    def due_at(self, week: Week) -> datetime:
        """Return when the summary of a week is due, in the week after."""
        day = week.monday + timedelta(weeks=1, days=self.weekday)
        return datetime.combine(day, self.at, self.zone).astimezone(UTC)

    def latest_due(self, now: datetime) -> Week:
        """Return the last finished week whose summary is due: after downtime only that one is caught up."""
        week = week_containing(now, self.zone).back(1)
        return week if self.due_at(week) <= now else week.back(1)

    def next_due(self, now: datetime) -> datetime:
        """Return when the summary after that one is due."""
        return self.due_at(self.latest_due(now).back(-1))


@dataclass(slots=True)
class WeeklyScheduler:
    """Queues every week that is due in the inbox, which accepts each one once."""

    store: Store
    rule_book: RuleBook
    delivery: WeekDelivery
    clock: Callable[[], datetime]
    retry_seconds: float = RETRY_SECONDS
    _not_before: dict[int, datetime] = field(default_factory=dict)

    async def run(self) -> None:
        """Tick until cancelled."""
        wait = self.retry_seconds
        while True:
            try:
                await self.tick()
            except (StoreUnavailable, LaneFenced) as reason:
                # A process whose heartbeat is late may not ask for a token.
                logger.warning("weekly schedule not checked, retrying: %s", reason)
                await asyncio.sleep(wait)
                wait = min(TICK_SECONDS, 2 * wait)
                continue
            except Exception:  # one failing week must not stop the others for ever
                logger.exception("checking the weekly schedule failed")
            wait = self.retry_seconds
            await asyncio.sleep(TICK_SECONDS)

    async def tick(self) -> int:
        """Queue the weeks that are due, and return how many."""
        now, queued = self.clock(), 0
        for repository in await self.store.read(find_active_repositories, now - ACTIVE_WITHIN):
            if self._not_before.get(repository.id, now) <= now:
                queued += await self._queue_if_due(repository, now)
        return queued

    async def _queue_if_due(self, repository: Repository, now: datetime) -> bool:
        extra = {"repository": repository.id}
        try:
            rules = await self.rule_book.rules(repository)
        except RateLimited as limit:
            logger.warning("weekly summary postponed: %s", limit, extra=extra)
            self._not_before[repository.id] = limit.until
            await self.store.write(pause_installation, repository.installation_id, limit.until)
            return False
        except GitHubError as error:
            logger.warning("no config for the weekly summary: %s", error, extra=extra)
            return False
        schedule = WeeklySchedule.from_rules(rules)
        week = str(schedule.latest_due(now))
        is_due = rules.weekly.enabled and not await self.store.read(has_weekly_run, repository.id, week)
        if is_due:
            await self.store.accept(self.delivery(repository, week, now))
        # Only now: where the store is unavailable, the next tick tries again.
        self._not_before[repository.id] = min(now + RECHECK_AFTER, schedule.next_due(now))
        return is_due
