"""How many requests has a caller left in this hour?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)


@dataclass(slots=True, eq=False)
class Budget:
    """One caller's hour."""

    limit: int
    reset_at: datetime
    used: int = 0
    writes: list[datetime] = field(default_factory=list)

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
    writes_per_minute: int | None = None  # GitHub's is 80; off, because a test's clock may stand still
    budgets: dict[str, Budget] = field(default_factory=dict)

    def allows_write(self, caller: str) -> bool:
        """Note one more write, unless this minute has had enough of them."""
        if self.writes_per_minute is None:
            return True
        budget, now = self.of(caller), self.now()
        budget.writes = [each for each in budget.writes if each > now - _MINUTE]
        if len(budget.writes) >= self.writes_per_minute:
            return False
        budget.writes.append(now)
        return True

    def of(self, caller: str) -> Budget:
        """The caller's budget of this hour."""
        now, found = self.now(), self.budgets.get(caller)
        if found is None or found.reset_at <= now:
            found = self.budgets[caller] = Budget(self.per_hour, now + _HOUR)
        return found
