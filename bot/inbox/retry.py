"""Retry policy: delays, final attempts, isolation of poison deliveries, store back-off."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.github.errors import Forbidden, GitHubError, NotFound
from bot.store.model import Delivery, LaneClaim, OutboxRow

MAX_BACKOFF = 30.0

logger = logging.getLogger("whetstone.worker")


@dataclass(slots=True)
class Backoff:
    """One thing that is asked of the store again and again, and how often in a row it was refused."""

    what: str
    refusals: int = 0
    is_logged: bool = False

    @property
    def rest(self) -> float:
        """Seconds to wait before it is asked again: none while it answers, then longer and longer."""
        return min(MAX_BACKOFF, 2.0 ** min(self.refusals - 1, 10)) if self.refusals else 0.0

    def refused(self, error: Exception, *, is_expected: bool = False) -> None:
        """It was refused; the first time in a row is logged, unless something explains it."""
        if not self.is_logged and not is_expected:
            logger.warning("%s: %s %s", self.what, type(error).__name__, error)
            self.is_logged = True
        self.refusals += 1

    def over(self) -> None:
        """It was answered; logged where the refusals were."""
        if self.is_logged:
            logger.warning("%s: over, after %d refusals", self.what, self.refusals)
        self.refusals, self.is_logged = 0, False


LOOKUP_DELAY = timedelta(seconds=5)
"""How long a comment may take to show up in GitHub's lists."""
LOOKUP_MARGIN = timedelta(hours=1)
"""The store's clock may be far ahead of GitHub's; what is looked for has a mark that nothing else has."""


class RetryLater(Exception):
    """This row can be dealt with only after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not before {seconds:.1f} s")
        self.seconds = seconds


def lookup_time(row: OutboxRow, now: datetime) -> datetime:
    """When the write was begun whose answer was lost; `NotYet` while GitHub's lists may not show it."""
    began = row.sending_at or now
    # By the clock that noted the beginning, where it was asked: ours may be another.
    early = (began + LOOKUP_DELAY - (row.read_at or now)).total_seconds()
    if early > 0:
        raise RetryLater(early)
    return began


GONE_AFTER_ATTEMPTS = 4


MAX_ATTEMPTS = 12
MAX_DELAY = 900.0
ISOLATE_DELIVERY_AFTER = 3
"""Failures of our own after which a lane's deliveries are taken one by one: only one may be to blame."""
ISOLATE_LANE_AFTER = 2
"""Crashes in a row after which a lane's deliveries run one by one, with no other lane in the process."""
PARK_AFTER_CRASHES = 3
"""Crashes of the process while it handled a delivery alone after which that delivery is parked."""
CRASH_ERROR = f"the process ended {PARK_AFTER_CRASHES} times while handling this delivery alone"
LATE_ERROR = "the beat was late"
"""Why a turn was dropped."""


class TurnDropped(Exception):
    """A turn was dropped because the process was held up, maybe by this very turn."""


def is_final_attempt(attempt: int, error: Exception) -> bool:
    """Whether a delivery that failed so often with this error is given up on."""
    if isinstance(error, Forbidden) and error.permission:
        return True  # a permission that was not granted: no waiting mends it
    return attempt >= MAX_ATTEMPTS or (isinstance(error, NotFound) and attempt > GONE_AFTER_ATTEMPTS)


def retry_delay(failures: int) -> float:
    """Seconds until a lane that failed so often before is tried again."""
    return min(MAX_DELAY, 2.0 ** min(failures, 10))


def is_internal_error(attempt: int, error: Exception) -> bool:
    """Whether one of the lane's deliveries may be what our own code can't digest."""
    return attempt >= ISOLATE_DELIVERY_AFTER and not isinstance(error, GitHubError)


def must_run_isolated(claim: LaneClaim) -> bool:
    """Whether the claim's lane may be what ends the process, so that no other lane may run beside it."""
    return claim.crashes >= ISOLATE_LANE_AFTER


def crashing_deliveries(claim: LaneClaim) -> tuple[Delivery, ...]:
    """The deliveries that have ended the process often enough to be parked."""
    return tuple(delivery for delivery in claim.deliveries if delivery.crashes >= PARK_AFTER_CRASHES)


def isolate_delivery(claim: LaneClaim) -> LaneClaim:
    """The claim with the delivery only that failed least."""
    return replace(claim, deliveries=(min(claim.deliveries, key=lambda one: one.attempt),))
