"""What training learnt of facts, words and pairs of words, and what it says of a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.domain.detection.spelling import stem
from bot.domain.detection.weights import Totals, margin, packed, told_apart
from bot.domain.detection.words import Sentence

FACT = "#"
"""What the name of a feature begins with that is not a word or a pair of words."""
MOST_WORDS = 10_000
"""How many words are remembered with what they count as."""

_UNKNOWN = 0


_Feature = int
"""The weights of a word or pair that was learnt; no two are equal, so that each counts once."""
_Pairs = dict[int, _Feature]
"""By the number of the second word of a pair, what the pair says."""
_Word = tuple[tuple[_Feature, ...], int, _Pairs]
"""What a word counts as: its stem and kind, its number in pairs, and the pairs that it begins."""


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
        for number, (name, row) in enumerate(weights.items()):
            before, _, after = name.partition(" ")
            if name.startswith(FACT):
                self.facts[name] = packed(row)
            elif after:
                begins = self._pairs.setdefault(self._number(before), {})
                begins[self._number(after)] = told_apart(packed(row), number)
            else:
                self._words[self._number(before)] = told_apart(packed(row), number)
        self._signs = tuple(self._number(sign) for sign in "^?$")

    def weigh(self, sentences: Iterable[Sentence]) -> tuple[int, int]:
        """Return the sum of what is known of the words, and of how many words and pairs that is."""
        seen, look = self._seen.get, self._look
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
        return sum(once), len(once)

    def telling(self, sentences: Iterable[Sentence], column: int, most: int) -> tuple[str, ...]:
        """Return the words and pairs that speak most for one column against the last."""
        rows = [(margin(feature, column), said) for feature, said in self._heard(sentences).items()]
        best = sorted([row for row in rows if row[0] > 0], reverse=True)
        return tuple([said for _, said in best[:most]])

    def _heard(self, sentences: Iterable[Sentence]) -> dict[_Feature, str]:
        """Return what is known of the words as `weigh` finds it, each with what was said for it first."""
        start, asks, ends = self._signs
        heard: dict[_Feature, str] = {}
        for said, is_question in sentences:
            before, begun = "", self._pairs.get(start, _NO_PAIRS)
            for word in said:
                features, unit, begins = self._seen.get(word) or self._look(word)
                for feature in features:
                    heard.setdefault(feature, word)
                if unit in begun:
                    heard.setdefault(begun[unit], f"{before} {word}".strip())
                before, begun = word, begins
            end = asks if is_question else ends
            if end in begun:
                heard.setdefault(begun[end], before)
        return heard

    def _look(self, word: str) -> _Word:
        if len(self._seen) >= MOST_WORDS:
            self._seen.clear()
        base = self._numbers.get(stem(word), _UNKNOWN)
        kind = self._numbers.get(self.kinds.get(word, ""), _UNKNOWN)
        unit = kind if word in self.kinds else base
        features = tuple(self._words[number] for number in (base, kind) if number in self._words)
        seen = self._seen[word] = (features, unit, self._pairs.get(unit, _NO_PAIRS))
        return seen

    def _number(self, unit: str) -> int:
        return self._numbers.setdefault(unit, len(self._numbers) + 1)


_NO_PAIRS: _Pairs = {}
