"""How many requests has a caller left in this hour?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

_HOUR = timedelta(hours=1)


@dataclass(slots=True, eq=False)
class Budget:
    """One caller's hour."""

    limit: int
    reset_at: datetime
    used: int = 0

    def written(self) -> dict[str, int]:
        """The budget as `GET /rate_limit` tells it."""
        left = max(self.limit - self.used, 0)
        return {
            "limit": self.limit,
            "used": self.used,
            "remaining": left,
            "reset": int(self.reset_at.timestamp()),
        }

    def headers(self) -> dict[str, str]:
        """The budget as GitHub tells it with every answer."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(self.limit - self.used, 0)),
            "X-RateLimit-Used": str(self.used),
            "X-RateLimit-Reset": str(int(self.reset_at.timestamp())),
            "X-RateLimit-Resource": "core",
        }


@dataclass(slots=True, eq=False)
class Limits:
    """The budgets by caller: an installation, a person, or nobody."""

    now: Callable[[], datetime]
    per_hour: int = 5000
    budgets: dict[str, Budget] = field(default_factory=dict)

    def of(self, caller: str) -> Budget:
        """The caller's budget of this hour."""
        now, found = self.now(), self.budgets.get(caller)
        if found is None or found.reset_at <= now:
            found = self.budgets[caller] = Budget(self.per_hour, now + _HOUR)
        return found
