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

    @property
    def rest(self) -> float:
        """Seconds to wait before it is asked again: none while it answers, then longer and longer."""
        return min(LONGEST_REST, 2.0 ** min(self.refusals - 1, 10)) if self.refusals else 0.0

    def refused(self, error: Exception) -> None:
        """It was refused; the first time in a row is told."""
        if not self.refusals:
            logger.warning("%s: %s %s", self.what, type(error).__name__, error)
        self.refusals += 1

    def over(self) -> None:
        """It was answered; told where it had been refused."""
        if self.refusals:
            logger.warning("%s: over, after %d refusals", self.what, self.refusals)
        self.refusals = 0
