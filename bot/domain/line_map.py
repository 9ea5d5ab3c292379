"""What became of a file's lines from one revision to another."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_THOROUGH = 200_000
"""Pairs of equal lines up to which every one is tried; a file made to have more would cost minutes."""


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that stayed as they were: where they stood, where they stand, how many (None: to the end)."""

    old: int
    new: int
    length: int | None


@dataclass(frozen=True, slots=True)
class LineMap:
    """Which lines of a file survived, and where they are now."""

    runs: tuple[Run, ...]
    old_length: int | None = None
    """How many lines there were, where that is known."""

    def now(self, line: int) -> int | None:
        """Return where an old line stands now; None where it is changed or gone."""
        run = self._around(line, line)
        return None if run is None else run.new + line - run.old

    def changed(self, first: int, last: int) -> bool | None:
        """Return whether any of these old lines changed, or got a line between; None: never existed."""
        if not 1 <= first <= last or (self.old_length is not None and last > self.old_length):
            return None
        return self._around(first, last) is None

    def _around(self, first: int, last: int) -> Run | None:
        covering = (
            run
            for run in self.runs
            if run.old <= first and (run.length is None or last < run.old + run.length)
        )
        return next(covering, None)


def between(old_text: str, new_text: str) -> LineMap:
    """Return which lines of one text are found again, in order, in another; both heads may be unrelated."""
    old, new = lines_of(old_text), lines_of(new_text)
    head = _common(old, new)
    tail = _common(reversed(old[head:]), reversed(new[head:]))
    runs: list[Run] = []
    _keep(runs, Run(1, 1, head))
    for a, b, size in _matches(old[head : len(old) - tail], new[head : len(new) - tail]):
        _keep(runs, Run(a + head + 1, b + head + 1, size))
    _keep(runs, Run(len(old) - tail + 1, len(new) - tail + 1, tail))
    return LineMap(tuple(runs), len(old))


def lines_of(text: str) -> list[str]:
    """Return the lines as git counts them, whichever way they end."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def _matches(old: Sequence[str], new: Sequence[str]) -> Iterable[tuple[int, int, int]]:
    """Give the blocks that both have in common, in order: where in each, and how long."""
    count, other = Counter(old), Counter(new)
    if sum(number * other[line] for line, number in count.items()) <= _THOROUGH:
        return SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    unique = {line: place for place, line in enumerate(new) if other[line] == 1}
    pairs = [(place, unique[line]) for place, line in enumerate(old) if count[line] == 1 and line in unique]
    return _around(_rising(pairs), old, new)


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest choice of these pairs that keeps the order of both sides."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        rank = bisect_left(ends, place)
        ends[rank : rank + 1], last[rank : rank + 1] = [place], [index]
        before.append(last[rank - 1] if rank else -1)
    chosen: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]


def _around(
    anchors: Sequence[tuple[int, int]], old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[int, int, int]]:
    """Give each anchor with the equal lines before and after it, no line twice."""
    done_old = done_new = 0
    for a, b in anchors:
        if a < done_old or b < done_new:
            continue
        up = _common(reversed(old[done_old:a]), reversed(new[done_new:b]))
        down = _common(old[a:], new[b:])
        yield a - up, b - up, up + down
        done_old, done_new = a + down, b + down


def _keep(runs: list[Run], run: Run) -> None:
    """Add a run, joined to the last one where nothing lies between."""
    if run.length is not None and run.length <= 0:
        return
    last = runs[-1] if runs else None
    if (
        last
        and last.length is not None
        and (last.old + last.length, last.new + last.length) == (run.old, run.new)
    ):
        length = None if run.length is None else last.length + run.length
        runs[-1] = Run(last.old, last.new, length)
    else:
        runs.append(run)


def _common(old: Iterable[str], new: Iterable[str]) -> int:
    count = 0
    for left, right in zip(old, new, strict=False):
        if left != right:
            break
        count += 1
    return count
