"""Facts that were read from GitHub for one decision, including observations of a revision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.definitions import Definition
from bot.gates.rule_book import ConfigReport
from bot.pull_request.checks import CheckAnnotation
from bot.pull_request.events import (
    CheckEvent,
    CommentEvent,
    InlineCommentSnapshot,
    LabelEvent,
    PullRequestSnapshot,
    ReviewSnapshot,
    ValidationEvent,
)
from bot.pull_request.model import Revision
from bot.values import Account


class EntryKind(StrEnum):
    """The kind of a tree entry."""

    FILE = "file"
    FOLDER = "folder"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path of a tree."""

    kind: EntryKind
    sha: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """All paths of a revision, or as many as GitHub lists."""

    entries: Mapping[str, TreeEntry]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's lines, and the names that it defines; `definitions` is None for a language not known."""

    lines: tuple[str, ...]
    definitions: tuple[Definition, ...] | None = None


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """Why a file's text could not be read, in words that follow "the file is"."""

    reason: str


@dataclass(frozen=True, slots=True)
class ObservedCheckRun:
    """A check on the revision: how it ended, and what it printed."""

    id: int
    name: str
    conclusion: str | None
    """None while it runs."""
    output: str = ""
    annotations_count: int = 0
    annotations: tuple[CheckAnnotation, ...] = ()
    ours: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether it ended badly."""
        return self.conclusion in {"failure", "timed_out", "startup_failure", "action_required"}

    @property
    def has_passed(self) -> bool:
        """Whether it succeeded; a neutral or skipped run shows nothing."""
        return self.conclusion == "success"


@dataclass(frozen=True, slots=True)
class BranchState:
    """The state of the pull request's branch against its base."""

    head: str
    mergeable: bool | None
    draft: bool
    commits: int | None
    behind_by: int | None = None


@dataclass(frozen=True, slots=True)
class Observations:
    """Everything observed at one head; what was not read is None or not in the mapping."""

    head: str
    tree: Tree | None = None
    files: Mapping[str, FileText | UnreadableFile] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    """Paths that GitHub answered 404 for."""
    checks: tuple[ObservedCheckRun, ...] | None = None
    branch: BranchState | None = None

    def entry(self, path: str) -> TreeEntry | None:
        """Return the entry at the path, as far as the tree was listed."""
        return self.tree.entries.get(path) if self.tree else None

    def knows_absent(self, path: str) -> bool:
        """Whether the path is certainly not there."""
        if path in self.absent:
            return True
        return self.tree is not None and not self.tree.truncated and path not in self.tree.entries


@dataclass(frozen=True, slots=True)
class Facts:
    """Reads of the API; `None` where this turn had no reason to read."""

    me: Account
    pull_request: PullRequestSnapshot | None = None
    reviews: tuple[ReviewSnapshot, ...] | None = None
    inline_comments: tuple[InlineCommentSnapshot, ...] | None = None
    roles: Mapping[int, str | None] = field(default_factory=dict)
    """Account id → role in the repository, for possible validators."""
    revisions: tuple[Revision, ...] = ()
    """Reviewed heads with what was read of them."""
    maintainer_answered_at: datetime | None = None
    """When a person with `write` answered an escalation by a plain comment."""
    signals: tuple[CommentEvent | LabelEvent | CheckEvent | ValidationEvent, ...] = ()
    """Events that carry verdicts other than reviews."""
    annotations: Mapping[int, tuple[CheckAnnotation, ...]] = field(default_factory=dict)
    """Check run id → its annotations, for the failed ones among the signals."""
    logs: Mapping[int, str] = field(default_factory=dict)
    """Check run id → the end of its job's log, where its output says nothing."""
    triggers: Mapping[int, str] = field(default_factory=dict)
    """Check suite id → the event that started it, where that decides which suite counts."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Key → text at the reviewed head, where a certain fix can be computed from it."""
    observations: Observations | None = None
    """What was observed at the reviewed head, where claims about it had to be verified."""
    framework: str | None = None
    """The framework that the manifests name; empty for none, None if no manifest was read."""
    forgotten: Mapping[int, datetime] = field(default_factory=dict)
    """Account id → until when their name is removed: they asked to be forgotten."""
    config: ConfigReport | None = None
    """The report on the config that this pull request proposes."""


@dataclass(frozen=True, slots=True)
class DecisionTime:
    """The time of a decision, and the id of its feedback."""

    now: datetime
    id: str
