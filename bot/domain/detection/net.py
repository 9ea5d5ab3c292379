"""All phrases at once, as numbers: which symbol leads from which point to which, and which cue ends where."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator

from bot.domain.detection.pattern import ANY, Node, compile_phrase


class Net:
    """The points of all phrases, numbered; arrays instead of objects, because there are tens of thousands."""

    __slots__ = ("_cues", "_free", "_free_at", "_steps", "_steps_at", "starts", "symbols")

    def __init__(self, phrases: Iterable[tuple[int, str]], lists: Collection[str]) -> None:
        self.symbols: dict[str, int] = {ANY: 0}
        self._steps_at, self._steps = array("i", [0]), array("i")
        self._free_at, self._free = array("i", [0]), array("i")
        self._cues = array("h")
        self.starts = array("i", [self._lay(compile_phrase(phrase, cue, lists)) for cue, phrase in phrases])

    def steps(self, point: int) -> Iterator[tuple[int, int]]:
        """Return the symbols that lead on from a point, each with where it leads to."""
        flat = self._steps[self._steps_at[point] : self._steps_at[point + 1]]
        return zip(flat[::2], flat[1::2], strict=True)

    def closure(self, points: Iterable[int]) -> list[int]:
        """Return these points and all that follow them for free, each once."""
        found = dict.fromkeys(points)
        waiting = list(found)
        while waiting:
            point = waiting.pop()
            for free in self._free[self._free_at[point] : self._free_at[point + 1]]:
                if free not in found:
                    found[free] = None
                    waiting.append(free)
        return list(found)

    def goes_on(self, point: int) -> bool:
        """Say whether any symbol leads on from a point."""
        return self._steps_at[point] < self._steps_at[point + 1]

    def cue(self, point: int) -> int:
        """Return the cue whose phrase ends at a point, or -1."""
        return self._cues[point]

    def _lay(self, start: Node) -> int:
        """Number the points of one phrase, and return the number of its start."""
        first = len(self._cues)
        order = [start]
        number = {start: first}
        for node in order:
            for follower in (*(to for _, to in node.steps), *node.free):
                if follower not in number:
                    number[follower] = first + len(order)
                    order.append(follower)
        for node in order:
            for symbol, to in node.steps:
                self._steps.extend((self.symbols.setdefault(symbol, len(self.symbols)), number[to]))
            self._steps_at.append(len(self._steps))
            self._free.extend(number[to] for to in node.free)
            self._free_at.append(len(self._free))
            self._cues.append(node.cue)
        return first
