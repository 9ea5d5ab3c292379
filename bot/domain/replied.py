"""What was answered to a command, as the store remembers it."""

from __future__ import annotations

from collections.abc import Iterable
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


def one_topic(topics: Iterable[str]) -> str:
    """The topic of an answer to several questions; that of a single one has no line end."""
    return "\n".join(topics)


def is_said_anew(older: str, newer: str) -> bool:
    """Whether an answer on the newer topic answers all that one on the older did."""
    return set(older.split("\n")) <= set(newer.split("\n"))
