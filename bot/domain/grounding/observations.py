"""What was seen of a revision through GitHub's API?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bot.domain.check_runs import Annotation


class EntryKind(StrEnum):
    """What stands at a path of a tree."""

    FILE = "file"
    FOLDER = "folder"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a tree."""

    kind: EntryKind
    sha: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """All paths of a revision, or as many as GitHub lists."""

    entries: Mapping[str, Entry]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class, constant or heading, and the lines that it takes."""

    name: str
    line: int
    end_line: int
    first_line: int = 0
    """Where its decorators or attributes begin, if before `line`."""


@dataclass(frozen=True, slots=True)
class Text:
    """A file's lines, and the names that it defines; `definitions` is None for a language not known."""

    lines: tuple[str, ...]
    definitions: tuple[Definition, ...] | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a file's text was not seen, in words that follow "the file is"."""

    why: str


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A check on the revision: how it ended, and what it printed."""

    id: int
    name: str
    conclusion: str | None
    """None while it runs."""
    output: str = ""
    annotations_count: int = 0
    annotations: tuple[Annotation, ...] = ()
    ours: bool = False

    @property
    def failed(self) -> bool:
        """Whether it ended badly."""
        return self.conclusion in {"failure", "timed_out", "startup_failure", "action_required"}

    @property
    def passed(self) -> bool:
        """Whether it ended well."""
        return self.conclusion == "success"


@dataclass(frozen=True, slots=True)
class BranchState:
    """How the pull request stands to its base."""

    head: str
    mergeable: bool | None
    draft: bool
    commits: int | None
    behind_by: int | None = None


@dataclass(frozen=True, slots=True)
class Observations:
    """Everything seen at one head; what was not looked at is None or not in the mapping."""

    head: str
    tree: Tree | None = None
    files: Mapping[str, Text | Unread] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    """Paths that GitHub, asked for them alone, does not have."""
    checks: tuple[CheckRun, ...] | None = None
    branch: BranchState | None = None

    def entry(self, path: str) -> Entry | None:
        """What stands at the path, as far as the tree was listed."""
        return self.tree.entries.get(path) if self.tree else None

    def knows_absent(self, path: str) -> bool:
        """Whether the path is certainly not there."""
        if path in self.absent:
            return True
        return self.tree is not None and not self.tree.truncated and path not in self.tree.entries
