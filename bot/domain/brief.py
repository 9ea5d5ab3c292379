"""What is the next revision told: what to change, in which order, and how to prove it?

A brief is made of the actions of the detected type, most important first. It is scored from 0 to 10; below
7 it asks for more to be read, round by round, but for no more rounds than the rules allow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any

from bot.domain.brief_slots import Known, OpenItem, filled, slots
from bot.domain.detection import Detection, DetectionRules, FeedbackType

__all__ = [
    "GOOD",
    "Brief",
    "Known",
    "Line",
    "LogEntry",
    "OpenItem",
    "Refinement",
    "Wanted",
    "brief",
    "log_entry",
    "refined",
]

GOOD = 7
"""The score from which a brief is posted as it is."""
MOST_LINES = 5
POINTS = 2
"""What each of the five marks of a good brief is worth."""


@dataclass(frozen=True, slots=True)
class Line:
    """One step: the action of the source document that it comes from, and the step in words."""

    action: str
    text: str


@dataclass(frozen=True, slots=True)
class Brief:
    """What the next revision is told, and how well that can be acted on."""

    feedback_type: FeedbackType
    confidence: float
    score: int
    lines: tuple[Line, ...]

    def as_document(self) -> dict[str, Any]:
        """The brief as the actionable-feedback document has it."""
        return {
            "feedback_type": self.feedback_type.value,
            "confidence": self.confidence,
            "score": self.score,
            "lines": [{"action": line.action, "text": line.text} for line in self.lines],
        }


class Wanted(Enum):
    """What a brief that is not good yet wants to have read before the next round."""

    ANNOTATIONS = "the annotations of the failed checks"
    PLACES = "the lines of the names that the items speak of"


@dataclass(frozen=True, slots=True)
class Refinement:
    """A round's brief, and what the next round wants; nothing more where it is final."""

    brief: Brief
    round: int
    wants: Wanted | None = None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One round as it is kept for analysis, with the fields of the source document."""

    timestamp: datetime
    original_prompt: str
    feedback_type: FeedbackType
    feedback_signal: str
    actions_applied: tuple[str, ...]
    refined_prompt: str
    iteration: int
    success: bool | None = None
    """Whether the next verdict accepted the revision; unknown until it comes."""

    def as_document(self) -> dict[str, Any]:
        """The entry with the field names of the source document."""
        return {
            "timestamp": self.timestamp.isoformat().replace("+00:00", "Z"),
            "original_prompt": self.original_prompt,
            "feedback_type": self.feedback_type.value,
            "feedback_signal": self.feedback_signal,
            "actions_applied": list(self.actions_applied),
            "refined_prompt": self.refined_prompt,
            "iteration": self.iteration,
            "success": self.success,
        }

    def judged(self, *, accepted: bool) -> LogEntry:
        """The entry once the next verdict is there."""
        return replace(self, success=accepted)


def brief(
    detection: Detection, items: tuple[OpenItem, ...], known: Known, rules: DetectionRules
) -> Brief | None:
    """Fill the actions' templates from what is known; None where nothing was detected or shown."""
    if detection.type is None or not detection.is_shown:
        return None
    values = slots(items, known)
    lines = tuple(
        Line(action.name, text)
        for action in rules.actions.get(detection.type, ())
        if (text := filled(action.template, values)) is not None
    )[:MOST_LINES]
    return Brief(detection.type, detection.confidence, _score(lines, items, known), lines)


def refined(
    detection: Detection, items: tuple[OpenItem, ...], known: Known, rules: DetectionRules
) -> Refinement | None:
    """Return this round's brief and what to read for the next one; the last one says whom to ask."""
    made = brief(detection, items, known, rules)
    if made is None:
        return None
    rounds = 1 + (known.annotations is not None) + (known.resolved is not None)
    wants = _next(known) if made.score < GOOD and rounds < rules.max_refinement_iterations else None
    if wants is None and made.score < GOOD:
        made = replace(made, lines=(*made.lines[: MOST_LINES - 1], _question(known)))
    return Refinement(made, rounds, wants)


def log_entry(refinement: Refinement, signal: str, before: str, at: datetime) -> LogEntry:
    """Return the round as it is logged: `before` is the previous brief, or the pull request's own words."""
    made = refinement.brief
    return LogEntry(
        timestamp=at,
        original_prompt=before,
        feedback_type=made.feedback_type,
        feedback_signal=signal,
        actions_applied=tuple(line.action for line in made.lines),
        refined_prompt="\n".join(line.text for line in made.lines),
        iteration=refinement.round,
    )


def _score(lines: tuple[Line, ...], items: tuple[OpenItem, ...], known: Known) -> int:
    marks = (
        any(item.place for item in items),
        any(item.fix or item.suggestion for item in items),
        known.has_evidence,
        known.has_proof,
        bool(items) and 0 < len(lines) <= MOST_LINES,
    )
    return POINTS * sum(marks)


def _next(known: Known) -> Wanted | None:
    if known.annotations is None:
        return Wanted.ANNOTATIONS
    return Wanted.PLACES if known.resolved is None else None


def _question(known: Known) -> Line:
    return Line("request_clarification", f"Ask `{known.asked}`: which place?")
