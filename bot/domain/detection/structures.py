"""Which of the things that programs print a text shows: several of them in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import re2

_WITHOUT_GROUPS = re2.Options()
_WITHOUT_GROUPS.never_capture = True  # where a group is takes RE2 several times as long as where the whole is


class Place(NamedTuple):
    """Which expression was found, where, and the text that it was found in."""

    number: int
    start: int
    text: str


class Structures:
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

    def find(self, body: str) -> list[Place]:
        """Return the first place of every expression that the text has, in their order."""
        read = body.encode("utf-8", "replace")  # half a surrogate pair is one strange character
        found: list[Place] = []
        for first, together in self._sets:
            if numbers := together.Match(read):
                places = (self._place(first + number, read) for number in sorted(numbers))
                found += [place for place in places if place]
        return found

    def _place(self, number: int, read: bytes) -> Place | None:
        if number not in self._each:
            self._each[number] = re2.compile(self._patterns[number], _WITHOUT_GROUPS)
        match = self._each[number].search(read)
        if match is None:
            return None
        return Place(number, len(read[: match.start()].decode()), match.group().decode())


_AT_ONCE = 6


def _together(patterns: Iterable[str]) -> Any:
    found = re2.Set.SearchSet()
    for pattern in patterns:
        found.Add(pattern)
    found.Compile()
    return found
