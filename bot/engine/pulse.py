"""Was this process heard of lately, so that the lanes it took are still its own?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any


@dataclass(frozen=True, slots=True)
class Pace:
    """How often an instance says that it lives, and how long it is believed."""

    beat_every: float = 2.0
    late_after: float = 15.0
    """A process whose last good beat is older writes nothing: its lanes may be somebody else's."""
    lease: float = 30.0
    """Seconds without a beat after which an instance's lanes are anybody's."""


def seconds_of(clocks: Any) -> Callable[[], float]:
    """A time that only grows, and also while the machine is suspended, where there is one."""
    if hasattr(clocks, "CLOCK_BOOTTIME"):
        return partial(clocks.clock_gettime, clocks.CLOCK_BOOTTIME)
    monotonic: Callable[[], float] = clocks.monotonic
    return monotonic


TICK_EVERY = 0.5
"""Seconds between two ticks."""
STANDSTILL = 3.0
"""Seconds without a tick after which the process was stopped, or its event loop blocked."""
AFTERMATH = 10.0
"""Seconds after a standstill in which whatever ran out of time meanwhile comes to an end."""


@dataclass(slots=True)
class Pulse:
    """The last beat that the store has certainly noted, and whether the process ran all the time."""

    pace: Pace = Pace()
    now: Callable[[], float] = field(default_factory=lambda: seconds_of(time))
    _noted: float = -inf
    _ticked: float = inf
    _stood_still_until: float = -inf

    def note(self, asked: float) -> None:
        """The store has noted a beat that it was given at this time, not when its answer came."""
        self._noted = asked

    @property
    def age(self) -> float:
        """Seconds since the last good beat."""
        return self.now() - self._noted

    def is_fresh(self) -> bool:
        """Whether a write may start: whoever would take over has to wait longer than the write lasts."""
        return self.age <= self.pace.late_after

    def tick(self) -> float:
        """Note that the process runs; returns for how many seconds it stood still, 0 where it did not."""
        now = self.now()
        still, self._ticked = now - self._ticked, now
        if still <= STANDSTILL:
            return 0.0
        self._stood_still_until = now
        return still

    def is_after_standstill(self) -> bool:
        """Whether time-outs are due to a standstill that has just ended, or whose end is not noted yet."""
        now = self.now()
        return now - self._ticked > STANDSTILL or now - self._stood_still_until <= AFTERMATH
