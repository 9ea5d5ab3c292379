"""Which of the things that programs print a text shows: one pass over the text for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    """Expressions of RE2 that are searched for at once; each by itself only in a text that has it."""

    __slots__ = ("_all", "_each", "_patterns")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)
        self._each: dict[int, Any] = {}
        self._all = re2.Set.SearchSet() if self._patterns else None
        if self._all is not None:
            for pattern in self._patterns:
                self._all.Add(pattern)
            self._all.Compile()

    def find(self, body: str) -> Iterator[Place]:
        """Return the first place of every expression that the text has, in their order."""
        read = body.encode("utf-8", "replace")  # half a surrogate pair is one strange character
        for number in sorted((self._all and self._all.Match(read)) or ()):
            if number not in self._each:
                self._each[number] = re2.compile(self._patterns[number], _WITHOUT_GROUPS)
            match = self._each[number].search(read)
            if match:
                yield Place(number, len(read[: match.start()].decode()), match.group().decode())
