"""What is kept of how feedback turned out, small enough for every pull request to carry it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Tracking:
    """How the feedback of one iteration turned out."""

    followed: bool
    delta: float | None
    """How much the quality rose; None where either score is not known."""
    clarity: float

    @property
    def improved(self) -> bool | None:
        """Whether the next iteration scored higher."""
        return None if self.delta is None else self.delta > 0

    def as_document(self) -> dict[str, object]:
        """Return it in the names of the actionable-feedback document, without what is not known."""
        found = {
            "feedback_followed": self.followed,
            "improvement_observed": self.improved,
            "improvement_delta": self.delta,
            "feedback_clarity_score": self.clarity,
        }
        return {name: value for name, value in found.items() if value is not None}


class By(StrEnum):
    """What the rates are told apart by."""

    AUTHOR = "author"
    REVIEWER = "reviewer"
    GATE = "gate"
    PLACE = "place"


@dataclass(frozen=True, slots=True)
class Observation:
    """One item and what came of it, small enough to be kept."""

    at: datetime
    """When the next iteration was judged."""
    author: str
    reviewer: str
    tag: str | None
    placed: bool
    followed: bool
    delta: float | None = None
    url: str = ""
    """Where the item was said, if it has a place of its own."""
    clarity: float | None = None
    """Of the feedback that it belongs to; None where it was kept before that was known."""

    def key(self, by: By) -> str:
        """The group that it belongs to."""
        groups = {
            By.AUTHOR: self.author,
            By.REVIEWER: self.reviewer,
            By.GATE: self.tag or "without a tag",
            By.PLACE: "with a place" if self.placed else "without a place",
        }
        return groups[by]


@dataclass(frozen=True, slots=True)
class Tracked:
    """One iteration's feedback, judged by what the next iteration showed."""

    iteration: int
    head: str
    tracking: Tracking
    observations: tuple[Observation, ...] = ()
