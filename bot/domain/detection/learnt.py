"""What training learnt of facts, words and pairs of words, and what it says of a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bot.domain.detection.spelling import stem
from bot.domain.detection.weights import packed, unpacked
from bot.domain.detection.words import Sentence

FACT = "#"
"""What the name of a feature begins with that is not a word or a pair of words."""
MOST_WORDS = 10_000
"""How many words are remembered with what they count as."""

_SHIFT = 16
_UNKNOWN = 0


class _Word(NamedTuple):
    """What a word counts as: its stem, its kind, and which of them stands in pairs."""

    stem: int
    kind: int
    unit: int


class Learnt:
    """The weights of all features; words go by number, found faster than a text that must be made."""

    __slots__ = ("_numbers", "_pairs", "_seen", "_signs", "_words", "facts", "kinds")

    def __init__(self, weights: Mapping[str, Iterable[float]], kinds: Mapping[str, str]) -> None:
        self.facts: dict[str, int] = {}
        self.kinds = kinds
        self._numbers: dict[str, int] = {}
        self._words: dict[int, int] = {}
        self._pairs: dict[int, int] = {}
        self._seen: dict[str, _Word] = {}
        for name, row in weights.items():
            before, _, after = name.partition(" ")
            if name.startswith(FACT):
                self.facts[name] = packed(row)
            elif after:
                self._pairs[self._number(before) << _SHIFT | self._number(after)] = packed(row)
            else:
                self._words[self._number(before)] = packed(row)
        self._signs = tuple(self._number(sign) for sign in "^?$")

    def weigh(self, sentences: Iterable[Sentence]) -> tuple[int, int]:
        """Return the sum of what is known of the words, and of how many words and pairs that is."""
        look, seen = self._look, self._seen.get
        start, asks, ends = self._signs
        words: set[int] = set()
        pairs: set[int] = set()
        for sentence in sentences:
            before = start << _SHIFT
            for word in sentence.words:
                base, kind, unit = seen(word) or look(word)
                words.add(base)
                words.add(kind)
                pairs.add(before | unit)
                before = unit << _SHIFT
            pairs.add(before | (asks if sentence.asks else ends))
        of_word, of_pair = self._words, self._pairs
        found = [of_word[one] for one in words if one in of_word]
        found += [of_pair[one] for one in pairs if one in of_pair]
        return sum(found), len(found)

    def telling(self, names: Iterable[str], column: int) -> list[tuple[int, str]]:
        """Return what each known word or pair says for one column against the last, most first."""
        rows = ((unpacked(self._weight(name)), name) for name in names)
        return sorted(((row[column] - row[-1], name) for row, name in rows), reverse=True)

    def _weight(self, name: str) -> int:
        before, _, after = (self._numbers.get(part, _UNKNOWN) for part in name.partition(" "))
        return self._pairs.get(before << _SHIFT | after, 0) if " " in name else self._words.get(before, 0)

    def _look(self, word: str) -> _Word:
        if len(self._seen) >= MOST_WORDS:
            self._seen.clear()
        base = self._numbers.get(stem(word), _UNKNOWN)
        kind = self._numbers.get(self.kinds.get(word, ""), _UNKNOWN)
        seen = self._seen[word] = _Word(base, kind, kind if word in self.kinds else base)
        return seen

    def _number(self, unit: str) -> int:
        return self._numbers.setdefault(unit, len(self._numbers) + 1)
