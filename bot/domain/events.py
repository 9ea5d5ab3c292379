"""What GitHub told us, as values: an event says what was seen, never what to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.model import Account, Item, Repository
from bot.domain.own_events import (
    BackfillDue,
    ConfigBroken,
    HeadsDue,
    HeadSeen,
    PastSeen,
    RetryDue,
    ValidationSeen,
    WeekDue,
)
from bot.domain.snapshots import InlineComment, PullRequestSnapshot, Review


@dataclass(frozen=True, slots=True)
class PullRequestSeen:
    """A pull request was opened, pushed to, edited, closed, merged or reopened."""

    action: str
    pull_request: PullRequestSnapshot
    fork: bool = False
    """Its branch is in another repository, whose pushes GitHub does not tell of."""


@dataclass(frozen=True, slots=True)
class ReviewSeen:
    """A review was submitted, edited or dismissed."""

    action: str
    pull_request: PullRequestSnapshot
    review: Review


@dataclass(frozen=True, slots=True)
class InlineCommentSeen:
    """An inline comment was created, edited or deleted."""

    action: str
    pull_request: PullRequestSnapshot
    comment: InlineComment


@dataclass(frozen=True, slots=True)
class CommentSeen:
    """A comment in the thread was created, edited or deleted."""

    action: str
    repository: Repository
    number: int
    comment_id: int
    author: Account
    sender: Account
    body: str
    created_at: datetime
    updated_at: datetime
    url: str
    documents: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelSeen:
    """A label was put on a pull request, or taken off."""

    action: str
    pull_request: PullRequestSnapshot
    label: str
    sender: Account
    url: str


@dataclass(frozen=True, slots=True)
class CheckSeen:
    """A check run or commit status of a revision ended."""

    repository: Repository
    head: str
    name: str
    conclusion: str
    at: datetime
    url: str
    run_id: int | None = None
    """None for a commit status, which has no annotations."""
    app: str = ""
    """The slug of the App that ran it."""
    title: str = ""
    annotations: int = 0
    numbers: tuple[int, ...] = ()
    """The pull requests that GitHub names; none for those from forks."""
    pull_request: PullRequestSnapshot | None = None
    """Known once the revision's pull requests were looked for."""
    account: str = ""
    """The App that ran it, or who set the status."""
    account_id: int = 0
    body_hash: str = ""
    """Of all that it says, less its annotations."""
    output: str = ""
    """What it printed, both ends of it: its summary and its text."""


@dataclass(frozen=True, slots=True)
class ConfigPushed:
    """A push changed the repository's config on some branch."""

    repository: Repository
    head: str
    pull_request: PullRequestSnapshot | None = None
    """Known once the revision's pull requests were looked for."""
    in_force: bool = False
    """It was pushed to the default branch, so it holds from now on."""


@dataclass(frozen=True, slots=True)
class ThreadSeen:
    """A thread of inline comments was resolved, or opened again."""

    action: str
    pull_request: PullRequestSnapshot
    urls: tuple[str, ...]
    """The addresses of its comments."""


@dataclass(frozen=True, slots=True)
class RepositoryChanged:
    """A repository has another name, owner or visibility, or was deleted."""

    action: str
    repository: Repository


@dataclass(frozen=True, slots=True)
class InstallationSeen:
    """The App was let in somewhere, or shut out."""

    action: str
    installation_id: int
    removed: tuple[int, ...] = ()
    """Repositories that it may no longer touch."""
    added: tuple[Repository, ...] = ()
    """Repositories that it may touch from now on; GitHub does not name their default branches."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A delivery with nothing in it for us, and why."""

    reason: str


Event = (
    PullRequestSeen
    | ReviewSeen
    | InlineCommentSeen
    | CommentSeen
    | LabelSeen
    | CheckSeen
    | ConfigPushed
    | HeadsDue
    | HeadSeen
    | ConfigBroken
    | ValidationSeen
    | ThreadSeen
    | RepositoryChanged
    | InstallationSeen
    | WeekDue
    | BackfillDue
    | PastSeen
    | RetryDue
)
