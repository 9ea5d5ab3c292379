"""Follow lines of a file from one reviewed head to the next."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from bot.pull_request.diff import FileDiff, Hunk, hunks
from bot.pull_request.model import Revision
from bot.values import Location

_THOROUGH = 200_000
"""Pairs of equal lines up to which every one is tried; a file made to have more would cost minutes."""


@dataclass(frozen=True, slots=True)
class UnchangedRun:
    """Lines that stayed as they were: where they stood, where they stand, how many (None: to the end)."""

    old: int
    new: int
    length: int | None


@dataclass(frozen=True, slots=True)
class LineMap:
    """Which lines of a file survived, and where they are now."""

    runs: tuple[UnchangedRun, ...]
    old_length: int | None = None
    """How many lines there were, where that is known."""

    def new_line(self, line: int) -> int | None:
        """Return where an old line stands now; None where it is changed or gone."""
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
    """Return which lines of one text are found again, in order, in another; both heads may be unrelated."""
    old, new = split_lines(old_text), split_lines(new_text)
    head = _common(old, new)
    tail = _common(reversed(old[head:]), reversed(new[head:]))
    runs: list[UnchangedRun] = []
    _keep(runs, UnchangedRun(1, 1, head))
    for a, b, size in _matches(old[head : len(old) - tail], new[head : len(new) - tail]):
        _keep(runs, UnchangedRun(a + head + 1, b + head + 1, size))
    _keep(runs, UnchangedRun(len(old) - tail + 1, len(new) - tail + 1, tail))
    return LineMap(tuple(runs), len(old))


def split_lines(text: str) -> list[str]:
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


def _keep(runs: list[UnchangedRun], run: UnchangedRun) -> None:
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
        runs[-1] = UnchangedRun(last.old, last.new, length)
    else:
        runs.append(run)


def _common(old: Iterable[str], new: Iterable[str]) -> int:
    count = 0
    for left, right in zip(old, new, strict=False):
        if left != right:
            break
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class TrackedFile:
    """What became of one file from one head to the next; `lines` is None where that can't be told."""

    has_changed: bool
    lines: LineMap | None = None


UNCHANGED_FILE = TrackedFile(has_changed=False)


MAX_LISTED_FILES = 300
"""GitHub lists no more files than this, so that one that is missing may have been left out."""
MAX_PATCH_LINE = 100_000
"""Lines of a file up to which they are followed."""


def track_files(places: Iterable[Location], old: Revision, new: Revision) -> dict[str, TrackedFile]:
    """Return for each file that is named what became of it; nothing where either head was not read."""
    if old.files is None or new.files is None:
        return {}
    found = {path: _carried(path, old, new) for path in dict.fromkeys(place.path for place in places)}
    return {path: file for path, file in found.items() if file is not None}


def _carried(path: str, old: Revision, new: Revision) -> TrackedFile | None:
    was, now = _named(old, path), _named(new, path)
    if (was is None and len(old.files or ()) >= MAX_LISTED_FILES) or (
        now is None and len(new.files or ()) >= MAX_LISTED_FILES
    ):
        return None
    if (was and was.blob) == (now and now.blob) and (was is None) == (now is None):
        return UNCHANGED_FILE
    if now is not None and now.status == "removed":
        return TrackedFile(has_changed=True, lines=LineMap(()))
    if (was and was.patch is None) or (now and now.patch is None):
        return TrackedFile(has_changed=True)
    patches = (was.patch or "" if was else ""), (now.patch or "" if now else "")
    return TrackedFile(has_changed=True, lines=_lines(*patches, same_base=old.base == new.base))


def _named(revision: Revision, path: str) -> FileDiff | None:
    files = revision.files or ()
    own = (file for file in files if file.path == path)
    moved = (file for file in files if file.previous_path == path and file.status == "renamed")
    return next(own, None) or next(moved, None)


def _lines(old_patch: str, new_patch: str, *, same_base: bool) -> LineMap | None:
    old, new = tuple(hunks(old_patch)), tuple(hunks(new_patch))
    last = max((hunk.old + len(hunk.lines) for hunk in (*old, *new)), default=1)
    if last > MAX_PATCH_LINE:
        return None
    return _over_one_base(old, new, last) if same_base else _over_two_bases(old, new)


def _over_one_base(old: tuple[Hunk, ...], new: tuple[Hunk, ...], last: int) -> LineMap:
    """Lines of the base are known by their number, added ones by their text."""
    texts = ("\n".join((*_told(side, last), "\0end")) + "\n" for side in (old, new))
    runs = map_lines(*texts).runs
    return LineMap((*runs[:-1], replace(runs[-1], length=None)))


def _told(side: tuple[Hunk, ...], last: int) -> Iterator[str]:
    at = 1
    for hunk in side:
        yield from (f"\0{number}" for number in range(at, hunk.old))
        at = hunk.old
        for line in hunk.lines:
            if line.startswith("+"):
                yield line[1:]
                continue
            if not line.startswith("-"):
                yield f"\0{at}"
            at += 1
    yield from (f"\0{number}" for number in range(at, last + 1))


def _over_two_bases(old: tuple[Hunk, ...], new: tuple[Hunk, ...]) -> LineMap:
    """After a rebase only what the hunks show can be compared; the author left the rest alone."""
    was, now = _shown(old), _shown(new)
    found = map_lines(*("".join(f"{text}\n" for _, text in side) for side in (was, now)))
    kept = {
        was[run.old + step - 1][0]: now[run.new + step - 1][0]
        for run in found.runs
        for step in range(run.length or 0)
    }
    inside = {number for number, _ in was}
    runs: list[UnchangedRun] = []
    end = max(inside, default=0)
    for number in range(1, end + 1):
        place = kept.get(number) if number in inside else number
        if place is not None:
            _join(runs, number, place)
    return LineMap((*runs, UnchangedRun(end + 1, end + 1, None)))


def _shown(side: tuple[Hunk, ...]) -> list[tuple[int, str]]:
    lines = []
    for hunk in side:
        number = hunk.new
        for line in hunk.lines:
            if not line.startswith("-"):
                lines.append((number, line[1:]))
                number += 1
    return lines


def _join(runs: list[UnchangedRun], old: int, new: int) -> None:
    last = runs[-1] if runs else None
    if last and last.length and (last.old + last.length, last.new + last.length) == (old, new):
        runs[-1] = replace(last, length=last.length + 1)
    else:
        runs.append(UnchangedRun(old, new, 1))
