"""How many calls a minute does one caller have?"""

from __future__ import annotations

import time
from collections.abc import Callable

from cachetools import TTLCache

_MINUTE = 60.0
_CALLERS = 20_000


class PerMinute:
    """Counts calls in the minute that begins with a caller's first one."""

    def __init__(self, most: int, timer: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._timer = timer
        self._begun: TTLCache[str, tuple[float, int]] = TTLCache(_CALLERS, _MINUTE, timer=timer)

    def spend(self, caller: str) -> float:
        """0 for a call that may be made, else the seconds until the next one may."""
        begun, count = self._begun.get(caller, (self._timer(), 0))
        left = begun + _MINUTE - self._timer()
        if count and left <= 0:
            begun, count, left = self._timer(), 0, _MINUTE
        if count >= self._most:
            return left
        self._begun[caller] = (begun, count + 1)
        return 0.0

    def give_back(self, caller: str) -> None:
        """A call that was counted did no harm."""
        if caller in self._begun:
            begun, count = self._begun[caller]
            self._begun[caller] = (begun, count - 1)
