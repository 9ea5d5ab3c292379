"""What changed between two commits, and which lines of it can a comment be put on?"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

import re2

from bot.standin.git import Entry, Objects

_HUNK = re2.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_LARGEST_PATCH = 100_000  # GitHub leaves the patch of a larger change out


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a diff, as GitHub lists it; no patch where it is binary or too large."""

    path: str
    status: str
    sha: str
    additions: int
    deletions: int
    patch: str | None
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """A line of a diff: the hunk down to it, and its position counted from the first hunk."""

    hunk: str
    position: int


def changes(objects: Objects, base: str | None, head: str) -> tuple[FileChange, ...]:
    """Every file that differs between two commits, by path; without a base everything is new."""
    before = {} if base is None else objects.commits[base].files
    after = objects.commits[head].files
    renamed = _renamed(before, after)
    found = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) == after.get(path) or path in renamed.values():
            continue
        found.append(_change(objects, before.get(renamed.get(path, path)), after.get(path), path))
        if path in renamed:
            found[-1] = FileChange(path, "renamed", found[-1].sha, 0, 0, None, renamed[path])
    return tuple(found)


def anchor(change: FileChange, side: str, line: int) -> Anchor | None:
    """Where this line of the file stands in the diff, or None where the diff does not show it."""
    left = right = 0
    hunk: list[str] = []
    for position, text in enumerate((change.patch or "").split("\n")):
        if text.startswith("@@ -") and (found := _HUNK.match(text)):
            left, right, hunk = int(found[1]), int(found[2]), [text]
            continue
        hunk.append(text)
        at = left if side == "LEFT" else right
        shown = text[:1] in {" ", "-"} if side == "LEFT" else text[:1] in {" ", "+"}
        if hunk and shown and at == line:
            return Anchor("\n".join(hunk), position)
        left += text[:1] in {" ", "-"}
        right += text[:1] in {" ", "+"}
    return None


def _renamed(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> dict[str, str]:
    """New path → old path of the files that only moved."""
    gone = {entry: path for path, entry in before.items() if path not in after}
    return {path: gone[entry] for path, entry in after.items() if path not in before and entry in gone}


def _change(objects: Objects, old: Entry | None, new: Entry | None, path: str) -> FileChange:
    status = "added" if old is None else "removed" if new is None else "modified"
    entry = new or old
    sha = entry.sha if entry else ""
    patch = _patch(_lines(objects, old), _lines(objects, new))
    marks = [line[:1] for line in patch.split("\n")] if patch else []
    kept = patch if patch and len(patch) <= _LARGEST_PATCH else None
    return FileChange(path, status, sha, marks.count("+"), marks.count("-"), kept)


def _lines(objects: Objects, entry: Entry | None) -> list[str] | None:
    """The file's lines with their ends, or None for what is not text."""
    if entry is None:
        return []
    data = objects.blobs.get(entry.sha)
    if data is None:
        return [f"Subproject commit {entry.sha}\n"]
    if b"\0" in data:
        return None
    return data.decode(errors="replace").splitlines(keepends=True)


def _patch(old: list[str] | None, new: list[str] | None) -> str | None:
    if old is None or new is None:
        return None
    lines = list(difflib.unified_diff(old, new, lineterm=""))[2:]
    shown = []
    for line in lines:
        text = line.removesuffix("\n")
        shown.append(text)
        if text == line and not line.startswith("@@"):
            shown.append("\\ No newline at end of file")
    return "\n".join(shown)
