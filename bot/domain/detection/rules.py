"""What the detector knows: cues, structures, weights and actions, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from enum import StrEnum

from bot.domain.detection.learnt import Learnt
from bot.domain.detection.lexicon import Lexicon
from bot.domain.detection.structures import Structures


class FeedbackType(StrEnum):
    """The four kinds of failure that a reviewer can speak of; the order is that of the weights."""

    RUNTIME_ERROR = "runtime_error"
    VERIFICATION_FAILURE = "verification_failure"
    USER_REJECTION = "user_rejection"
    PARTIAL_SUCCESS = "partial_success"

    __hash__ = str.__hash__  # that of an enum is written in Python, and asked for with every cue

    @property
    def says(self) -> Says:
        """What a cue of this type says."""
        return _SAYS[self]


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
    REAL = "real"
    NEUTRAL = "neutral"

    __hash__ = str.__hash__


_SAYS = {kind: Says(kind.value) for kind in FeedbackType}


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
    learnt: Learnt = field(default_factory=lambda: Learnt({}, {}), repr=False, compare=False)
    own_cues: tuple[OwnCue, ...] = ()
    threshold: float = 0.6
    max_refinement_iterations: int = 3
    lexicon: Lexicon = field(init=False, repr=False, compare=False)
    pasted: Structures = field(init=False, repr=False, compare=False)
    says: tuple[Says, ...] = field(init=False, repr=False, compare=False)
    """What each cue says, by its number."""
    heard: tuple[tuple[str, Says, int], ...] = field(init=False, repr=False, compare=False)
    """The name of each cue, what it says, and with how many points."""
    doubts: frozenset[str] = field(init=False, repr=False, compare=False)
    """Words that deny what is said, or make it a mere possibility."""
    failing: frozenset[str] = field(init=False, repr=False, compare=False)
    """Words for a failure, which a negation right before them denies."""
    verified: frozenset[str] = field(init=False, repr=False, compare=False)
    """Words for what verifies a change: tests, builds, linters and the CI."""

    def __post_init__(self) -> None:
        """Compile what the values describe."""
        phrases = tuple((number, phrase) for number, cue in enumerate(self.cues) for phrase in cue.phrases)
        object.__setattr__(self, "failing", self._listed("fails", "trouble", "crashes"))
        object.__setattr__(self, "verified", self._listed("tests", "build", "lint", "ci"))
        object.__setattr__(self, "lexicon", Lexicon(phrases, self.lists))
        heard = tuple((cue.name, cue.says, 2 if cue.strong else 1) for cue in self.cues)
        object.__setattr__(self, "heard", heard)
        object.__setattr__(self, "doubts", self.negations | self.hypotheticals)
        object.__setattr__(self, "says", tuple(cue.says for cue in self.cues))
        object.__setattr__(self, "pasted", Structures(structure.pattern for structure in self.structures))

    def _listed(self, *names: str) -> frozenset[str]:
        return frozenset(word for name in names for word in self.lists.get(name, ()))

    def extended(self, cues: Iterable[OwnCue], *, threshold: float, rounds: int) -> DetectionRules:
        """Return these rules as one repository wants them: its own cues, threshold and rounds."""
        other = copy(self)  # not `replace`, which would compile everything once more
        object.__setattr__(other, "own_cues", tuple(cues))
        object.__setattr__(other, "threshold", threshold)
        object.__setattr__(other, "max_refinement_iterations", rounds)
        return other
