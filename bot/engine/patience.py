"""How often is a turn tried, how long between, and with which of its deliveries?"""

from __future__ import annotations

from dataclasses import replace

from bot.engine.sending import BELIEVE_GONE_AFTER
from bot.ports import Claim, Delivery, Forbidden, GitHubError, Gone

MOST_ATTEMPTS = 12
LONGEST_DELAY = 900.0
ALONE_AFTER = 3
"""Failures of our own after which a lane's deliveries are taken one by one: only one may be to blame."""
ISOLATED_AFTER = 2
"""Crashes in a row after which a lane's deliveries run one by one, with no other lane in the process."""
PARKED_AFTER = 3
"""Crashes of the process while it handled a delivery alone after which that delivery is parked."""
CRASHED = f"the process ended {PARKED_AFTER} times while handling this delivery alone"
LATE = "the beat was late"
"""Why a turn was dropped."""


class Late(Exception):
    """A turn was dropped because the process was held up, maybe by this very turn."""


def is_final(attempt: int, error: Exception) -> bool:
    """Whether a delivery that failed so often with this error is given up on."""
    if isinstance(error, Forbidden) and error.permission:
        return True  # a permission that was not granted: no waiting mends it
    return attempt >= MOST_ATTEMPTS or (isinstance(error, Gone) and attempt > BELIEVE_GONE_AFTER)


def delay(failures: int) -> float:
    """Seconds until a lane that failed so often before is tried again."""
    return min(LONGEST_DELAY, 2.0 ** min(failures, 10))


def is_ours(attempt: int, error: Exception) -> bool:
    """Whether one of the lane's deliveries may be what our own code can't digest."""
    return attempt >= ALONE_AFTER and not isinstance(error, GitHubError)


def must_run_alone(claim: Claim) -> bool:
    """Whether the claim's lane may be what ends the process, so that no other lane may run beside it."""
    return claim.crashes >= ISOLATED_AFTER


def crashing(claim: Claim) -> tuple[Delivery, ...]:
    """The deliveries that have ended the process often enough to be parked."""
    return tuple(delivery for delivery in claim.deliveries if delivery.crashes >= PARKED_AFTER)


def alone(claim: Claim) -> Claim:
    """The claim with the delivery only that failed least."""
    return replace(claim, deliveries=(min(claim.deliveries, key=lambda one: one.attempt),))
