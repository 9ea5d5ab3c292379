"""Redeliver webhooks that GitHub failed to deliver."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from typing import TYPE_CHECKING

from bot.github.errors import GitHubError, NotFound, RateLimited
from bot.github.model import DeliveryAttempt
from bot.inbox.retry import StoreBackoff
from bot.store.model import LaneFenced, ReconcileOutcome, StoreUnavailable
from bot.store.reconcile import record_missed, record_redelivery
from bot.store.store import Store

if TYPE_CHECKING:
    # For types only: `doctor` and `reconcile` start without the HTTP client.
    from bot.github.app_api import GitHubAppApi


def failed_deliveries(attempts: Iterable[DeliveryAttempt]) -> tuple[DeliveryAttempt, ...]:
    """The newest failed attempt of every delivery without a successful one, oldest first."""
    newest: dict[str, DeliveryAttempt] = {}
    good = set()
    for attempt in attempts:
        if attempt.ok:
            good.add(attempt.guid)
        elif attempt.guid not in newest or attempt.id > newest[attempt.guid].id:
            newest[attempt.guid] = attempt
    return tuple(sorted((s for guid, s in newest.items() if guid not in good), key=lambda s: s.id))


OVERLAP = timedelta(hours=1)
"""How far a run reads back before the end of the last one: GitHub's list may be late."""
MAX_REQUESTS = 3
"""Automatic redelivery requests per delivery; the command requests more."""
RESERVE = 0.25
"""The share of the App's hourly rate limit that is reserved for everything else."""
LOOK_EVERY = 5.0
"""Seconds between two checks whether a run is due, or its instance is gone."""

logger = logging.getLogger("whetstone.reconcile")


async def redeliver(github: GitHubAppApi, sent: DeliveryAttempt) -> bool:
    """Request a delivery again; False if GitHub has forgotten it.

    One that did arrive has the same GUID and no second effect.
    """
    try:
        await github.redeliver(sent.id)
    except NotFound:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ReconcileSchedule:
    """How often missed deliveries are requested, and how fast, in seconds."""

    every: float = 600.0
    pause: float = 1.0
    """Between two redeliveries: GitHub advises a second between writes."""


@dataclass(slots=True)
class Reconciler:
    """Requests missed deliveries regularly; of all instances that share a store, one at a time."""

    github: GitHubAppApi
    store: Store
    schedule: ReconcileSchedule = ReconcileSchedule()
    _outage: StoreBackoff = field(default_factory=lambda: StoreBackoff("can't check for missed deliveries"))

    async def run(self) -> None:
        """Run until cancelled; what fails is tried again with the next run."""
        while True:
            try:
                await self.run_if_due()
            except StoreUnavailable as error:
                self._outage.failed(error)
            except Exception:  # one run's failure must not end the others
                logger.exception("the check for missed deliveries failed")
            else:
                self._outage.recovered()
            await asyncio.sleep(min(LOOK_EVERY, self.schedule.every / 10))

    async def run_if_due(self) -> ReconcileOutcome | None:
        """Run once if a run is due for this instance; returns its outcome, None if none was due."""
        scanned_until = await self.store.begin_reconcile(self.schedule.every)
        if scanned_until is None:
            return None
        outcome = ReconcileOutcome()
        try:
            # Shorter than the interval, so that no other instance begins while this one still runs.
            async with asyncio.timeout(0.9 * self.schedule.every):
                await self._reconcile(scanned_until, outcome)
        except RateLimited as limit:
            outcome.not_before = limit.until
            logger.warning("checking for missed deliveries later: %s", limit)
        except TimeoutError:
            logger.info("not all missed deliveries were requested; the next run continues")
        except (GitHubError, LaneFenced) as error:
            logger.warning("check for missed deliveries failed; retrying with the next run: %s", error)
        await self.store.end_reconcile(outcome)
        if outcome.found or outcome.resent:
            logger.info(
                "found %d missed deliveries; requested redelivery of %d", outcome.found, outcome.resent
            )
        return outcome

    async def _reconcile(self, scanned_until: datetime, outcome: ReconcileOutcome) -> None:
        attempts = await self.github.deliveries(scanned_until - OVERLAP)
        failed = failed_deliveries(attempts)
        outcome.found, requests = await self.store.write(record_missed, [attempt.guid for attempt in failed])
        for attempt in failed:
            times = requests.get(attempt.guid, inf)
            if times > MAX_REQUESTS:
                continue
            if times == MAX_REQUESTS:
                details = {"delivery": attempt.guid, "event": attempt.event, "status": attempt.status}
                logger.warning("redelivery failed %d times; giving up", times, extra=details)
            elif self.github.budget_left < RESERVE:
                logger.warning("the hourly rate limit is nearly used up; the next run continues")
                return
            else:
                outcome.resent += await redeliver(self.github, attempt)
                await asyncio.sleep(self.schedule.pause)
            await self.store.write(record_redelivery, attempt.guid)
        outcome.is_complete = True
        outcome.scanned_until = max((attempt.at for attempt in attempts), default=scanned_until)
