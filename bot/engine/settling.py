"""When can a write whose answer was lost be looked up?"""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.ports import OutboxRow

SETTLE_AFTER = timedelta(seconds=5)
"""How long a comment may take to show up in GitHub's lists."""
LOOK_BACK = timedelta(hours=1)
"""The store's clock may be far ahead of GitHub's; what is looked for has a mark that nothing else has."""


class NotYet(Exception):
    """This row can be dealt with only after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not before {seconds:.1f} s")
        self.seconds = seconds


def sent_at(row: OutboxRow, now: datetime) -> datetime:
    """When the write was begun whose answer was lost; `NotYet` while GitHub's lists may not show it."""
    began = row.sending_at or now
    # By the clock that noted the beginning, where it was asked: ours may be another.
    early = (began + SETTLE_AFTER - (row.read_at or now)).total_seconds()
    if early > 0:
        raise NotYet(early)
    return began
