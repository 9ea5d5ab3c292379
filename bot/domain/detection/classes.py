"""Which words the phrases tell apart: all others are one class, however many of them people use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

from bot.domain.detection.pattern import END, START

MOST_WORDS = 10_000
"""How many words that are in no phrase are remembered as such."""


class Classes:
    """The class of each word, by number, and for each class the symbols that its words have in phrases."""

    __slots__ = ("_known", "_named", "_next", "_numbers", "_prefixes", "_symbols", "end", "start", "symbols")

    def __init__(self, symbols: Mapping[str, int], lists: Mapping[str, Iterable[str]]) -> None:
        self.symbols: dict[int, frozenset[int]] = {}
        """By class."""
        self._symbols = symbols
        self._numbers: dict[frozenset[int], int] = {}
        self._next = count()
        self._prefixes: dict[str, list[str]] = {}
        for symbol in symbols:
            if symbol.endswith("*"):
                self._prefixes.setdefault(symbol[0], []).append(symbol[:-1])
        listed: dict[str, list[str]] = {}
        for name, words in lists.items():
            for word in words:
                listed.setdefault(word, []).append(f"{{{name}}}")
        named = dict.fromkeys((*symbols, *listed, END))
        self._named = {word: self._number(word, listed.get(word, ())) for word in named}
        self._known = dict(self._named)
        self.start, self.end = self._named[START], self._named[END]

    def of(self, words: Iterable[str]) -> list[int]:
        """Return the class of each word."""
        known = self._known
        try:
            return [known[word] for word in words]
        except KeyError:
            if len(known) >= len(self._named) + MOST_WORDS:
                known = self._known = dict(self._named)
            for word in words:
                if word not in known:
                    known[word] = self._number(word, ())
            return [known[word] for word in words]

    def _number(self, word: str, listed: Iterable[str]) -> int:
        """Return the class of a word by what it is in phrases: itself, of a list, or what begins so."""
        stems = (stem for stem in self._prefixes.get(word[0], ()) if word.startswith(stem))
        meant = (word, *listed, *(f"{stem}*" for stem in stems))
        found = frozenset(self._symbols[one] for one in meant if one in self._symbols)
        number = self._numbers.get(found)
        if number is None:
            number = next(self._next)
            self.symbols[number] = found
            number = self._numbers.setdefault(found, number)  # another thread may have been first
        return number
