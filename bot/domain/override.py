"""What a person decided about the selection, and what that changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Choice(StrEnum):
    """What may be selected."""

    USE_BEST = "use_best"
    USE_FINAL = "use_final"
    USE_SPECIFIC = "use_specific"


@dataclass(frozen=True, slots=True)
class Override:
    """A person's selection: who, when, why, and at which head they saw it."""

    choice: Choice
    by: str
    reason: str
    at: datetime
    head: str
    iteration: int | None = None
    """Only with `use_specific`."""
    by_id: int = 0


@dataclass(frozen=True, slots=True)
class Audit:
    """What an override changed."""

    by: str
    at: datetime
    reason: str
    head: str
    choice: Choice
    before: int
    after: int
    by_id: int = 0
