"""When can a write whose answer was lost be looked up?"""

from __future__ import annotations

from datetime import datetime, timedelta

SETTLE_AFTER = timedelta(seconds=5)
"""How long a comment may take to show up in GitHub's lists."""
LOOK_BACK = timedelta(seconds=60)
"""Clocks differ."""


class NotYet(Exception):
    """This row can be dealt with only after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not before {seconds:.1f} s")
        self.seconds = seconds


def too_early(began: datetime, now: datetime) -> None:
    """Raise `NotYet` while GitHub's lists may not show yet what was written then."""
    early = (began + SETTLE_AFTER - now).total_seconds()
    if early > 0:
        raise NotYet(early)
