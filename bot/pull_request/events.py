"""Events and snapshots as values, from GitHub's webhooks and from internal jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.pull_request.model import Item
from bot.values import GHOST, Account, Location, Repository


@dataclass(frozen=True, slots=True)
class PullRequestSnapshot:
    """A pull request as one payload shows it."""

    repository: Repository
    number: int
    author: Account
    title: str
    base: str
    head: str
    created_at: datetime
    updated_at: datetime
    open: bool
    merged: bool
    draft: bool
    closed_at: datetime | None
    base_sha: str = field(default="", compare=False)
    """The base's newest commit then; two payloads of one state may differ in it."""
    body: str = field(default="", compare=False, repr=False)
    """The description."""


class ReviewState(StrEnum):
    """GitHub's review states; webhooks and API differ in upper and lower case."""

    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    COMMENTED = "commented"
    DISMISSED = "dismissed"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class ReviewSnapshot:
    """A review as GitHub shows it now."""

    id: int
    author: Account
    state: ReviewState
    body: str
    submitted_at: datetime
    head: str | None
    url: str
    documents: tuple[Item, ...] = ()
    """The items of the feedback documents in its fences."""
    node_id: str = ""


@dataclass(frozen=True, slots=True)
class InlineCommentSnapshot:
    """A review comment at lines of the diff."""

    id: int
    review_id: int | None
    author: Account
    body: str
    path: str
    line: int | None
    start_line: int | None
    diff_hunk: str
    created_at: datetime
    url: str
    documents: tuple[Item, ...] = ()
    in_reply_to: int | None = None
    """The first comment of its thread, where that is another one."""


@dataclass(frozen=True, slots=True)
class CheckBackfillStep:
    """The next step of the check backfill: every open pull request gets the check run the config wants."""

    repository: Repository
    head: str
    """The commit that changed the config."""
    since: datetime
    """The config has to be read after then."""
    step: int = 0
    page: str = ""
    """The address of the page to read, as GitHub gave it; empty for the first."""
    fresh: int = 0
    """How many pull requests this pass has queued."""
    owners: bool = False
    """It is the owner's config, which holds in all their repositories."""


@dataclass(frozen=True, slots=True)
class CheckBackfillEvent:
    """An open pull request may lack the check run that the config wants since then."""

    pull_request: PullRequestSnapshot
    since: datetime


@dataclass(frozen=True, slots=True)
class ConfigBrokenEvent:
    """The config on the default branch is invalid, and this was not reported yet."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class WeekDueEvent:
    """A repository's weekly summary is due."""

    repository_id: int
    week: str
    """`2026-W46`; empty for the current week so far."""


@dataclass(frozen=True, slots=True)
class BackfillStep:
    """The next step of reading a repository's earlier pull requests."""

    repository: Repository
    run: str
    """The backfill run; a repeated step has the same deliveries."""
    step: int = 0
    page: str = ""
    """The address of the page to read, as GitHub gave it; empty for the first."""
    read: int = 0
    """How many pull requests the earlier steps queued."""
    total: int | None = None
    """How many there are, as far as GitHub says so."""
    since: datetime | None = None
    closing: bool = False
    """No page is left: this step only waits for what was queued."""


@dataclass(frozen=True, slots=True)
class PastPullRequestEvent:
    """A pull request from before the App was installed, as it is now."""

    pull_request: PullRequestSnapshot


@dataclass(frozen=True, slots=True)
class RetryEvent:
    """Parked deliveries are to be retried."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One result of a tool, before the config says which tag its rule means."""

    rule: str
    message: str
    place: Location | None = None
    level: str = "warning"
    tag: str | None = None
    """The tag, where the report itself states one."""


@dataclass(frozen=True, slots=True)
class ValidationEvent:
    """A validation that a person or tool submitted over HTTP."""

    id: str
    repository: Repository
    number: int
    author: Account | None
    """None for the token of an App."""
    role: str
    at: datetime
    head: str | None = None
    items: tuple[Item, ...] = ()
    accepts: bool = False
    """The document's own verdict is that the work is fine."""
    tool: str = ""
    """The tool, where it is a tool's report."""
    findings: tuple[ToolResult, ...] = ()
    body_hash: str = ""


@dataclass(frozen=True, slots=True)
class PullRequestEvent:
    """A pull request was opened, pushed to, edited, closed, merged or reopened."""

    action: str
    pull_request: PullRequestSnapshot
    fork: bool = False
    """Its branch is in a fork, whose pushes GitHub does not report."""
    requested: Account | None = None
    """Whose review was requested."""


@dataclass(frozen=True, slots=True)
class ReviewEvent:
    """A review was submitted, edited or dismissed."""

    action: str
    pull_request: PullRequestSnapshot
    review: ReviewSnapshot


@dataclass(frozen=True, slots=True)
class InlineCommentEvent:
    """An inline comment was created, edited or deleted."""

    action: str
    pull_request: PullRequestSnapshot
    comment: InlineCommentSnapshot


@dataclass(frozen=True, slots=True)
class CommentEvent:
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
class LabelEvent:
    """A label was added to a pull request, or removed."""

    action: str
    pull_request: PullRequestSnapshot
    label: str
    sender: Account
    url: str


@dataclass(frozen=True, slots=True)
class CheckEvent:
    """A check run or commit status of a revision started or ended."""

    repository: Repository
    head: str
    name: str
    conclusion: str
    """Empty while it runs."""
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
    """Set once the revision's pull requests were looked up."""
    account: str = ""
    """The App that ran it, or who set the status."""
    account_id: int = 0
    body_hash: str = ""
    """Hash of the whole output without annotations."""
    output: str = ""
    """Its summary and text; of a long output the start and the end."""
    suite_id: int = 0
    """The check suite, by which two runs of one name are told apart; 0 for a status."""


@dataclass(frozen=True, slots=True)
class ConfigPushEvent:
    """A push changed the repository's config on some branch."""

    repository: Repository
    head: str
    pull_request: PullRequestSnapshot | None = None
    """Set once the revision's pull requests were looked up."""
    in_force: bool = False
    """It was pushed to the default branch, so it holds from now on."""


@dataclass(frozen=True, slots=True)
class ReviewThreadEvent:
    """A thread of inline comments was resolved, or opened again."""

    action: str
    pull_request: PullRequestSnapshot
    comment_id: int = 0
    """The comment that started it."""
    sender: Account = GHOST
    at: datetime | None = None
    """When that was, where GitHub says so."""


@dataclass(frozen=True, slots=True)
class RepositoryEvent:
    """A repository has another name, owner or visibility, or was deleted."""

    action: str
    repository: Repository


@dataclass(frozen=True, slots=True)
class InstallationEvent:
    """The App was installed or uninstalled, or got or lost repositories."""

    action: str
    installation_id: int
    removed: tuple[int, ...] = ()
    """Repositories that it lost access to."""
    added: tuple[Repository, ...] = ()
    """Repositories that it got access to; GitHub does not name their default branches."""


@dataclass(frozen=True, slots=True)
class IgnoredEvent:
    """A delivery that needs no processing, and why."""

    reason: str


Event = (
    PullRequestEvent
    | ReviewEvent
    | InlineCommentEvent
    | CommentEvent
    | LabelEvent
    | CheckEvent
    | ConfigPushEvent
    | CheckBackfillStep
    | CheckBackfillEvent
    | ConfigBrokenEvent
    | ValidationEvent
    | ReviewThreadEvent
    | RepositoryEvent
    | InstallationEvent
    | WeekDueEvent
    | BackfillStep
    | PastPullRequestEvent
    | RetryEvent
)
