"""Retry policy: delays, final attempts, isolation of poison deliveries, store back-off."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.github.errors import Forbidden, GitHubError, NotFound
from bot.store.model import Delivery, LaneClaim, OutboxRow

MAX_STORE_BACKOFF = 30.0
"""Seconds between two calls at most while the store is away."""

logger = logging.getLogger("whetstone.worker")


@dataclass(slots=True)
class StoreBackoff:
    """Back-off for one call to the store that is repeated, with one log line per outage."""

    what: str
    failures: int = 0
    is_logged: bool = False

    @property
    def delay(self) -> float:
        """Seconds to wait before the next call: 0 after a success, then doubled with each failure."""
        return min(MAX_STORE_BACKOFF, 2.0 ** min(self.failures - 1, 10)) if self.failures else 0.0

    def failed(self, error: Exception, *, is_expected: bool = False) -> None:
        """Record a failure; the first in a row is logged, unless it is expected."""
        if not self.is_logged and not is_expected:
            logger.warning("%s: %s %s", self.what, type(error).__name__, error)
            self.is_logged = True
        self.failures += 1

    def recovered(self) -> None:
        """Record a success; logged if the failures were."""
        if self.is_logged:
            logger.warning("%s: recovered after %d failures", self.what, self.failures)
        self.failures, self.is_logged = 0, False


LOOKUP_DELAY = timedelta(seconds=5)
"""How long a comment may take to appear in GitHub's lists."""
LOOKUP_MARGIN = timedelta(hours=1)
"""The store's clock may be far ahead of GitHub's; what is looked for has a mark that nothing else has."""


class RetryLater(Exception):
    """The lane can be processed only after some seconds; not counted as a failure."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no retry for {seconds:.1f} s")
        self.seconds = seconds


def lookup_time(row: OutboxRow, now: datetime) -> datetime:
    """When the write whose answer was lost began; raises `RetryLater` while GitHub may not list it yet."""
    began = row.sending_at or now
    # By the store's clock, which also recorded the beginning: ours may differ.
    early = (began + LOOKUP_DELAY - (row.read_at or now)).total_seconds()
    if early > 0:
        raise RetryLater(early)
    return began


GONE_AFTER_ATTEMPTS = 4
"""Attempts after which a 404 no longer means that GitHub is slow to show a thing."""
MAX_ATTEMPTS = 12
MAX_RETRY_DELAY = 900.0
"""Seconds between two attempts of a lane at most."""
ISOLATE_DELIVERY_AFTER = 3
"""Internal errors after which a lane's deliveries run one by one: only one may be the cause."""
ISOLATE_LANE_AFTER = 2
"""Crashes in a row after which a lane's deliveries run one by one, with no other lane in the process."""
PARK_AFTER_CRASHES = 3
"""Crashes of the process while it handled a delivery alone after which that delivery is parked."""
CRASH_ERROR = f"the process ended {PARK_AFTER_CRASHES} times while handling this delivery alone"
LATE_ERROR = "its heartbeat was late"
"""Why a turn was cancelled."""


class TurnDropped(Exception):
    """A turn was cancelled because the process was blocked, maybe by this very turn."""


def is_final_attempt(attempt: int, error: Exception) -> bool:
    """Whether a delivery is given up on after this many attempts."""
    if isinstance(error, Forbidden) and error.permission:
        return True  # a permission that was not granted: waiting does not help
    return attempt >= MAX_ATTEMPTS or (isinstance(error, NotFound) and attempt > GONE_AFTER_ATTEMPTS)


def retry_delay(failures: int) -> float:
    """Seconds until a lane is tried again after this many failures."""
    return min(MAX_RETRY_DELAY, 2.0 ** min(failures, 10))


def is_internal_error(attempt: int, error: Exception) -> bool:
    """Whether one of the lane's deliveries may trigger a bug of the bot."""
    return attempt >= ISOLATE_DELIVERY_AFTER and not isinstance(error, GitHubError)


def must_run_isolated(claim: LaneClaim) -> bool:
    """Whether the lane may crash the process, so that no other lane may run beside it."""
    return claim.crashes >= ISOLATE_LANE_AFTER


def crashing_deliveries(claim: LaneClaim) -> tuple[Delivery, ...]:
    """The deliveries that have crashed the process often enough to be parked."""
    return tuple(delivery for delivery in claim.deliveries if delivery.crashes >= PARK_AFTER_CRASHES)


def isolate_delivery(claim: LaneClaim) -> LaneClaim:
    """Reduce the claim to the delivery that failed least."""
    return replace(claim, deliveries=(min(claim.deliveries, key=lambda delivery: delivery.attempt),))
