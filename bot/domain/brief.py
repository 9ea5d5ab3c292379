"""What is the next revision told: what to change, in which order, and how to prove it?

A brief is made of the actions of the detected type, most important first. It is scored from 0 to 10; below
7 the next round goes by more of what was read, but there are no more rounds than the rules allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.domain.brief_slots import Known, OpenItem, filled, has_slots, slots
from bot.domain.detection import Detection, DetectionRules, FeedbackType

__all__ = [
    "GOOD",
    "Brief",
    "Known",
    "Line",
    "LogEntry",
    "OpenItem",
    "Reading",
    "Refinement",
    "brief",
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


@dataclass(frozen=True, slots=True)
class Reading:
    """What one round goes by; the rounds are numbered by what they read."""

    round: int
    items: tuple[OpenItem, ...]
    known: Known


@dataclass(frozen=True, slots=True)
class Refinement:
    """A round, and the brief that came of it."""

    brief: Brief
    round: int


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
    """Whether the next verdict accepted the revision; unknown before, false of what was not posted."""
    round: int = 1

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
            "round": self.round,
        }


def brief(
    detection: Detection, items: tuple[OpenItem, ...], known: Known, rules: DetectionRules
) -> Brief | None:
    """Fill the actions' templates from what is known; None where nothing was detected or shown."""
    if detection.type is None or not detection.is_shown:
        return None
    values = slots(items, known)
    told = [
        (action, text)
        for action in rules.actions.get(detection.type, ())
        if (text := filled(action.template, values)) is not None
    ][:MOST_LINES]
    tied = bool(items) and bool(told) and all(has_slots(action.template) for action, _ in told)
    score = POINTS * (sum(_marks(items, known).values()) + tied)
    return Brief(
        detection.type, detection.confidence, score, tuple(Line(action.name, text) for action, text in told)
    )


def refined(
    detection: Detection, readings: Sequence[Reading], rules: DetectionRules
) -> tuple[Refinement, ...]:
    """Return the rounds up to the first good brief, or as many as are allowed: then it says what to ask.

    A round that has nothing more to go by than the one before is none.
    """
    rounds: list[Refinement] = []
    last: Reading | None = None
    for reading in readings[: rules.max_refinement_iterations]:
        if last and (reading.items, reading.known) == (last.items, last.known):
            continue
        made = brief(detection, reading.items, reading.known, rules)
        if made is None:
            return ()
        rounds.append(Refinement(made, reading.round))
        last = reading
        if made.score >= GOOD:
            return tuple(rounds)
    return (*rounds[:-1], _asking(rounds[-1], last)) if last else ()


def _marks(items: tuple[OpenItem, ...], known: Known) -> Mapping[str, bool]:
    """What a brief is good for, each as the question that it leaves open."""
    return {
        "which place?": known.has_trace or any(item.places for item in items),
        "what should change?": any(item.fix or item.suggestion for item in items),
        "what shows it?": known.has_evidence,
        "which check or test proves it?": known.has_proof,
    }


def _asking(refinement: Refinement, reading: Reading) -> Refinement:
    """The round with a last line that asks for what is missing most."""
    made, known = refinement.brief, reading.known
    question = next(mark for mark, is_there in _marks(reading.items, known).items() if not is_there)
    whom = f"Read the output of `{known.asked}`" if known.only_checks else f"Ask `{known.asked}`"
    line = Line("request_clarification", f"{whom}: {question}")
    return replace(refinement, brief=replace(made, lines=(*made.lines[: MOST_LINES - 1], line)))
