"""What somebody said by command about one tag, bound to the revision that they saw."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Act(StrEnum):
    """What a command does to a tag."""

    DISMISS = "dismiss"
    APPEAL = "appeal"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Ruling:
    """One tag dismissed, appealed against or named again: by whom, when, why, and at which head."""

    act: Act
    tag: str
    by_id: int
    by: str
    at: datetime
    head: str
    reason: str
    key: str
    """The command that says so: `comment:81/0`."""
