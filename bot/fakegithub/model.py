"""Accounts, repositories, threads and checks of the fake GitHub, and its API errors."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal

from bot.fakegithub.git import GitObjects

AccountType = Literal["User", "Bot", "Organization"]


def node_id(prefix: str, number: int) -> str:
    """A GraphQL id in the form GitHub gives them."""
    return f"{prefix}_{base64.urlsafe_b64encode(number.to_bytes(8, 'big')).decode().rstrip('=')}"


@dataclass(slots=True, eq=False)
class Node:
    """Something with a number, and with a GraphQL id whose first letters tell its kind."""

    prefix: ClassVar[str]
    id: int

    @property
    def node_id(self) -> str:
        """The GraphQL id."""
        return node_id(self.prefix, self.id)


@dataclass(slots=True, eq=False)
class Account(Node):
    """A person, a bot or an organisation."""

    login: str
    type: AccountType
    created_at: datetime
    deleted: bool = False

    @property
    def node_id(self) -> str:
        """The account's GraphQL id."""
        return node_id({"User": "U", "Bot": "BOT", "Organization": "O"}[self.type], self.id)


@dataclass(slots=True, eq=False)
class App(Node):
    """A GitHub App and its bot account."""

    prefix = "A"
    slug: str
    name: str
    owner: Account
    bot: Account
    public_pem: str | None
    permissions: Mapping[str, str]
    events: tuple[str, ...]
    created_at: datetime


@dataclass(slots=True, eq=False)
class Reaction(Node):
    """One account's reaction to a comment."""

    prefix = "REA"
    user: Account
    content: str
    created_at: datetime


@dataclass(slots=True, eq=False)
class Issue(Node):
    """A thread: an issue, or the part of a pull request that it shares with one."""

    prefix = "I"
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

    prefix = "PR"
    pull_id: int
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: Repository | None
    draft: bool = False
    requested_reviewers: list[Account] = field(default_factory=list)
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
class IssueComment(Node):
    """A comment in the thread of an issue or pull request."""

    prefix = "IC"
    issue: Issue
    user: Account
    body: str
    created_at: datetime
    updated_at: datetime
    via_app: bool = False
    minimized: str | None = None  # GitHub's classifier, in lower case
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Review(Node):
    """A review; `submitted_at` is None while it is pending."""

    prefix = "PRR"
    pull: PullRequest
    user: Account
    state: str
    body: str
    commit_id: str
    submitted_at: datetime | None
    via_app: bool = False
    comments: list[ReviewComment] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class ReviewComment(Node):
    """An inline comment; no line where it is on the whole file, or outdated."""

    prefix = "PRRC"
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


Role = Literal["read", "triage", "write", "maintain", "admin"]

ROLES: tuple[Role, ...] = ("read", "triage", "write", "maintain", "admin")


@dataclass(slots=True, eq=False)
class Label(Node):
    """A label of a repository."""

    prefix = "LA"
    repository: Repository
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(slots=True, eq=False)
class Repository(Node):
    """A repository with its branches, people and threads."""

    prefix = "R"
    owner: Account
    name: str
    private: bool
    created_at: datetime
    default_branch: str = "main"
    archived: bool = False
    fork_of: Repository | None = None
    objects: GitObjects = field(default_factory=GitObjects)
    branches: dict[str, str] = field(default_factory=dict)
    collaborators: dict[int, Role] = field(default_factory=dict)  # by account id
    labels: dict[str, Label] = field(default_factory=dict)
    threads: dict[int, Issue] = field(default_factory=dict)  # issues and pull requests by number
    comments: dict[int, IssueComment] = field(default_factory=dict)
    review_comments: dict[int, ReviewComment] = field(default_factory=dict)
    check_runs: dict[int, CheckRun] = field(default_factory=dict)
    workflow_runs: dict[int, WorkflowRun] = field(default_factory=dict)
    statuses: list[CommitStatus] = field(default_factory=list)
    truncate_trees: bool = False

    @property
    def full_name(self) -> str:
        """Owner and name, as in a URL."""
        return f"{self.owner.login}/{self.name}"

    def role(self, account: Account) -> Role | None:
        """The role this account holds here, or None for a stranger."""
        return "admin" if account is self.owner else self.collaborators.get(account.id)


@dataclass(slots=True, eq=False)
class Installation(Node):
    """The App on one account, with what it was granted."""

    prefix = "MDIz"
    app: App
    account: Account
    permissions: dict[str, str]
    events: tuple[str, ...]
    created_at: datetime
    repositories: list[Repository] = field(default_factory=list)
    suspended_at: datetime | None = None
    suspended_by: Account | None = None
    deleted: bool = False


@dataclass(slots=True, eq=False)
class Annotation:
    """A check's finding at a place."""

    path: str
    start_line: int
    end_line: int
    annotation_level: str
    message: str
    title: str | None = None
    raw_details: str | None = None
    start_column: int | None = None
    end_column: int | None = None


@dataclass(slots=True, eq=False)
class WorkflowRun(Node):
    """A workflow of GitHub Actions that ran on a commit; its jobs are the check runs of its suite."""

    prefix = "WFR"
    suite_id: int
    workflow_id: int
    repository: Repository
    name: str
    event: str
    head_branch: str
    head_sha: str
    head_repository: Repository
    actor: Account
    created_at: datetime
    attempt: int = 1
    called: tuple[str, ...] = ()  # reusable workflows, `owner/repo/path@ref`

    @property
    def jobs(self) -> list[CheckRun]:
        """The newest job of every name."""
        jobs = [run for run in self.repository.check_runs.values() if run.suite_id == self.suite_id]
        return list({job.name: job for job in jobs}.values())


@dataclass(slots=True, eq=False)
class CheckRun(Node):
    """A check on a commit, by an App; `log` is that of a job of GitHub Actions."""

    prefix = "CR"
    suite_id: int
    repository: Repository
    app: App
    name: str
    head_sha: str
    status: str
    conclusion: str | None
    started_at: datetime
    completed_at: datetime | None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    external_id: str = ""
    details_url: str | None = None
    annotations: list[Annotation] = field(default_factory=list)
    log: str | None = None


@dataclass(slots=True, eq=False)
class CommitStatus(Node):
    """A commit status."""

    prefix = "SC"
    sha: str
    context: str
    state: str
    description: str | None
    target_url: str | None
    creator: Account
    created_at: datetime


class ApiRefusal(Exception):
    """An answer that is an error, in GitHub's words."""

    def __init__(
        self, status: int, message: str, *, errors: Any = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})


def not_found_refusal() -> ApiRefusal:
    """It is not there, or the caller may not know that it is."""
    return ApiRefusal(404, "Not Found")


def forbidden_refusal() -> ApiRefusal:
    """The App was not granted the permission for this."""
    return ApiRefusal(403, "Resource not accessible by integration")


def invalid_refusal(resource: str, field: str, code: str = "invalid", **more: Any) -> ApiRefusal:
    """A field has a value that GitHub does not take."""
    error = {"resource": resource, "field": field, "code": code} | more
    return ApiRefusal(422, "Validation Failed", errors=[error])
