"""The diff of a pull request at one revision, and the lines that can take a suggestion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot import regex

_HEADER = regex.Regex(
    r"@@ -(?P<old>\d{1,9})(?:,(?P<old_count>\d{1,9}))? \+(?P<new>\d{1,9})(?:,(?P<new_count>\d{1,9}))? @@"
)


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


MAX_LISTED_FILES = 300
"""GitHub's limit of listed files: one that is missing may have been omitted."""


@dataclass(frozen=True, slots=True)
class Diff:
    """Everything that a pull request changes at a revision."""

    files: tuple[FileDiff, ...] = ()

    @property
    def lines(self) -> int:
        """Number of lines added and deleted."""
        return sum(file.added + file.deleted for file in self.files)

    def get(self, path: str) -> FileDiff | None:
        """Return the file at this path."""
        return next((file for file in self.files if file.path == path), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A head compared with its base branch."""

    base: str | None
    """The merge base."""
    tree: str | None
    files: tuple[FileDiff, ...]
    ahead: int
    """Commits that the branch does not have; 0 once it was merged."""
    messages: tuple[str, ...] = ()
    """Of these commits, as far as GitHub lists them."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """A hunk of a unified diff: its first line on both sides, and its lines with their signs."""

    old: int
    new: int
    lines: tuple[str, ...]


def added_lines(diff: Diff) -> Counter[tuple[str, str]]:
    """Count the lines that a diff adds, by file and text, without blank ones."""
    return Counter(
        (file.path, line[1:].rstrip())
        for file in diff.files
        for hunk in hunks(file.patch or "")
        for line in hunk.lines
        if line.startswith("+") and line[1:].strip()
    )


def hunks(patch: str) -> Iterator[Hunk]:
    """Yield each hunk of a unified diff of one file, with as many lines as its header announces."""
    lines = iter(patch.split("\n"))
    for line in lines:
        if line.startswith("@@ -") and (header := _HEADER.match(line)):
            old, new = int(header["old_count"] or 1), int(header["new_count"] or 1)
            # An empty side names the line before it.
            yield Hunk(
                int(header["old"]) + (old == 0),
                int(header["new"]) + (new == 0),
                tuple(_body(lines, old, new)),
            )


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


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The text of an inline comment at one line of the head."""

    path: str
    line: int
    body: str


def new_side_lines(shown: Iterable[Hunk]) -> dict[int, str]:
    """Return the lines of the new side that these hunks show, by number.

    GitHub takes an inline comment at no other line.
    """
    return {
        number: text
        for hunk in shown
        for number, text in enumerate(
            (line[1:] for line in hunk.lines if not line.startswith("-")), start=hunk.new
        )
    }
