"""What is said in issues, pull requests and their reviews?"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from bot.standin.model.accounts import Account, node_id
from bot.standin.model.repositories import Label, Repository


@dataclass(slots=True, eq=False)
class Reaction:
    """One account's reaction to a comment."""

    id: int
    user: Account
    content: str
    created_at: datetime


@dataclass(slots=True, eq=False)
class Issue:
    """A thread: an issue, or the part of a pull request that it shares with one."""

    id: int
    repository: Repository
    number: int
    title: str
    body: str | None
    user: Account
    created_at: datetime
    updated_at: datetime
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: Account | None = None
    locked: bool = False
    labels: list[Label] = field(default_factory=list)
    via_app: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class PullRequest(Issue):
    """A pull request and its reviews."""

    pull_id: int
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: Repository | None
    draft: bool = False
    merged_at: datetime | None = None
    merged_by: Account | None = None
    merge_commit_sha: str | None = None
    reviews: dict[int, Review] = field(default_factory=dict)
    pushed: dict[str, int] = field(default_factory=dict)
    """Heads that were pushed later, each with a number that orders it among comments and reviews."""

    @property
    def merged(self) -> bool:
        """Whether it went in."""
        return self.merged_at is not None


@dataclass(slots=True, eq=False)
class IssueComment:
    """A comment in the thread of an issue or pull request."""

    id: int
    issue: Issue
    user: Account
    body: str
    created_at: datetime
    updated_at: datetime
    via_app: bool = False
    minimized: str | None = None  # GitHub's classifier, in lower case
    reactions: list[Reaction] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        """The comment's GraphQL id."""
        return node_id("IC", self.id)


@dataclass(slots=True, eq=False)
class Review:
    """A review; `submitted_at` is None while it is pending."""

    id: int
    pull: PullRequest
    user: Account
    state: str
    body: str
    commit_id: str
    submitted_at: datetime | None
    via_app: bool = False
    comments: list[ReviewComment] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        """The review's GraphQL id."""
        return node_id("PRR", self.id)


@dataclass(slots=True, eq=False)
class ReviewComment:
    """An inline comment; no line where it is on the whole file, or outdated."""

    id: int
    review: Review
    user: Account
    path: str
    body: str
    line: int | None
    start_line: int | None
    side: str
    subject_type: Literal["line", "file"]
    diff_hunk: str
    position: int
    commit_id: str
    created_at: datetime
    updated_at: datetime
    in_reply_to: ReviewComment | None = None
    outdated: bool = False
    reactions: list[Reaction] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        """The comment's GraphQL id."""
        return node_id("PRRC", self.id)
