"""What the detector knows: cues, structures, weights and actions, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import re2

from bot.domain.detection.lexicon import Lexicon

GROUPS = ("ci", "platform", "tests", "build", "lint")
"""Lists whose words count as one word for the weights, so that what was learnt of one holds for all."""


class FeedbackType(StrEnum):
    """The four kinds of failure that a reviewer can speak of; the order is that of the weights."""

    RUNTIME_ERROR = "runtime_error"
    VERIFICATION_FAILURE = "verification_failure"
    USER_REJECTION = "user_rejection"
    PARTIAL_SUCCESS = "partial_success"

    @property
    def says(self) -> Says:
        """What a cue of this type says."""
        return Says(self.value)


class Says(StrEnum):
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


@dataclass(frozen=True, slots=True)
class Cue:
    """One way of saying something: what it says, whether it decides alone, why, and its phrases."""

    name: str
    says: Says
    strong: bool
    reason: str
    example: str
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """Something that programs print and people paste: an expression of RE2, and the signal it gives."""

    name: str
    says: Says
    strong: bool
    signal: str
    reason: str
    example: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Action:
    """What the next revision is told to do: the document's name, purpose and template."""

    name: str
    description: str
    template: str


@dataclass(frozen=True, slots=True)
class OwnCue:
    """A repository's own phrase for a type: plain words, or an expression of RE2 between slashes."""

    type: FeedbackType
    phrase: str


Weights = Mapping[str, tuple[float, ...]]
"""What training learnt: for each feature a number for each of the four types and one for none."""


@dataclass(frozen=True, slots=True)
class DetectionRules:
    """Everything that the detector goes by; immutable, so that it is compiled once."""

    lists: Mapping[str, tuple[str, ...]]
    negations: frozenset[str]
    hypotheticals: frozenset[str]
    questions: frozenset[str]
    cues: tuple[Cue, ...]
    structures: tuple[Structure, ...]
    actions: Mapping[FeedbackType, tuple[Action, ...]]
    weights: Weights = field(default_factory=dict)
    own_cues: tuple[OwnCue, ...] = ()
    threshold: float = 0.6
    max_refinement_iterations: int = 3
    lexicon: Lexicon = field(init=False, repr=False, compare=False)
    patterns: tuple[Any, ...] = field(init=False, repr=False, compare=False)
    any_pattern: Any = field(init=False, repr=False, compare=False)
    groups: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile what the values describe."""
        phrases = tuple((number, phrase) for number, cue in enumerate(self.cues) for phrase in cue.phrases)
        compiled = tuple(re2.compile(structure.pattern) for structure in self.structures)
        either = "|".join(f"(?:{structure.pattern})" for structure in self.structures)
        groups = {word: f"{{{name}}}" for name in GROUPS for word in self.lists.get(name, ())}
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "lexicon", Lexicon(phrases, self.lists))
        object.__setattr__(self, "patterns", compiled)
        object.__setattr__(self, "any_pattern", re2.compile(either) if either else None)

    def extended(self, cues: Iterable[OwnCue], *, threshold: float, rounds: int) -> DetectionRules:
        """Return these rules as one repository wants them: its own cues, threshold and rounds."""
        return replace(self, own_cues=tuple(cues), threshold=threshold, max_refinement_iterations=rounds)
