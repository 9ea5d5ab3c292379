"""When is a repository's week due, and how is it told once however many instances run?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.model import Repository
from bot.engine.weeks import Schedule
from bot.ports import Delivery, Fenced, GitHubError, RateLimited, RuleBook, Store, StoreUnavailable

TICK = 60.0
"""Seconds between two looks at the calendar."""
SOON = 1.0
"""Seconds after which a look that could not be had is repeated, then twice as many each time."""
ASK_AGAIN = timedelta(hours=1)
"""A config may have another day, time or zone by then."""
ACTIVE = timedelta(days=30)
"""Nothing is told about a repository in which nothing was judged for so long."""

WeekDelivery = Callable[[Repository, str, datetime], Delivery]
"""The inbox row of a repository's week; the same week has the same id, whoever writes it."""

logger = logging.getLogger("whetstone.clock")


@dataclass(slots=True)
class WeekClock:
    """Puts every week that is due into the inbox; the inbox takes it once."""

    store: Store
    rule_book: RuleBook
    delivery: WeekDelivery
    clock: Callable[[], datetime]
    soon: float = SOON
    _not_before: dict[int, datetime] = field(default_factory=dict)

    async def run(self) -> None:
        """Tick until cancelled."""
        wait = self.soon
        while True:
            try:
                await self.tick()
            except (StoreUnavailable, Fenced) as reason:
                # A process whose heartbeat is late may not ask for a token.
                logger.warning("the calendar is looked at later: %s", reason)
                await asyncio.sleep(wait)
                wait = min(TICK, 2 * wait)
                continue
            except Exception:  # a week that can't be told must not stop the others for ever
                logger.exception("a look at the calendar failed")
            wait = self.soon
            await asyncio.sleep(TICK)

    async def tick(self) -> int:
        """How many weeks were put into the inbox."""
        now, put = self.clock(), 0
        for repository in await self.store.memory.active(now - ACTIVE):
            if self._not_before.get(repository.id, now) <= now:
                put += await self._look(repository, now)
        return put

    async def _look(self, repository: Repository, now: datetime) -> bool:
        try:
            rules = await self.rule_book.rules(repository)
        except RateLimited as limit:
            logger.warning("the week is looked at later: %s", limit, extra={"repository": repository.id})
            self._not_before[repository.id] = limit.until
            await self.store.pause(repository.installation_id, limit.until)
            return False
        except GitHubError as error:
            logger.warning("no config to tell the week by: %s", error, extra={"repository": repository.id})
            return False
        schedule = Schedule.of(rules)
        week = str(schedule.latest_due(now))
        due = rules.weekly.enabled and not await self.store.memory.was_told(repository.id, week)
        if due:
            await self.store.accept(self.delivery(repository, week, now))
        # Only now: where the store is away, it is tried again with the next tick.
        self._not_before[repository.id] = min(now + ASK_AGAIN, schedule.next_due(now))
        return due
