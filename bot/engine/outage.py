"""How long is a store that refuses left alone, and when is that worth a line in the log?"""

from __future__ import annotations

import logging
from dataclasses import dataclass

LONGEST_REST = 30.0

logger = logging.getLogger("whetstone.worker")


@dataclass(slots=True)
class Outage:
    """One thing that is asked of the store again and again, and how often in a row it was refused."""

    what: str
    refusals: int = 0
    is_logged: bool = False

    @property
    def rest(self) -> float:
        """Seconds to wait before it is asked again: none while it answers, then longer and longer."""
        return min(LONGEST_REST, 2.0 ** min(self.refusals - 1, 10)) if self.refusals else 0.0

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
