"""All phrases at once, as numbers: which symbol leads from which point to which, and which cue ends where."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from bot.domain.detection.pattern import ANY, PAUSE, START, Node, compile_phrase

Steps = dict[int, tuple[int, ...]]
"""The symbols that lead on from a point, each with the points that it leads to."""


class Net:
    """The points of all phrases, numbered; what goes on alike is one point for all phrases."""

    __slots__ = ("_points", "begins", "cues", "steps", "symbols", "unheard")

    def __init__(self, phrases: Iterable[tuple[int, str]], lists: Collection[str]) -> None:
        self.symbols: dict[str, int] = {ANY: 0}
        self.unheard = frozenset((self._symbol(START), self._symbol(PAUSE)))
        """The symbols that every phrase goes on over."""
        self.steps: list[Steps] = []
        self.cues: list[int] = []
        """By point the cue whose phrase ends there, or -1."""
        self._points: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        starts = {self._lay(compile_phrase(phrase, cue, lists)) for cue, phrase in phrases}
        self.begins = _grouped({step for start in starts for step in self._flat(start)})
        """Where the first word of any phrase leads."""
        self._points.clear()

    def _lay(self, start: Node) -> int:
        """Number the points of one phrase, the last ones first, and return the number of its start."""
        laid: dict[Node, int] = {}
        waiting = [start]
        while waiting:
            node = waiting[-1]
            ahead = [to for _, to in node.steps if to not in laid]
            ahead += [to for to in node.free if to not in laid]
            waiting += ahead
            if not ahead:
                laid[waiting.pop()] = self._point(node, laid)
        return laid[start]

    def _point(self, node: Node, laid: dict[Node, int]) -> int:
        """Return the number of a node whose followers have theirs; what it leads to for free is its own."""
        cue = node.cue
        steps = [(self._symbol(word), laid[to]) for word, to in node.steps]
        if node.free:
            free = [laid[one] for one in node.free]
            cue = max(cue, *(self.cues[point] for point in free))
            steps = sorted({*steps, *(step for point in free for step in self._flat(point))})
        key = (cue, tuple(steps))
        known = self._points.get(key)
        if known is None:
            known = self._points[key] = len(self.steps)
            self.cues.append(cue)
            self.steps.append(_grouped(steps))
        return known

    def _flat(self, point: int) -> Iterator[tuple[int, int]]:
        return ((symbol, to) for symbol, led in self.steps[point].items() for to in led)

    def _symbol(self, word: str) -> int:
        return self.symbols.setdefault(word, len(self.symbols))


def _grouped(steps: Iterable[tuple[int, int]]) -> Steps:
    leads: dict[int, list[int]] = {}
    for symbol, to in steps:
        leads.setdefault(symbol, []).append(to)
    return {symbol: tuple(led) for symbol, led in leads.items()}
