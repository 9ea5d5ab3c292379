"""What training learnt of facts, words, and words in a row, and what it says of a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.domain.detection.spelling import stem
from bot.domain.detection.weights import Totals, margin, packed, told_apart
from bot.domain.detection.words import Sentence

FACT = "#"
"""What the name of a feature begins with that is not a word or words in a row."""
MOST_WORDS = 10_000
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


class Learnt:
    """The weights of all features; words go by number, found faster than a text that must be made."""

    __slots__ = ("_numbers", "_rows", "_seen", "_signs", "_words", "facts", "kinds")

    def __init__(self, weights: Mapping[str, Totals], kinds: Mapping[str, str]) -> None:
        self.facts: dict[str, int] = {}
        self.kinds = kinds
        self._numbers: dict[str, int] = {}
        self._words: dict[int, _Feature] = {}
        self._rows: dict[int, _Seconds] = {}
        self._seen: dict[str, _Word] = {}
        for number, (name, row) in enumerate(weights.items(), 1):
            if name.startswith(FACT):
                self.facts[name] = packed(row)
            else:
                self._learn([self._number(word) for word in name.split(" ")], told_apart(packed(row), number))
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
        rows = [(margin(feature, column), said) for feature, said in self._heard(sentences).items()]
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
        if len(self._seen) >= MOST_WORDS:
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
