"""Find phrases of the cues in the words of a sentence.

A phrase is compiled to variants: steps that are sets of words, each with how many words may stand before
it. All variants are indexed by their first word, and a step takes the nearest word that fits: reading a
sentence takes time in proportion to its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from math import prod
from typing import NamedTuple

_GAPS = {"..": 2, "...": 5}
MAX_VARIANTS = 200
"""A phrase with more of them is a mistake."""
START, END, _ANY = "^", "$", ""


class PhraseError(ValueError):
    """A phrase that can't be read, and why."""


class Step(NamedTuple):
    """One of several words, after a limited number of others."""

    gap: int
    words: frozenset[str]


Variant = tuple[Step, ...]
_Entry = tuple[int, int, Variant]
"""The cue, how many words the index has found after the first, and the other steps."""
_Option = tuple[str | frozenset[str], ...]


class PhraseMatch(NamedTuple):
    """Which cue was found, and from which word up to which."""

    cue: int
    start: int
    end: int


def compile_phrase(phrase: str, kinds: Mapping[str, frozenset[str]]) -> list[Variant]:
    """Return the variants of a phrase; raises `PhraseError`."""
    parts: list[list[_Option]] = []
    rest = phrase.replace("(", " ( ").replace(")", " ) ").replace("|", " | ").split()
    while rest:
        part = rest.pop(0)
        if part == "(":
            parts.append(_read_choice(rest, kinds))
        elif part in (")", "|"):
            raise PhraseError(f"{part} is outside a choice")
        else:
            parts.append([(_read_word(part, kinds),)])
    variants = [variant for options in _combine(parts) if (variant := _to_steps(options))]
    if not variants:
        raise PhraseError("it has no word")
    return variants


def _read_choice(rest: list[str], kinds: Mapping[str, frozenset[str]]) -> list[_Option]:
    """Read up to the closing parenthesis; options of one word become one set."""
    options: list[list[str | frozenset[str]]] = [[]]
    while rest:
        part = rest.pop(0)
        if part == ")":
            single = frozenset(word for option in options if len(option) == 1 for word in _as_set(option[0]))
            several: list[_Option] = [tuple(option) for option in options if len(option) != 1]
            return [(single,), *several] if single else several
        if part == "(":
            raise PhraseError("a choice is inside a choice")
        if part == "|":
            options.append([])
        else:
            options[-1].append(_read_word(part, kinds))
    raise PhraseError("a choice is not closed")


def _read_word(token: str, kinds: Mapping[str, frozenset[str]]) -> str | frozenset[str]:
    if token[0] != "{":
        return token
    if token[1:-1] not in kinds:
        raise PhraseError(f"there is no kind {token}")
    return kinds[token[1:-1]]


def _as_set(word: str | frozenset[str]) -> frozenset[str]:
    return frozenset((word,)) if isinstance(word, str) else word


def _combine(parts: list[list[_Option]]) -> Iterable[_Option]:
    count = prod(map(len, parts))
    if count > MAX_VARIANTS:
        raise PhraseError(f"it has {count} variants; at most {MAX_VARIANTS} are compiled")
    return (tuple(word for option in options for word in option) for options in product(*parts))


def _to_steps(words: _Option) -> Variant:
    steps: list[Step] = []
    gap = 0
    for word in words:
        if isinstance(word, str) and word in _GAPS:
            gap = _GAPS[word]
        else:
            steps.append(Step(gap, _as_set(word)))
            gap = 0
    return tuple(steps)


class PhraseMatcher:
    """The phrases of all cues, indexed by the word that they begin with and the one that has to follow."""

    __slots__ = ("_by_first",)

    def __init__(self, phrases: Iterable[tuple[int, str]], kinds: Mapping[str, Iterable[str]]) -> None:
        sets = {name: frozenset(words) for name, words in kinds.items()}
        self._by_first: dict[str, dict[str, list[_Entry]]] = {}
        for cue, phrase in phrases:
            for first, *others in compile_phrase(phrase, sets):
                adjacent = others[0].words if others and not others[0].gap else ()
                entry = (cue, 1, tuple(others[1:])) if adjacent else (cue, 0, tuple(others))
                for word in first.words:
                    by_next = self._by_first.setdefault(word, {_ANY: []})
                    for following in adjacent or [*by_next]:
                        by_next.setdefault(following, [*by_next[_ANY]]).append(entry)

    def find(self, words: tuple[str, ...]) -> list[PhraseMatch]:
        """Return all matches in a sentence, in the order of their first word."""
        row = (START, *words, END)
        get = self._by_first.get
        last = len(row) - 1
        matches: list[PhraseMatch] = []
        for at, word in enumerate(row[:-1]):
            if not (by_next := get(word)):
                continue
            for cue, ahead, others in by_next.get(row[at + 1]) or by_next[_ANY]:
                end = at + ahead
                for gap, allowed in others:
                    end += 1
                    if end > last:
                        break
                    if row[end] not in allowed:
                        if not gap:
                            break
                        for near in range(end + 1, min(end + gap, last) + 1):
                            if row[near] in allowed:
                                end = near
                                break
                        else:
                            break
                else:
                    matches.append(PhraseMatch(cue, max(at - 1, 0), min(end, last - 1)))
        return matches
