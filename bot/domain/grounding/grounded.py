"""What was found out about a claim, as it is kept with the pull request?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MOST_KEPT = 200
"""Entries of one pull request's log; older heads go first."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """One claim of a validator, what became of it, and where and when that was seen."""

    validator: str
    """The validator's key."""
    name: str
    verdict: str
    item: str
    """The key of the item that it belongs to; empty for a sentence of the review itself."""
    type: str
    requirement: str
    claim: str
    outcome: str
    head: str
    at: datetime
    tool: str = ""
    """Empty where nothing was looked at."""
    check: str = ""
    path: str | None = None
    line: int | None = None
    end_line: int | None = None
    is_place: bool = False
    note: str = ""
    nearest: str | None = None
    moved_from: int | None = None
    cited: bool = False
    blob: str = ""

    @property
    def source(self) -> str:
        """Where it was seen, as the document says it: `contents @ 9f2c1e4`; empty for nowhere."""
        if not self.tool:
            return ""
        seen = f"check run {self.check}" if self.check else self.tool
        return f"{seen} @ {self.head[:7]}"

    @property
    def required(self) -> bool:
        """Whether it has to be grounded."""
        return self.requirement == "mandatory"

    @property
    def looked_up(self) -> bool:
        """Whether anything was looked at."""
        return bool(self.tool)
