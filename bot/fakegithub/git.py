"""Git objects, and the diff between two commits.

Objects get the same SHA-1 names that git gives them, so a blob's name can be checked with git itself.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import re2

FILE, SYMLINK, SUBMODULE, TREE = "100644", "120000", "160000", "040000"


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symbolic link to `target`."""

    target: str


@dataclass(frozen=True, slots=True)
class Submodule:
    """Another repository at one of its commits."""

    sha: str
    url: str = "https://github.com/octo-org/octo-lib.git"


FileContent = str | bytes | Symlink | Submodule
FileChanges = Mapping[str, FileContent | None]  # None: the file is deleted


@dataclass(frozen=True, slots=True)
class GitEntry:
    """One line of a tree, a file or a folder: its mode and the name of its content."""

    mode: str
    sha: str
    submodule_url: str | None = None


@dataclass(frozen=True, slots=True)
class GitCommit:
    """One commit: a full tree by path, and what it descends from."""

    sha: str
    tree_sha: str
    files: Mapping[str, GitEntry]
    parents: tuple[str, ...]
    message: str
    login: str
    at: datetime


@dataclass(slots=True, eq=False)
class GitObjects:
    """All objects of a repository and its forks, by name."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    commits: dict[str, GitCommit] = field(default_factory=dict)
    trees: dict[str, Mapping[str, GitEntry]] = field(default_factory=dict)

    def commit(
        self, changes: FileChanges, *, parents: tuple[str, ...], message: str, login: str, at: datetime
    ) -> GitCommit:
        """A new commit: the first parent's files with these changes."""
        files = dict(self.commits[parents[0]].files) if parents else {}
        for path, content in changes.items():
            if content is None:
                files.pop(path, None)
            else:
                files[path] = self._store(content)
        return self._seal(files, parents, message, login, at)

    def merge(self, onto: str, head: str, *, message: str, login: str, at: datetime) -> GitCommit:
        """A merge commit: `onto` with all that head changed since they parted; head wins."""
        common = self.merge_base(onto, head)
        before = {} if common is None else self.commits[common].files
        files, after = dict(self.commits[onto].files), self.commits[head].files
        for path in before.keys() | after.keys():
            if before.get(path) == after.get(path):
                continue
            if path in after:
                files[path] = after[path]
            else:
                files.pop(path, None)
        return self._seal(files, (onto, head), message, login, at)

    def content(self, sha: str, path: str) -> bytes | None:
        """The bytes of a file in a commit, or None if there is no such file."""
        entry = self.commits[sha].files.get(path)
        return None if entry is None else self.blobs.get(entry.sha)

    def ancestors(self, sha: str) -> Iterator[str]:
        """The commit itself and all it descends from, nearest first."""
        queue, seen = [sha], {sha}
        while queue:
            current = queue.pop(0)
            yield current
            for parent in self.commits[current].parents:
                if parent not in seen:
                    seen.add(parent)
                    queue.append(parent)

    def merge_base(self, one: str, other: str) -> str | None:
        """The nearest commit that both descend from."""
        ancestors = set(self.ancestors(one))
        return next((sha for sha in self.ancestors(other) if sha in ancestors), None)

    def between(self, base: str, head: str) -> tuple[GitCommit, ...]:
        """The commits of head that base does not have, oldest first."""
        ancestors = set(self.ancestors(base))
        ahead = [self.commits[sha] for sha in self.ancestors(head) if sha not in ancestors]
        return tuple(reversed(ahead))

    def _seal(
        self, files: Mapping[str, GitEntry], parents: tuple[str, ...], message: str, login: str, at: datetime
    ) -> GitCommit:
        tree_sha = self._tree(files)
        sha = _commit_name(tree_sha, parents, message, login, at)
        return self.commits.setdefault(sha, GitCommit(sha, tree_sha, files, parents, message, login, at))

    def _store(self, content: FileContent) -> GitEntry:
        if isinstance(content, Submodule):
            return GitEntry(SUBMODULE, content.sha, content.url)
        mode = SYMLINK if isinstance(content, Symlink) else FILE
        text = content.target if isinstance(content, Symlink) else content
        data = text.encode() if isinstance(text, str) else text
        name = _name("blob", data)
        self.blobs[name] = data
        return GitEntry(mode, name)

    def _tree(self, files: Mapping[str, GitEntry]) -> str:
        items: dict[str, GitEntry] = {}
        folders: dict[str, dict[str, GitEntry]] = {}
        for path, entry in files.items():
            top, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(top, {})[rest] = entry
            else:
                items[top] = entry
        items |= {name: GitEntry(TREE, self._tree(below)) for name, below in folders.items()}
        # Git sorts a folder as if its name ended in a slash.
        names = sorted(items, key=lambda name: name + ("/" if items[name].mode == TREE else ""))
        tree = {name: items[name] for name in names}
        data = b"".join(
            f"{entry.mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(entry.sha)
            for name, entry in tree.items()
        )
        sha = _name("tree", data)
        self.trees[sha] = tree
        return sha


def _commit_name(tree: str, parents: tuple[str, ...], message: str, login: str, at: datetime) -> str:
    signature = f"{login} <{login}@users.noreply.github.com> {int(at.timestamp())} +0000"
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {signature}", f"committer {signature}", "", message]
    return _name("commit", "\n".join(lines).encode())


def _name(kind: str, data: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()


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
class DiffAnchor:
    """A line of a diff: the hunk down to it, and its position counted from the first hunk."""

    hunk: str
    position: int


def diff_commits(objects: GitObjects, base: str | None, head: str) -> tuple[FileChange, ...]:
    """Every file that differs between two commits, by path; without a base everything is new."""
    before = {} if base is None else objects.commits[base].files
    after = objects.commits[head].files
    renamed = _renamed(before, after)
    changes = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) == after.get(path) or path in renamed.values():
            continue
        changes.append(_change(objects, before.get(renamed.get(path, path)), after.get(path), path))
        if path in renamed:
            changes[-1] = FileChange(path, "renamed", changes[-1].sha, 0, 0, None, renamed[path])
    return tuple(changes)


def find_anchor(change: FileChange, side: str, line: int) -> DiffAnchor | None:
    """The position of this line of the file in the diff, or None if the diff does not show it."""
    left = right = 0
    hunk: list[str] = []
    for position, text in enumerate((change.patch or "").split("\n")):
        if text.startswith("@@ -") and (header := _HUNK.match(text)):
            left, right, hunk = int(header[1]), int(header[2]), [text]
            continue
        hunk.append(text)
        at = left if side == "LEFT" else right
        is_shown = text[:1] in {" ", "-"} if side == "LEFT" else text[:1] in {" ", "+"}
        if hunk and is_shown and at == line:
            return DiffAnchor("\n".join(hunk), position)
        left += text[:1] in {" ", "-"}
        right += text[:1] in {" ", "+"}
    return None


def _renamed(before: Mapping[str, GitEntry], after: Mapping[str, GitEntry]) -> dict[str, str]:
    """New path → old path of the files that only moved."""
    gone = {entry: path for path, entry in before.items() if path not in after}
    return {path: gone[entry] for path, entry in after.items() if path not in before and entry in gone}


def _change(objects: GitObjects, old: GitEntry | None, new: GitEntry | None, path: str) -> FileChange:
    status = "added" if old is None else "removed" if new is None else "modified"
    entry = new or old
    sha = entry.sha if entry else ""
    patch = _patch(_lines(objects, old), _lines(objects, new))
    marks = [line[:1] for line in patch.split("\n")] if patch else []
    kept = patch if patch and len(patch) <= _LARGEST_PATCH else None
    return FileChange(path, status, sha, marks.count("+"), marks.count("-"), kept)


def _lines(objects: GitObjects, entry: GitEntry | None) -> list[str] | None:
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
    patch = []
    for line in lines:
        text = line.removesuffix("\n")
        patch.append(text)
        if text == line and not line.startswith("@@"):
            patch.append("\\ No newline at end of file")
    return "\n".join(patch)
