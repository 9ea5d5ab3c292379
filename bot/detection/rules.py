"""The detector's rules: cues, output structures, actions and learned weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from struct import Struct
from typing import Any

import msgspec
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


class DetectionCue(msgspec.Struct, frozen=True, rename={"name": "cue", "lines": "phrases"}):
    """One way of saying something: what it says, an example, and its phrases, one a line."""

    name: str
    says: CueMeaning
    example: str
    lines: str

    @property
    def phrases(self) -> list[str]:
        """The phrases, without empty lines."""
        return [line.strip() for line in self.lines.splitlines() if line.strip()]


class OutputStructure(msgspec.Struct, frozen=True, rename={"name": "structure"}):
    """Something that programs print and people paste: an expression of RE2, and the signal it gives."""

    name: str
    says: CueMeaning
    signal: str
    example: str
    pattern: str


class BriefAction(msgspec.Struct, frozen=True, rename={"name": "action"}):
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
SHOWN, MAX_CONFIDENCE, HIGHEST = 0.6, 0.95, 1.31
"""The confidence of a probability from which a type is shown, and that of the highest with a boost."""
_COLUMNS = Struct(f">{COLUMNS}I")
_HALF = 1 << 31
_MIDDLE, _ZERO = (int.from_bytes(_COLUMNS.pack(*[column] * COLUMNS)) for column in (_HALF, BIAS))


def pack_weights(row: bytes) -> int:
    """Return the five weights of a feature as one number; such numbers add up column by column."""
    return int.from_bytes(_COLUMNS.pack(*row)) - _ZERO


def unpack_weights(packed: int) -> bytes:
    """Return the five weights of one feature."""
    return (packed + _ZERO).to_bytes(_COLUMNS.size)[3::4]


@dataclass(frozen=True, slots=True)
class LearnedModel:
    """The weights of every feature, and what a probability is worth as a confidence.

    One number a feature, for the four types in their order and for none, takes a fifth of the memory of five,
    and one addition. Whole numbers add up the same in any order.
    """

    weights: Mapping[str, int] = field(default_factory=dict)
    shown_from: Mapping[FeedbackType, float] = field(default_factory=dict)
    """For each type, the probability from which it is sure enough to be shown."""

    def total(self, names: Iterable[str]) -> list[int]:
        """Return the sum of the features' weights for each column, in units."""
        packed = sum(filter(None, map(self.weights.get, names)), _MIDDLE)
        return [column - _HALF for column in _COLUMNS.unpack(packed.to_bytes(_COLUMNS.size))]

    def calibrate(self, found: FeedbackType, probability: float) -> float:
        """Return the confidence that a probability, which a boost may lift above 1, is worth."""
        shown_from = self.shown_from.get(found, 1.0)
        if probability <= shown_from:
            return SHOWN * probability / shown_from
        above = (probability - shown_from) / (HIGHEST - shown_from)
        return min(MAX_CONFIDENCE, SHOWN + (MAX_CONFIDENCE - SHOWN) * above)


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


@dataclass(frozen=True, slots=True, repr=False)
class DetectionRules:
    """Everything that the detector goes by, compiled; a copy with another threshold shares it."""

    negations: frozenset[str]
    hypotheticals: frozenset[str]
    questions: frozenset[str]
    elsewhere: frozenset[str]
    """Words, and names of kinds, beside which a failure may be past, conditional or of another change."""
    failing: frozenset[str]
    """Words for a failure, which a negation right before them denies."""
    kind_of: Mapping[str, str]
    """What each word counts as: the name of its first kind."""
    cues: tuple[DetectionCue, ...]
    matcher: PhraseMatcher
    structures: tuple[OutputStructure, ...]
    structure_matcher: StructureMatcher
    actions: BriefActions
    model: LearnedModel
    own_cues: tuple[RepositoryCue, ...] = ()
    threshold: float = DetectionConfig().threshold
