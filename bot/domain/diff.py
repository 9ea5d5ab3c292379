"""What became of a file's lines from one revision to another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_THOROUGH = 2_000
"""Lines up to which repeated lines are compared too; beyond, that would take quadratic time."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file of a pull request at a revision, against the base that it grew from."""

    path: str
    added: int = 0
    deleted: int = 0
    status: str = "modified"
    blob: str | None = None
    previous_path: str | None = None
    patch: str | None = None
    """None where GitHub shows none: binary, or too large."""


@dataclass(frozen=True, slots=True)
class Diff:
    """Everything that a pull request changes at a revision."""

    files: tuple[FileDiff, ...] = ()

    @property
    def lines(self) -> int:
        """How many lines it adds and deletes."""
        return self.added + self.deleted

    @property
    def added(self) -> int:
        """How many lines it adds."""
        return sum(file.added for file in self.files)

    @property
    def deleted(self) -> int:
        """How many lines it deletes."""
        return sum(file.deleted for file in self.files)

    def get(self, path: str) -> FileDiff | None:
        """The file of this name."""
        return next((file for file in self.files if file.path == path), None)


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


def through(patch: str) -> LineMap:
    """Return what a unified diff of one file does to the lines of its old side."""
    runs: list[Run] = []
    old = new = 1
    for header, body in _hunks(patch):
        old_start, new_start = _starts(header)
        _keep(runs, Run(old, new, old_start - old))
        old, new = old_start, new_start
        for sign in (line[:1] for line in body):
            if sign in {" ", ""}:
                _keep(runs, Run(old, new, 1))
            old += sign != "+"
            new += sign != "-"
    _keep(runs, Run(old, new, None))
    return LineMap(tuple(runs))


def between(old_text: str, new_text: str) -> LineMap:
    """Return which lines of one text are found again, in order, in another; both heads may be unrelated."""
    old, new = lines_of(old_text), lines_of(new_text)
    head = _common(old, new)
    tail = _common(reversed(old[head:]), reversed(new[head:]))
    middle = SequenceMatcher(
        None,
        old[head : len(old) - tail],
        new[head : len(new) - tail],
        autojunk=max(len(old), len(new)) - head - tail > _THOROUGH,
    )
    runs: list[Run] = []
    _keep(runs, Run(1, 1, head))
    for block in middle.get_matching_blocks():
        _keep(runs, Run(block.a + head + 1, block.b + head + 1, block.size))
    _keep(runs, Run(len(old) - tail + 1, len(new) - tail + 1, tail))
    return LineMap(tuple(runs), len(old))


def added_lines(diff: Diff) -> Counter[tuple[str, str]]:
    """Return the lines that a diff adds, with the file that each is in; blank ones say nothing."""
    return Counter(
        (file.path, line[1:].rstrip())
        for file in diff.files
        for _, body in _hunks(file.patch or "")
        for line in body
        if line.startswith("+") and line[1:].strip()
    )


def lines_of(text: str) -> list[str]:
    """Return the lines as git counts them, whichever way they end."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def _hunks(patch: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    """Give each hunk's header and its lines, as many as the header announces."""
    lines = iter(patch.split("\n"))
    for line in lines:
        header = _HEADER.match(line)
        if header is None:
            continue
        yield header, list(_body(lines, int(header[2] or 1), int(header[4] or 1)))


def _body(lines: Iterator[str], old: int, new: int) -> Iterator[str]:
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            return
        if line.startswith("\\"):  # "No newline at end of file" is no line
            continue
        old -= not line.startswith("+")
        new -= not line.startswith("-")
        yield line


def _starts(header: re.Match[str]) -> tuple[int, int]:
    """Return the first lines of both sides; an empty side names the line before it."""
    old, new = int(header[1]), int(header[3])
    return old + (header[2] == "0"), new + (header[4] == "0")


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
