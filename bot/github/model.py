"""Values that GitHub's API returns, unless another package defines them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.gates.config import Permission, RecordVisibility, record_visibility
from bot.pull_request.events import PullRequestSnapshot
from bot.values import Account, Repository


@dataclass(frozen=True, slots=True)
class AppInfo:
    """The App as it is registered."""

    slug: str
    url: str
    """The App's page, from which it is installed."""
    permissions: Mapping[str, str]
    events: tuple[str, ...]

    @property
    def login(self) -> str:
        """The account that the App writes as."""
        return f"{self.slug}[bot]"


@dataclass(frozen=True, slots=True)
class AppInstallation:
    """The App on one account, with what it was granted there."""

    id: int
    account: str
    url: str
    permissions: Mapping[str, str]
    events: tuple[str, ...]
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class WebhookConfig:
    """Where GitHub sends deliveries, and how."""

    url: str
    json: bool = True
    has_secret: bool = True
    checks_certificate: bool = True


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """One attempt of GitHub's to deliver a webhook."""

    id: int
    guid: str
    event: str
    at: datetime
    ok: bool
    status: str
    """GitHub's description of the outcome, with the status code if there was an answer."""


@dataclass(frozen=True, slots=True)
class RequiredPermissions:
    """The permissions and events that `app.yml` asks for."""

    permissions: Mapping[str, str]
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkflowClaims:
    """What a verified OIDC token of GitHub Actions says about the job that requested it."""

    repository_id: int
    repository: str
    """`owner/name`."""
    run_id: int
    workflow: str
    """The workflow's name, or its path where it has none."""
    files: tuple[str, ...]
    """The workflow files of the job, `owner/name/path@ref`: its own, and the reusable one that it is in."""


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run of a workflow, as GitHub shows it."""

    head: str
    """The commit that the run is about: of a pull request its head, not the merge that was checked out."""
    head_repository_id: int | None
    """The repository that the commit was pushed to: the fork's where it came from one."""
    files: tuple[str, ...]
    """The reusable workflows that it calls, `owner/name/path@ref`."""


@dataclass(frozen=True, slots=True)
class TokenAccess:
    """What one token may do in one repository."""

    repository: Repository
    account: Account | None
    """The account of the token, a person or an App; None if GitHub does not say."""
    role: Permission
    installed: bool = False
    """Whether it is the token of an App that is installed in this repository."""
    workflow: WorkflowClaims | None = None
    """The job that shows an OIDC token of GitHub Actions, None for every other token."""

    def may(self, least: Permission) -> bool:
        """Whether the token's holder has at least this role."""
        return self.role.is_at_least(least)

    def record_visibility(self, author: Account, *, agent: bool) -> bool:
        """Whether an author's record is shown: one's own, an agent's, or anybody's from `triage` on."""
        own = self.account is not None and self.account.id == author.id
        return (
            record_visibility(self.role, own=own, agent=agent, public_thread=False) is RecordVisibility.SHOWN
        )


@dataclass(frozen=True, slots=True)
class FileCommit:
    """A commit that changed a file, and when it was committed."""

    sha: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PostedComment:
    """The bot's comment as GitHub stored it."""

    id: int
    node_id: str
    url: str


@dataclass(frozen=True, slots=True)
class FoundComment:
    """The bot's comment as GitHub shows it."""

    posted: PostedComment
    body: str


@dataclass(frozen=True, slots=True)
class FoundIssue:
    """The bot's issue as GitHub shows it."""

    number: int
    open: bool
    body: str
    url: str = ""
    """Of its description."""


@dataclass(frozen=True, slots=True)
class PullRequestPage:
    """Some of a repository's pull requests, and where the next ones are."""

    pull_requests: tuple[PullRequestSnapshot, ...]
    following: str = ""
    """The next page's address; empty on the last one."""
    total: int | None = None
    """An upper bound of the number on all pages, if GitHub says so."""


@dataclass(frozen=True, slots=True)
class RateBudget:
    """How many calls an installation has left in this hour."""

    left: int
    limit: int
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class PostedCheck:
    """The bot's check run as GitHub stored it."""

    id: int
    places: str
    """The external id that it was given."""
