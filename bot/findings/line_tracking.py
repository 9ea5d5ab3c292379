"""Follow lines of a file from one reviewed head to the next."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from bot.pull_request.diff import MAX_LISTED_FILES, FileDiff, Hunk, hunks, new_side_lines
from bot.pull_request.model import Revision
from bot.values import Location

_MAX_EQUAL_PAIRS = 200_000
"""Pairs of equal lines up to which all are compared; a crafted file with more would take minutes."""


@dataclass(frozen=True, slots=True)
class LineMap:
    """Which lines of a file survived, and where they are now."""

    lines: tuple[int | None, ...] = ()
    """The new number of each old line; None if it was changed or removed."""
    shift: int | None = None
    """How far the lines after these moved; None if there are none."""

    def new_line(self, line: int) -> int | None:
        """Return the new number of an old line; None if it was changed or removed."""
        if line <= len(self.lines):
            return self.lines[line - 1] if line > 0 else None
        return None if self.shift is None else line + self.shift

    def has_changed(self, first: int, last: int) -> bool | None:
        """Return whether any of these old lines changed, or got a line between; None: no such lines."""
        if not 1 <= first <= last:
            return None
        start = self.new_line(first)
        lines = (*range(first, min(last, len(self.lines)) + 1), last)
        return start is None or any(self.new_line(line) != start + line - first for line in lines)


def map_lines(old: Sequence[str], new: Sequence[str]) -> tuple[int | None, ...]:
    """Return the new number of each old line, by equal lines in order; the heads may be unrelated."""
    numbers: list[int | None] = [None] * len(old)
    head = _common_prefix(old, new)
    tail = _common_prefix(reversed(old[head:]), reversed(new[head:]))
    blocks = _matching_blocks(old[head : len(old) - tail], new[head : len(new) - tail])
    changed = ((old_start + head, new_start + head, size) for old_start, new_start, size in blocks)
    for old_start, new_start, size in ((0, 0, head), *changed, (len(old) - tail, len(new) - tail, tail)):
        numbers[old_start : old_start + size] = range(new_start + 1, new_start + size + 1)
    return tuple(numbers)


def _matching_blocks(old: Sequence[str], new: Sequence[str]) -> Iterable[tuple[int, int, int]]:
    """Return the common blocks in order: start in each text, and length."""
    old_counts, new_counts = Counter(old), Counter(new)
    if sum(number * new_counts[line] for line, number in old_counts.items()) <= _MAX_EQUAL_PAIRS:
        return SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    unique = {line: index for index, line in enumerate(new) if new_counts[line] == 1}
    pairs = [
        (index, unique[line]) for index, line in enumerate(old) if old_counts[line] == 1 and line in unique
    ]
    return _around(_longest_increasing(pairs), old, new)


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of these pairs that keeps the order of both sides."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, position) in enumerate(pairs):
        rank = bisect_left(ends, position)
        ends[rank : rank + 1], last[rank : rank + 1] = [position], [index]
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
    """Yield each anchor with the equal lines before and after it, no line twice."""
    done_old = done_new = 0
    for old_index, new_index in anchors:
        if old_index < done_old or new_index < done_new:
            continue
        up = _common_prefix(reversed(old[done_old:old_index]), reversed(new[done_new:new_index]))
        down = _common_prefix(old[old_index:], new[new_index:])
        yield old_index - up, new_index - up, up + down
        done_old, done_new = old_index + down, new_index + down


def _common_prefix(old: Iterable[str], new: Iterable[str]) -> int:
    count = 0
    for left, right in zip(old, new, strict=False):
        if left != right:
            break
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class TrackedFile:
    """One file from one head to the next; `lines` is None if they can't be tracked."""

    has_changed: bool
    lines: LineMap | None = None


UNCHANGED_FILE = TrackedFile(has_changed=False)
"""The same blob at both heads: nothing needs to be read."""


def was_touched(place: Location, file: TrackedFile) -> bool | None:
    """Return whether the location changed: its lines, or the file where it names none; None: not known."""
    if place.line is None or not file.has_changed:
        return file.has_changed
    return None if file.lines is None else file.lines.has_changed(place.line, place.end_line or place.line)


MAX_PATCH_LINE = 100_000
"""Last line of a file that is followed."""


def track_file(path: str, old: Revision, new: Revision) -> TrackedFile | None:
    """Track a file from one head to another; None if either was not read, or GitHub did not list it."""
    if old.files is None or new.files is None:
        return None
    old_file, new_file = _find_file(old.files, path), _find_file(new.files, path)
    if any(
        file is None and len(files) >= MAX_LISTED_FILES
        for file, files in ((old_file, old.files), (new_file, new.files))
    ):
        return None
    if old_file == new_file or (old_file and new_file and old_file.blob == new_file.blob):
        return UNCHANGED_FILE
    if new_file is not None and new_file.status == "removed":
        return TrackedFile(has_changed=True, lines=LineMap())
    patches = [file.patch if file else "" for file in (old_file, new_file)]
    old_hunks, new_hunks = (tuple(hunks(patch or "")) for patch in patches)
    last = max((hunk.old + len(hunk.lines) for hunk in (*old_hunks, *new_hunks)), default=1)
    if None in patches or last > MAX_PATCH_LINE:
        return TrackedFile(has_changed=True)
    is_same_base = old.base == new.base
    lines = (
        _over_one_base(old_hunks, new_hunks, last) if is_same_base else _over_two_bases(old_hunks, new_hunks)
    )
    return TrackedFile(has_changed=True, lines=lines)


def _find_file(files: Sequence[FileDiff], path: str) -> FileDiff | None:
    same_path = (file for file in files if file.path == path)
    renamed = (file for file in files if file.previous_path == path and file.status == "renamed")
    return next(same_path, None) or next(renamed, None)


def _over_one_base(old: Sequence[Hunk], new: Sequence[Hunk], last: int) -> LineMap:
    """Match lines of the base by number, added ones by text."""
    lines, lines_now = _number_lines(old, last), _number_lines(new, last)
    return LineMap(map_lines(lines, lines_now), shift=len(lines_now) - len(lines))


def _number_lines(side: Sequence[Hunk], last: int) -> list[str]:
    lines: list[str] = []
    number = 1
    for hunk in side:
        lines += (f"\0{base_line}" for base_line in range(number, hunk.old))
        number = hunk.old
        for line in hunk.lines:
            if line.startswith("+"):
                lines.append(line[1:].removesuffix("\r"))
                continue
            if not line.startswith("-"):
                lines.append(f"\0{number}")
            number += 1
    return lines + [f"\0{base_line}" for base_line in range(number, last + 1)]


def _over_two_bases(old: Sequence[Hunk], new: Sequence[Hunk]) -> LineMap:
    """Compare only what the hunks show, as after a rebase; the author left the rest alone."""
    shown, shown_now = new_side_lines(old), new_side_lines(new)
    texts, texts_now = ([text.removesuffix("\r") for text in side.values()] for side in (shown, shown_now))
    numbers_now = [None, *shown_now]
    moved = {
        number: numbers_now[position or 0]
        for number, position in zip(shown, map_lines(texts, texts_now), strict=True)
    }
    return LineMap(tuple(moved.get(line, line) for line in range(1, max(moved, default=0) + 1)), shift=0)
