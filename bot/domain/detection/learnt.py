"""What training learnt of facts, words and pairs of words, and what it says of a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bot.domain.detection.spelling import stem
from bot.domain.detection.weights import Totals, packed, unpacked
from bot.domain.detection.words import Sentence

FACT = "#"
"""What the name of a feature begins with that is not a word or a pair of words."""
MOST_WORDS = 10_000
"""How many words are remembered with what they count as."""

_UNKNOWN = 0


class _Feature:
    """A word or pair of words that was learnt; the same one is the same object, so that it counts once."""

    __slots__ = ("weight",)

    def __init__(self, weight: int) -> None:
        self.weight = weight


_Pairs = dict[int, _Feature]
"""By the number of the second word of a pair, what the pair says."""


class _Word(NamedTuple):
    """What a word counts as: its stem and kind, its number in pairs, and the pairs that it begins."""

    features: tuple[_Feature, ...]
    unit: int
    begins: _Pairs


class Learnt:
    """The weights of all features; words go by number, found faster than a text that must be made."""

    __slots__ = ("_numbers", "_pairs", "_seen", "_signs", "_words", "facts", "kinds")

    def __init__(self, weights: Mapping[str, Totals], kinds: Mapping[str, str]) -> None:
        self.facts: dict[str, int] = {}
        self.kinds = kinds
        self._numbers: dict[str, int] = {}
        self._words: dict[int, _Feature] = {}
        self._pairs: dict[int, _Pairs] = {}
        self._seen: dict[str, _Word] = {}
        for name, row in weights.items():
            before, _, after = name.partition(" ")
            if name.startswith(FACT):
                self.facts[name] = packed(row)
            elif after:
                begins = self._pairs.setdefault(self._number(before), {})
                begins[self._number(after)] = _Feature(packed(row))
            else:
                self._words[self._number(before)] = _Feature(packed(row))
        self._signs = tuple(self._number(sign) for sign in "^?$")

    def weigh(self, sentences: Iterable[Sentence]) -> tuple[int, int]:
        """Return the sum of what is known of the words, and of how many words and pairs that is."""
        look, seen = self._look, self._seen.get
        start, asks, ends = self._signs
        first = self._pairs.get(start, _NO_PAIRS)
        found: list[_Feature] = []
        for said, is_question in sentences:
            begun = first
            for word in said:
                features, unit, begins = seen(word) or look(word)
                found += features
                if unit in begun:
                    found.append(begun[unit])
                begun = begins
            end = asks if is_question else ends
            if end in begun:
                found.append(begun[end])
        once = set(found)
        return sum([feature.weight for feature in once]), len(once)

    def telling(self, names: Iterable[str], column: int) -> list[tuple[int, str]]:
        """Return what each known word or pair says for one column against the last, most first."""
        rows = ((unpacked(self._weight(name)), name) for name in names)
        return sorted(((row[column] - row[-1], name) for row, name in rows), reverse=True)

    def _weight(self, name: str) -> int:
        before, _, after = (self._numbers.get(part, _UNKNOWN) for part in name.partition(" "))
        feature = self._pairs.get(before, _NO_PAIRS).get(after) if " " in name else self._words.get(before)
        return feature.weight if feature else 0

    def _look(self, word: str) -> _Word:
        if len(self._seen) >= MOST_WORDS:
            self._seen.clear()
        base = self._numbers.get(stem(word), _UNKNOWN)
        kind = self._numbers.get(self.kinds.get(word, ""), _UNKNOWN)
        unit = kind if word in self.kinds else base
        features = tuple(self._words[number] for number in (base, kind) if number in self._words)
        seen = self._seen[word] = _Word(features, unit, self._pairs.get(unit, _NO_PAIRS))
        return seen

    def _number(self, unit: str) -> int:
        return self._numbers.setdefault(unit, len(self._numbers) + 1)


_NO_PAIRS: _Pairs = {}
