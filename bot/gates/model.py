"""Gates and their tags, and the phrases that stand for a tag.

A phrase is plain words, found as whole words in any case, or a regular expression between slashes
(`/tests? (is|are) missing/`) in the syntax of RE2, which takes linear time on any text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from string import ascii_lowercase, digits
from typing import Any

import re2

from bot import regex
from bot.markdown.escape import code_span, escape_mentions

_MEMORY = 1 << 20  # bytes a compiled expression may take: x{1000} of x{1000} is refused, not tried
_PART = 1 << 15  # characters of plain phrases that are looked for together


class PhraseError(ValueError):
    """A regular expression that RE2 does not take; the message says why."""


def phrase_expression(phrase: str) -> str | None:
    """Return the regular expression of a phrase written between slashes, or None for plain words."""
    enclosed = len(phrase) > 2 and phrase.startswith("/") and phrase.endswith("/")
    return phrase[1:-1] if enclosed else None


def check_phrase(phrase: str) -> None:
    """Raise `PhraseError` when the phrase can't be compiled."""
    _compiled(phrase_expression(phrase) or _words(phrase))


def phrase_spans(phrases: tuple[str, ...], text: str) -> tuple[tuple[int, int], ...]:
    """Return the sorted offsets of all phrases in the text.

    Of plain phrases that overlap, the first is found.
    """
    return tuple(sorted(set(_spans(phrases, regex.encodable(text)))))


def has_phrase(phrases: tuple[str, ...], text: str) -> bool:
    """Whether any of the phrases occurs in the text."""
    return next(_spans(phrases, regex.encodable(text)), None) is not None


def matches_name(pattern: str, name: str) -> bool:
    """Whether the pattern of a config equals this name, or is an expression that matches it."""
    expression = phrase_expression(pattern)
    if expression is None:
        return pattern == name
    return _compiled(expression).search(regex.encodable(name)) is not None


def _spans(phrases: tuple[str, ...], text: str) -> Iterator[tuple[int, int]]:
    plain, expressions = _searches(phrases)
    for words in plain:
        spans = (match.span() for match in words.finditer(text))
        yield from ((start, end) for start, end in spans if _is_whole(text, start, end))
    for expression in expressions:
        spans = (match.span() for match in expression.finditer(text))
        yield from ((start, end) for start, end in spans if start < end)


@lru_cache(maxsize=512)
def _searches(phrases: tuple[str, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Compile a few searches for all plain phrases together, and one for each expression."""
    plain = [_words(phrase) for phrase in phrases if phrase_expression(phrase) is None]
    expressions = [expression for phrase in phrases if (expression := phrase_expression(phrase)) is not None]
    together = (_compiled("|".join(part), memory=8 * _MEMORY) for part in _parts(plain))
    return tuple(together), tuple(map(_compiled, expressions))


@lru_cache(maxsize=1024)
def _compiled(expression: str, memory: int = _MEMORY) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False  # RE2 would write to stderr, past our logs
    options.max_mem = memory
    options.never_capture = True
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        raise PhraseError(describe_re2_error(error)) from None


def describe_re2_error(error: re2.error) -> str:
    """Return why RE2 does not take an expression; it says so in bytes."""
    (reason,) = error.args or ("unreadable",)
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


def _parts(plain: list[str]) -> Iterator[list[str]]:
    """Cut the list where one search for all of it would be larger than RE2 takes."""
    longest = max(map(len, plain), default=1)
    size = max(1, _PART // longest)
    return (plain[start : start + size] for start in range(0, len(plain), size))


def _words(phrase: str) -> str:
    """Match the words with any white space between them and either kind of apostrophe."""
    words = r"\s+".join(re2.escape(word) for word in phrase.split()).replace(re2.escape("'"), "['’]")
    return f"{_edge(phrase[:1])}{words}{_edge(phrase[-1:])}"


def _edge(character: str) -> str:
    return r"\b" if character.isascii() and regex.is_word(character) else ""


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word runs on past the edges; RE2's own edge of a word knows ASCII letters only."""
    runs_on_left = start > 0 and regex.is_word(text[start - 1]) and regex.is_word(text[start])
    runs_on_right = end < len(text) and regex.is_word(text[end]) and regex.is_word(text[end - 1])
    return start < end and not runs_on_left and not runs_on_right


_TAG_LETTERS = frozenset(ascii_lowercase + digits)
_TAG_LENGTH = 64
_GAP = regex.Regex(r"[\s-]+")


class Severity(StrEnum):
    """Whether a broken gate keeps a pull request out."""

    BLOCKING = "blocking"
    WARNING = "warning"


class Aspect(StrEnum):
    """The side of quality that a gate is about."""

    CORRECTNESS = "correctness"
    COMPLETENESS = "completeness"
    CLARITY = "clarity"
    CONSISTENCY = "consistency"
    EFFICIENCY = "efficiency"
    SECURITY = "security"
    STYLE = "style"
    DOCUMENTATION = "documentation"
    TESTABILITY = "testability"
    MAINTAINABILITY = "maintainability"


DEFAULT_PRIORITY = {Severity.BLOCKING: 3, Severity.WARNING: 7}  # 1 is done first, 10 last


@dataclass(frozen=True, slots=True)
class Example:
    """The same thing wrong and right."""

    bad: str
    good: str


@dataclass(frozen=True, slots=True)
class Gate:
    """What a tag stands for: its name, what is wrong, the fix, and how much it matters."""

    tag: str
    gate: str
    description: str
    fix: str
    severity: Severity
    auto_fixable: bool = False
    aspect: Aspect = Aspect.CORRECTNESS
    guide: str | None = None
    phrases: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    priority: int = 0
    pack: str = ""
    subject: str = ""
    """What is checked, in the words that follow "check"; empty if the name is used."""
    lesson: str = ""
    """What to do before a push, in one imperative sentence; empty if the fix says it."""

    def __post_init__(self) -> None:
        """Give a gate without a priority the one of its severity."""
        if self.priority == 0:
            object.__setattr__(self, "priority", DEFAULT_PRIORITY[self.severity])

    @property
    def is_blocking(self) -> bool:
        """Whether it keeps a pull request out."""
        return self.severity is Severity.BLOCKING


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates in force, each tag once, in the order of their files."""

    in_order: tuple[Gate, ...] = ()
    _by_tag: dict[str, Gate] = field(init=False, repr=False, compare=False)
    phrases: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Every phrase of every gate."""

    def __post_init__(self) -> None:
        """Index by tag; a tag given twice is the caller's mistake."""
        by_tag = {gate.tag: gate for gate in self.in_order}
        if len(by_tag) != len(self.in_order):
            raise ValueError("two gates have the same tag")
        object.__setattr__(self, "_by_tag", by_tag)
        object.__setattr__(
            self, "phrases", tuple(phrase for gate in self.in_order for phrase in gate.phrases)
        )

    def __iter__(self) -> Iterator[Gate]:
        """Give the gates in order."""
        return iter(self.in_order)

    def __len__(self) -> int:
        """Count the gates."""
        return len(self.in_order)

    def __contains__(self, tag: object) -> bool:
        """Whether a gate has this tag."""
        return tag in self._by_tag

    @property
    def tags(self) -> tuple[str, ...]:
        """The known tags in order."""
        return tuple(self._by_tag)

    def get(self, tag: str) -> Gate | None:
        """Return the gate of this tag, or None."""
        return self._by_tag.get(tag)

    def nearest(self, tag: str) -> str | None:
        """Return the tag that the writer most likely meant; None unless one is truly near."""
        return nearest_word(tag, self.tags)

    def merged(self, over: Gates) -> Gates:
        """Return these gates with those of `over`: same tag replaced in its position, new ones at the end."""
        replaced = (over.get(gate.tag) or gate for gate in self)
        return Gates((*replaced, *(gate for gate in over if gate.tag not in self)))

    def without(self, tags: Iterable[str]) -> Gates:
        """Return these gates except those of the tags."""
        off = frozenset(tags)
        return Gates(tuple(gate for gate in self if gate.tag not in off))


def is_tag(text: str) -> bool:
    """Whether the text has the form of a tag: two or more words of a-z and 0-9 joined by `_`."""
    words = text.split("_") if len(text) <= _TAG_LENGTH else ()
    return len(words) > 1 and text[0] not in digits and all(map(_is_of_tag, words))


def _is_of_tag(word: str) -> bool:
    return bool(word) and _TAG_LETTERS.issuperset(word)


def normalize_tag(text: str) -> str:
    """Return the text as tags are written: in lower case, with `_` for white space and hyphens."""
    return _GAP.sub("_", text.strip().lower())


def find_tag_phrases(text: str, gates: Gates) -> tuple[tuple[str, int, int], ...]:
    """Return the tags whose phrases are in the text, each with start and end, from left to right.

    The text comes with code and quotes already masked. Linear in the text.
    """
    if not has_phrase(gates.phrases, text):  # the usual case costs one pass, not one a gate
        return ()
    matches = ((start, end, gate.tag) for gate in gates for start, end in phrase_spans(gate.phrases, text))
    return tuple((tag, start, end) for start, end, tag in sorted(matches))


def nearest_word(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that differs only by a typo, the order of its parts or a plural; else None."""
    if len(word) > _TAG_LENGTH:
        return None
    candidates = [
        (distance, choice) for choice in choices if (distance := _distance(word, choice)) is not None
    ]
    return min(candidates, key=lambda candidate: candidate[0])[1] if candidates else None


def _distance(word: str, choice: str) -> int | None:
    """Return how far the word is from a choice, or None if it is another word."""
    allowed = 2 if len(choice) >= 8 else 1
    differ = len(_letters(word) ^ _letters(choice))  # one edit makes at most two letters differ
    near_enough = abs(len(word) - len(choice)) <= allowed and differ <= 2 * allowed
    if near_enough and (distance := _edits(word, choice)) <= allowed:
        return distance
    given, meant = _stems(word), _stems(choice)
    if given == meant:
        return 3
    is_part = (given < meant or meant < given) and min(len(given), len(meant)) >= 2
    return 4 if is_part else None


def _edits(left: str, right: str) -> int:
    """Count the letters to insert, drop, change or swap with their neighbour."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        two_before, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, two_before[j - 2] + 1)
            row.append(cost)
    return row[-1]


@lru_cache(maxsize=1024)
def _letters(word: str) -> frozenset[str]:
    return frozenset(word)


@lru_cache(maxsize=1024)
def _stems(word: str) -> frozenset[str]:
    """Return the words of a tag without order and without the s of a plural."""
    return frozenset(part.rstrip("s") for part in word.lower().replace("_", " ").replace("-", " ").split())


def gate_display_name(tag: str, gates: Gates) -> str:
    """Return the gate's name; an unknown tag is its own name."""
    gate = gates.get(tag)
    return escape_mentions(gate.gate) if gate else code_span(tag)


def gate_name_with_tag(tag: str, gates: Gates) -> str:
    """Return the name with the tag beside it, since several tags may share a name; warnings are marked."""
    gate = gates.get(tag)
    if gate is None:
        return f"{code_span(tag)} (unknown)"
    return f"{escape_mentions(gate.gate)} {code_span(tag)}{'' if gate.is_blocking else ' (warning)'}"
