"""What was answered to a command, as the store remembers it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Replied:
    """One answer; without a comment while it is still to be posted."""

    key: str
    topic: str
    account_id: int
    at: datetime
    comment_id: int | None = None
    node_id: str | None = None
