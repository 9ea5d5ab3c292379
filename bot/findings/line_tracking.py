"""Follow lines of a file from one reviewed head to the next."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from bot.pull_request.diff import MAX_LISTED_FILES, FileDiff, Hunk, hunks, new_side_lines
from bot.pull_request.model import Revision
from bot.values import Location

_MAX_EQUAL_PAIRS = 200_000
"""Pairs of equal lines up to which all are compared; a crafted file with more would take minutes."""


@dataclass(frozen=True, slots=True)
class UnchangedRun:
    """Unchanged lines: their old start, new start, and number (None: to the end)."""

    old: int
    new: int
    length: int | None


@dataclass(frozen=True, slots=True)
class LineMap:
    """Which lines of a file survived, and where they are now."""

    runs: tuple[UnchangedRun, ...]
    old_length: int | None = None
    """How many lines there were, if that is known."""

    def new_line(self, line: int) -> int | None:
        """Return the new number of an old line; None if it was changed or removed."""
        run = self._around(line, line)
        return None if run is None else run.new + line - run.old

    def has_changed(self, first: int, last: int) -> bool | None:
        """Return whether any of these old lines changed, or got a line between; None: never existed."""
        if not 1 <= first <= last or (self.old_length is not None and last > self.old_length):
            return None
        return self._around(first, last) is None

    def _around(self, first: int, last: int) -> UnchangedRun | None:
        covering = (
            run
            for run in self.runs
            if run.old <= first and (run.length is None or last < run.old + run.length)
        )
        return next(covering, None)


def map_lines(old_text: str, new_text: str) -> LineMap:
    """Map the lines of one text to the equal ones of another, in order; the heads may be unrelated."""
    old, new = split_lines(old_text), split_lines(new_text)
    head = _common_prefix(old, new)
    tail = _common_prefix(reversed(old[head:]), reversed(new[head:]))
    runs: list[UnchangedRun] = []
    _append_run(runs, UnchangedRun(1, 1, head))
    for old_start, new_start, size in _matching_blocks(
        old[head : len(old) - tail], new[head : len(new) - tail]
    ):
        _append_run(runs, UnchangedRun(old_start + head + 1, new_start + head + 1, size))
    _append_run(runs, UnchangedRun(len(old) - tail + 1, len(new) - tail + 1, tail))
    return LineMap(tuple(runs), len(old))


def split_lines(text: str) -> list[str]:
    """Return the lines as git counts them, whichever way they end."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


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


def _append_run(runs: list[UnchangedRun], run: UnchangedRun) -> None:
    """Append a run, joined to the last one where nothing is between."""
    if run.length is not None and run.length <= 0:
        return
    last = runs[-1] if runs else None
    if (
        last
        and last.length is not None
        and (last.old + last.length, last.new + last.length) == (run.old, run.new)
    ):
        length = None if run.length is None else last.length + run.length
        runs[-1] = UnchangedRun(last.old, last.new, length)
    else:
        runs.append(run)


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
    old_file, new_file = _find_file(old, path), _find_file(new, path)
    if (old_file is None and len(old.files) >= MAX_LISTED_FILES) or (
        new_file is None and len(new.files) >= MAX_LISTED_FILES
    ):
        return None
    if (old_file and old_file.blob) == (new_file and new_file.blob) and (old_file is None) == (
        new_file is None
    ):
        return UNCHANGED_FILE
    if new_file is not None and new_file.status == "removed":
        return TrackedFile(has_changed=True, lines=LineMap(()))
    if (old_file and old_file.patch is None) or (new_file and new_file.patch is None):
        return TrackedFile(has_changed=True)
    patches = (old_file.patch or "" if old_file else ""), (new_file.patch or "" if new_file else "")
    return TrackedFile(has_changed=True, lines=_map_patches(*patches, same_base=old.base == new.base))


def _find_file(revision: Revision, path: str) -> FileDiff | None:
    files = revision.files or ()
    same_path = (file for file in files if file.path == path)
    renamed = (file for file in files if file.previous_path == path and file.status == "renamed")
    return next(same_path, None) or next(renamed, None)


def _map_patches(old_patch: str, new_patch: str, *, same_base: bool) -> LineMap | None:
    old, new = tuple(hunks(old_patch)), tuple(hunks(new_patch))
    last = max((hunk.old + len(hunk.lines) for hunk in (*old, *new)), default=1)
    if last > MAX_PATCH_LINE:
        return None
    return _over_one_base(old, new, last) if same_base else _over_two_bases(old, new)


def _over_one_base(old: tuple[Hunk, ...], new: tuple[Hunk, ...], last: int) -> LineMap:
    """Match lines of the base by number, added ones by text."""
    sides = ("\n".join((*_numbered_lines(side, last), "\0end")) + "\n" for side in (old, new))
    runs = map_lines(*sides).runs
    return LineMap((*runs[:-1], replace(runs[-1], length=None)))


def _numbered_lines(side: tuple[Hunk, ...], last: int) -> Iterator[str]:
    number = 1
    for hunk in side:
        yield from (f"\0{base_line}" for base_line in range(number, hunk.old))
        number = hunk.old
        for line in hunk.lines:
            if line.startswith("+"):
                yield line[1:]
                continue
            if not line.startswith("-"):
                yield f"\0{number}"
            number += 1
    yield from (f"\0{base_line}" for base_line in range(number, last + 1))


def _over_two_bases(old: tuple[Hunk, ...], new: tuple[Hunk, ...]) -> LineMap:
    """Compare only what the hunks show, as after a rebase; the author left the rest alone."""
    old_lines, new_lines = (list(new_side_lines(side).items()) for side in (old, new))
    line_map = map_lines(*("".join(f"{text}\n" for _, text in side) for side in (old_lines, new_lines)))
    new_numbers = {
        old_lines[run.old + step - 1][0]: new_lines[run.new + step - 1][0]
        for run in line_map.runs
        for step in range(run.length or 0)
    }
    shown = {number for number, _ in old_lines}
    runs: list[UnchangedRun] = []
    end = max(shown, default=0)
    for number in range(1, end + 1):
        new_number = new_numbers.get(number) if number in shown else number
        if new_number is not None:
            _append_line(runs, number, new_number)
    return LineMap((*runs, UnchangedRun(end + 1, end + 1, None)))


def _append_line(runs: list[UnchangedRun], old: int, new: int) -> None:
    last = runs[-1] if runs else None
    if last and last.length and (last.old + last.length, last.new + last.length) == (old, new):
        runs[-1] = replace(last, length=last.length + 1)
    else:
        runs.append(UnchangedRun(old, new, 1))
