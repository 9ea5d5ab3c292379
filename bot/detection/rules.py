"""The detector's rules: cues, output structures, actions and learned weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any

import re2

from bot.detection.phrases import PhraseMatcher
from bot.gates.config import DetectionConfig


class FeedbackType(StrEnum):
    """The four kinds of feedback that reports a failure; the order is that of the weights."""

    RUNTIME_ERROR = "runtime_error"
    VERIFICATION_FAILURE = "verification_failure"
    USER_REJECTION = "user_rejection"
    PARTIAL_SUCCESS = "partial_success"

    __hash__ = str.__hash__  # that of an enum is written in Python, and asked for with every cue


class CueMeaning(StrEnum):
    """What a cue says: one of the four types, or what makes or unmakes one."""

    RUNTIME_ERROR = "runtime_error"
    VERIFICATION_FAILURE = "verification_failure"
    USER_REJECTION = "user_rejection"
    PARTIAL_SUCCESS = "partial_success"
    APPROVAL = "approval"
    REQUEST = "request"
    HARMLESS = "harmless"
    SETTLED = "settled"
    UNRELATED = "unrelated"
    NEUTRAL = "neutral"

    __hash__ = str.__hash__


@dataclass(frozen=True, slots=True)
class DetectionCue:
    """One way of saying something: what it says, an example, and its phrases."""

    name: str
    says: CueMeaning
    example: str
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutputStructure:
    """Something that programs print and people paste: an expression of RE2, and the signal it gives."""

    name: str
    says: CueMeaning
    signal: str
    example: str
    pattern: str


@dataclass(frozen=True, slots=True)
class BriefAction:
    """What the next revision is told to do: the document's name, purpose and template."""

    name: str
    description: str
    template: str


BriefActions = Mapping[FeedbackType, tuple[BriefAction, ...]]
"""For each type, what the next revision is told, most important first."""


@dataclass(frozen=True, slots=True)
class RepositoryCue:
    """A repository's own phrase for a type: plain words, or an expression of RE2 between slashes."""

    type: FeedbackType
    phrase: str


BIAS, UNIT = 128, 40
"""A weight is one byte, in units above or below the bias, which stands for 0."""
COLUMNS = len(FeedbackType) + 1
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class LearnedModel:
    """The weights of every feature, and what a probability is worth as a confidence.

    Five bytes a feature, for the four types in their order and for none, take a fifth of the memory of five
    numbers, and whole numbers add up the same in any order.
    """

    weights: Mapping[str, bytes] = field(default_factory=dict)
    calibration: Mapping[FeedbackType, Points] = field(default_factory=dict)
    """For each type, points of probability and confidence, both ascending; between them it is a line."""

    def total(self, rows: list[bytes]) -> list[float]:
        """Return the sum of the rows for each column."""
        if not rows:
            return [0.0] * COLUMNS
        zero = BIAS * len(rows)
        return [(sum(column) - zero) / UNIT for column in zip(*rows, strict=True)]

    def calibrate(self, found: FeedbackType, probability: float) -> float:
        """Return the confidence that a probability, which a boost may lift above 1, is worth."""
        points = self.calibration.get(found) or ((0.0, 0.0), (1.0, 1.0))
        for (left, low), (right, high) in pairwise(points):
            if probability <= right:
                return low + (high - low) * (probability - left) / (right - left)
        return points[-1][1]


class StructureMatcher:
    """Expressions of RE2, several searched for at once; each by itself only in a text that has it.

    All of them at once would be one pass over the text, but so many states that every fresh text takes
    ten times as long as one that was read before.
    """

    __slots__ = ("_each", "_sets")

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        options = re2.Options()
        options.never_capture = True  # where a group is takes RE2 several times as long
        self._each = [re2.compile(pattern, options) for pattern in patterns]
        parts = range(0, len(patterns), _PER_SET)
        self._sets = [(first, _search_set(patterns[first : first + _PER_SET])) for first in parts]

    def find(self, text: str) -> list[tuple[int, str]]:
        """Return the number and the first match of every expression that the text has, in their order."""
        data = text.encode("utf-8", "replace")  # half a surrogate pair is one strange character
        numbers = [first + number for first, one in self._sets for number in sorted(one.Match(data) or ())]
        matches = ((number, self._each[number].search(data)) for number in numbers)
        return [(number, match.group().decode("utf-8", "replace")) for number, match in matches if match]


_PER_SET = 6


def _search_set(patterns: Iterable[str]) -> Any:
    together = re2.Set.SearchSet()
    for pattern in patterns:
        together.Add(pattern)
    together.Compile()
    return together


@dataclass(frozen=True, slots=True)
class DetectionRules:
    """Everything that the detector goes by; immutable, so that it is compiled once."""

    kinds: Mapping[str, tuple[str, ...]]
    negations: frozenset[str]
    hypotheticals: frozenset[str]
    questions: frozenset[str]
    cues: tuple[DetectionCue, ...]
    structures: tuple[OutputStructure, ...]
    actions: BriefActions
    model: LearnedModel = field(default_factory=LearnedModel, repr=False, compare=False)
    own_cues: tuple[RepositoryCue, ...] = ()
    threshold: float = DetectionConfig().threshold
    matcher: PhraseMatcher = field(init=False, repr=False, compare=False)
    structure_matcher: StructureMatcher = field(init=False, repr=False, compare=False)
    kind_of: Mapping[str, str] = field(init=False, repr=False, compare=False)
    """What each word counts as: the name of its first kind."""
    doubts: frozenset[str] = field(init=False, repr=False, compare=False)
    """Words that deny what is said, or make it a mere possibility."""
    failing: frozenset[str] = field(init=False, repr=False, compare=False)
    """Words for a failure, which a negation right before them denies."""

    def __post_init__(self) -> None:
        """Compile what the values describe."""
        phrases = ((number, phrase) for number, cue in enumerate(self.cues) for phrase in cue.phrases)
        kinds = reversed([*self.kinds.items()])
        compiled = {
            "failing": frozenset((*self.kinds.get("fail", ()), *self.kinds.get("crash", ()))),
            "matcher": PhraseMatcher(phrases, self.kinds),
            "kind_of": {word: f"{{{name}}}" for name, words in kinds for word in words},
            "doubts": self.negations | self.hypotheticals,
            "structure_matcher": StructureMatcher(structure.pattern for structure in self.structures),
        }
        for name, value in compiled.items():
            object.__setattr__(self, name, value)

    def extended(self, cues: Iterable[RepositoryCue], *, threshold: float) -> DetectionRules:
        """Return these rules as one repository wants them: its own cues and threshold."""
        return self._with(own_cues=tuple(cues), threshold=threshold)

    def with_model(self, model: LearnedModel) -> DetectionRules:
        """Return these rules with another model."""
        return self._with(model=model)

    def _with(self, **values: object) -> DetectionRules:
        other = copy(self)  # not `replace`, which would compile everything once more
        for name, value in values.items():
            object.__setattr__(other, name, value)
        return other
