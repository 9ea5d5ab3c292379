"""What a check run of ours says about a revision, and what others' found in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.model import Place

GATES = "whetstone/gates"
CONFIG = "whetstone/config"
MOST_ANNOTATIONS = 50
"""GitHub takes no more in one request, and what was taken is never removed."""


class Conclusion(StrEnum):
    """How a check run ended, in GitHub's words."""

    SUCCESS = "success"
    NEUTRAL = "neutral"
    FAILURE = "failure"
    ACTION_REQUIRED = "action_required"


@dataclass(frozen=True, slots=True)
class Annotation:
    """Words at a place of a file."""

    path: str
    line: int
    end_line: int
    message: str
    title: str = ""
    level: str = "failure"
    column: int | None = None

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.path, self.line, self.end_line if self.end_line != self.line else None)


@dataclass(frozen=True, slots=True)
class CheckText:
    """All that a check run of ours says; equal places have equal `places`."""

    name: str
    head: str
    conclusion: Conclusion
    title: str
    summary: str
    places: str = ""
    """What GitHub keeps as the run's external id: it tells whether the annotations are still these."""
    annotations: tuple[Annotation, ...] = ()
