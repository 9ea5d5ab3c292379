"""The detector's rules: cues, output structures, actions and learned weights.

Whole numbers add up the same in any order, take a fifth of the memory of five floats, and a sum over all
features is one sum. Weights are hundredths; each has 32 bits, so that no text is long enough to overflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from enum import StrEnum
from struct import Struct
from typing import Any, NamedTuple

import re2

from bot.detection.automaton import Lexicon
from bot.detection.words import Sentence, stem

WeightTotals = tuple[int, ...]
"""Hundredths for each of the four types in their order, and for none."""

COLUMNS = 5
_BITS = 32
_MIDDLE = 1 << (_BITS - 1)
_MASK = (1 << _BITS) - 1
_ALL = (1 << COLUMNS * _BITS) - 1
_SHIFTS = tuple(range(0, COLUMNS * _BITS, _BITS))
_COLUMNS = Struct("<5i")
_OFFSET = sum(_MIDDLE << shift for shift in _SHIFTS)


def pack_weights(hundredths: WeightTotals) -> int:
    """Return one number that holds these weights."""
    one, two, three, four, none = hundredths
    return one + (two << _BITS) + (three << 2 * _BITS) + (four << 3 * _BITS) + (none << 4 * _BITS)


def tag_weights(packed_: int, number: int) -> int:
    """Return the weights with a number above them, so that two features are never equal."""
    return packed_ + (number << COLUMNS * _BITS)


def unpack_weights(total: int) -> WeightTotals:
    """Return the hundredths that a packed number, or a sum of packed numbers, holds."""
    return _COLUMNS.unpack((total + _OFFSET & _ALL ^ _OFFSET).to_bytes(_COLUMNS.size, "little"))


def weight_margin(total: int, column: int) -> int:
    """Return by how many hundredths one column exceeds the last."""
    biased = total + _OFFSET
    return (biased >> _SHIFTS[column] & _MASK) - (biased >> _SHIFTS[-1] & _MASK)


FACT_PREFIX = "#"
"""What the name of a feature begins with that is not a word or words in a row."""
MAX_CACHED_WORDS = 10_000
"""How many words are remembered with what they count as."""

_UNKNOWN = 0


_Feature = int
"""The weights of a word, or of two or three in a row, that was learnt; no two are equal: each counts once."""
_NOT_LEARNT = 0
_Thirds = dict[int, _Feature]
"""By the number of the third word in a row, what the three say."""
_Seconds = dict[int, tuple[_Feature, _Thirds]]
"""By the number of the second word in a row, what the two say, and how it may go on."""
_Word = tuple[tuple[_Feature, ...], int, _Seconds]
"""What a word counts as: its stem and kind, its number in a row, and the rows that it begins."""


class LearnedWeights:
    """The weights of all features; words go by number, found faster than a text that must be made."""

    __slots__ = ("_numbers", "_rows", "_seen", "_signs", "_words", "facts", "kinds")

    def __init__(self, weights: Mapping[str, WeightTotals], kinds: Mapping[str, str]) -> None:
        self.facts: dict[str, int] = {}
        self.kinds = kinds
        self._numbers: dict[str, int] = {}
        self._words: dict[int, _Feature] = {}
        self._rows: dict[int, _Seconds] = {}
        self._seen: dict[str, _Word] = {}
        for number, (name, row) in enumerate(weights.items(), 1):
            if name.startswith(FACT_PREFIX):
                self.facts[name] = pack_weights(row)
            else:
                self._learn(
                    [self._number(word) for word in name.split(" ")], tag_weights(pack_weights(row), number)
                )
        self._signs = tuple(self._number(sign) for sign in "^?$")

    def _learn(self, words: list[int], feature: _Feature) -> None:
        if len(words) == 1:
            self._words[words[0]] = feature
            return
        first, second, *third = words
        begins = self._rows.setdefault(first, {})
        of_two, thirds = begins.get(second, (_NOT_LEARNT, _NO_THIRDS))
        if third:
            thirds = thirds or {}
            thirds[third[0]] = feature
            begins[second] = (of_two, thirds)
        else:
            begins[second] = (feature, thirds)

    def weigh(self, sentences: Iterable[Sentence]) -> tuple[int, int]:
        """Return the sum of what is known of the words, and of how many words and rows that is."""
        seen, look = self._seen.get, self._look
        start, asks, ends = self._signs
        first = self._rows.get(start, _NO_SECONDS)
        found: list[_Feature] = []
        for said, is_question in sentences:
            seconds, thirds = first, _NO_THIRDS
            for word in said:
                features, unit, begins = seen(word) or look(word)
                found += features
                if unit in thirds:
                    found.append(thirds[unit])
                if unit in seconds:
                    of_two, thirds = seconds[unit]
                    found.append(of_two)
                else:
                    thirds = _NO_THIRDS
                seconds = begins
            end = asks if is_question else ends
            if end in thirds:
                found.append(thirds[end])
            if end in seconds:
                found.append(seconds[end][0])
        once = set(found)
        once.discard(_NOT_LEARNT)
        return sum(once), len(once)

    def telling(self, sentences: Iterable[Sentence], column: int, most: int) -> tuple[str, ...]:
        """Return the words and rows of words that speak most for one column against the last."""
        rows = [(weight_margin(feature, column), said) for feature, said in self._heard(sentences).items()]
        best = sorted([row for row in rows if row[0] > 0], reverse=True)
        return tuple([said for _, said in best[:most]])

    def _heard(self, sentences: Iterable[Sentence]) -> dict[_Feature, str]:
        """Return what is known of the words as `weigh` finds it, each with what was said for it first."""
        start, asks, ends = self._signs
        heard: dict[_Feature, str] = {}
        for said, is_question in sentences:
            before, last = "", ""
            seconds, thirds = self._rows.get(start, _NO_SECONDS), _NO_THIRDS
            for word in (*said, ""):
                if word:
                    features, unit, begins = self._seen.get(word) or self._look(word)
                else:
                    features, unit, begins = (), asks if is_question else ends, _NO_SECONDS
                for feature in features:
                    heard.setdefault(feature, word)
                of_two, further = seconds.get(unit, (_NOT_LEARNT, _NO_THIRDS))
                heard.setdefault(thirds.get(unit, _NOT_LEARNT), f"{before} {last} {word}".strip())
                heard.setdefault(of_two, f"{last} {word}".strip())
                before, last = last, word
                seconds, thirds = begins, further
        heard.pop(_NOT_LEARNT, None)
        return heard

    def _look(self, word: str) -> _Word:
        if len(self._seen) >= MAX_CACHED_WORDS:
            self._seen.clear()
        base = self._numbers.get(stem(word), _UNKNOWN)
        kind = self._numbers.get(self.kinds.get(word, ""), _UNKNOWN)
        unit = kind if word in self.kinds else base
        features = tuple(self._words[number] for number in (base, kind) if number in self._words)
        seen = self._seen[word] = (features, unit, self._rows.get(unit, _NO_SECONDS))
        return seen

    def _number(self, unit: str) -> int:
        return self._numbers.setdefault(unit, len(self._numbers) + 1)


_NO_SECONDS: _Seconds = {}
_NO_THIRDS: _Thirds = {}


_WITHOUT_GROUPS = re2.Options()
_WITHOUT_GROUPS.never_capture = True  # where a group is takes RE2 several times as long as where the whole is


class StructureMatch(NamedTuple):
    """Which expression was found, where, and the text that it was found in."""

    number: int
    start: int
    text: str


class StructureMatcher:
    """Expressions of RE2, several searched for at once; each by itself only in a text that has it.

    All of them at once would be one pass over the text, but so many states that every fresh text takes
    ten times as long as one that was read before.
    """

    __slots__ = ("_each", "_patterns", "_sets")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)
        self._each: dict[int, Any] = {}
        self._sets = [
            (first, _together(self._patterns[first : first + _AT_ONCE]))
            for first in range(0, len(self._patterns), _AT_ONCE)
        ]

    def find(self, body: str) -> list[StructureMatch]:
        """Return the first place of every expression that the text has, in their order."""
        read = body.encode("utf-8", "replace")  # half a surrogate pair is one strange character
        found: list[StructureMatch] = []
        for first, together in self._sets:
            if numbers := together.Match(read):
                places = (self._place(first + number, read) for number in sorted(numbers))
                found += [place for place in places if place]
        return found

    def _place(self, number: int, read: bytes) -> StructureMatch | None:
        if number not in self._each:
            self._each[number] = re2.compile(self._patterns[number], _WITHOUT_GROUPS)
        match = self._each[number].search(read)
        if match is None:
            return None
        return StructureMatch(number, len(read[: match.start()].decode()), match.group().decode())


_AT_ONCE = 6


def _together(patterns: Iterable[str]) -> Any:
    found = re2.Set.SearchSet()
    for pattern in patterns:
        found.Add(pattern)
    found.Compile()
    return found


class FeedbackType(StrEnum):
    """The four kinds of failure that a reviewer can speak of; the order is that of the weights."""

    RUNTIME_ERROR = "runtime_error"
    VERIFICATION_FAILURE = "verification_failure"
    USER_REJECTION = "user_rejection"
    PARTIAL_SUCCESS = "partial_success"

    __hash__ = str.__hash__  # that of an enum is written in Python, and asked for with every cue

    @property
    def says(self) -> CueMeaning:
        """What a cue of this type says."""
        return _SAYS[self]


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
    REAL = "real"
    NEUTRAL = "neutral"

    __hash__ = str.__hash__


_SAYS = {kind: CueMeaning(kind.value) for kind in FeedbackType}


@dataclass(frozen=True, slots=True)
class DetectionCue:
    """One way of saying something: what it says, whether it decides alone, why, and its phrases."""

    name: str
    says: CueMeaning
    strong: bool
    reason: str
    example: str
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutputStructure:
    """Something that programs print and people paste: an expression of RE2, and the signal it gives."""

    name: str
    says: CueMeaning
    strong: bool
    signal: str
    reason: str
    example: str
    pattern: str


@dataclass(frozen=True, slots=True)
class BriefAction:
    """What the next revision is told to do: the document's name, purpose and template."""

    name: str
    description: str
    template: str


@dataclass(frozen=True, slots=True)
class RepositoryCue:
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
    cues: tuple[DetectionCue, ...]
    structures: tuple[OutputStructure, ...]
    actions: Mapping[FeedbackType, tuple[BriefAction, ...]]
    learnt: LearnedWeights = field(default_factory=lambda: LearnedWeights({}, {}), repr=False, compare=False)
    own_cues: tuple[RepositoryCue, ...] = ()
    threshold: float = 0.6
    max_refinement_iterations: int = 3
    lexicon: Lexicon = field(init=False, repr=False, compare=False)
    pasted: StructureMatcher = field(init=False, repr=False, compare=False)
    says: tuple[CueMeaning, ...] = field(init=False, repr=False, compare=False)
    """What each cue says, by its number."""
    heard: tuple[tuple[str, CueMeaning, int], ...] = field(init=False, repr=False, compare=False)
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
        object.__setattr__(
            self, "pasted", StructureMatcher(structure.pattern for structure in self.structures)
        )

    def _listed(self, *names: str) -> frozenset[str]:
        return frozenset(word for name in names for word in self.lists.get(name, ()))

    def extended(self, cues: Iterable[RepositoryCue], *, threshold: float, rounds: int) -> DetectionRules:
        """Return these rules as one repository wants them: its own cues, threshold and rounds."""
        other = copy(self)  # not `replace`, which would compile everything once more
        object.__setattr__(other, "own_cues", tuple(cues))
        object.__setattr__(other, "threshold", threshold)
        object.__setattr__(other, "max_refinement_iterations", rounds)
        return other
