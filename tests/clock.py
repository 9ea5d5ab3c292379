"""A clock that only the test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class Clock:
    def __init__(self, now: datetime = datetime(2026, 11, 15, 10, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float = 0, **more: float) -> None:
        """The time goes on by so many seconds, or `minutes`, `hours`, `days`."""
        self.now += timedelta(seconds=seconds, **more)
