"""What do a repository's commits contain, and how do they descend from each other?

Objects get the same SHA-1 names that git gives them, so a blob's name can be checked with git itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

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


Content = str | bytes | Symlink | Submodule
Changes = Mapping[str, Content | None]  # None: the file is deleted


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree: its mode and the name of its content."""

    mode: str
    sha: str
    submodule_url: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: a full tree by path, and what it descends from."""

    sha: str
    tree_sha: str
    files: Mapping[str, Entry]
    parents: tuple[str, ...]
    message: str
    login: str
    at: datetime


@dataclass(frozen=True, slots=True)
class TreeItem:
    """One line of a tree: a file, or a folder with its own tree."""

    path: str
    mode: str
    sha: str


@dataclass(slots=True, eq=False)
class Objects:
    """All objects of a repository and its forks, by name."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    trees: dict[str, tuple[TreeItem, ...]] = field(default_factory=dict)

    def commit(
        self, changes: Changes, *, parents: tuple[str, ...], message: str, login: str, at: datetime
    ) -> Commit:
        """A new commit: the first parent's files with these changes."""
        files = dict(self.commits[parents[0]].files) if parents else {}
        for path, content in changes.items():
            if content is None:
                files.pop(path, None)
            else:
                files[path] = self._store(content)
        return self._seal(files, parents, message, login, at)

    def merge(self, onto: str, head: str, *, message: str, login: str, at: datetime) -> Commit:
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
        """The bytes of a file in a commit, or None where there is no such file."""
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
        known = set(self.ancestors(one))
        return next((sha for sha in self.ancestors(other) if sha in known), None)

    def between(self, base: str, head: str) -> tuple[Commit, ...]:
        """The commits of head that base does not have, oldest first."""
        known = set(self.ancestors(base))
        ahead = [self.commits[sha] for sha in self.ancestors(head) if sha not in known]
        return tuple(reversed(ahead))

    def _seal(
        self, files: Mapping[str, Entry], parents: tuple[str, ...], message: str, login: str, at: datetime
    ) -> Commit:
        tree_sha = self._tree(files)
        sha = _commit_name(tree_sha, parents, message, login, at)
        return self.commits.setdefault(sha, Commit(sha, tree_sha, files, parents, message, login, at))

    def _store(self, content: Content) -> Entry:
        if isinstance(content, Submodule):
            return Entry(SUBMODULE, content.sha, content.url)
        mode = SYMLINK if isinstance(content, Symlink) else FILE
        text = content.target if isinstance(content, Symlink) else content
        data = text.encode() if isinstance(text, str) else text
        name = _name("blob", data)
        self.blobs[name] = data
        return Entry(mode, name)

    def _tree(self, files: Mapping[str, Entry]) -> str:
        items: list[TreeItem] = []
        folders: dict[str, dict[str, Entry]] = {}
        for path, entry in files.items():
            top, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(top, {})[rest] = entry
            else:
                items.append(TreeItem(top, entry.mode, entry.sha))
        items += [TreeItem(name, TREE, self._tree(sub)) for name, sub in folders.items()]
        # Git sorts a folder as if its name ended in a slash.
        items.sort(key=lambda item: item.path + ("/" if item.mode == TREE else ""))
        data = b"".join(
            f"{item.mode.lstrip('0')} {item.path}\0".encode() + bytes.fromhex(item.sha) for item in items
        )
        name = _name("tree", data)
        self.trees[name] = tuple(items)
        return name


def _commit_name(tree: str, parents: tuple[str, ...], message: str, login: str, at: datetime) -> str:
    who = f"{login} <{login}@users.noreply.github.com> {int(at.timestamp())} +0000"
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {who}", f"committer {who}", "", message]
    return _name("commit", "\n".join(lines).encode())


def _name(kind: str, data: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()
