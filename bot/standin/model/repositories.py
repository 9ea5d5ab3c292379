"""Where does work happen, and where is the App installed?"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from bot.standin.git import Objects
from bot.standin.model.accounts import Account, App

if TYPE_CHECKING:
    from bot.standin.model.checks import CheckRun, Status
    from bot.standin.model.threads import Issue, IssueComment, ReviewComment


Role = Literal["read", "triage", "write", "maintain", "admin"]

ROLES: tuple[Role, ...] = ("read", "triage", "write", "maintain", "admin")


@dataclass(slots=True, eq=False)
class Label:
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(slots=True, eq=False)
class Repository:
    """A repository with its branches, people and threads."""

    id: int
    owner: Account
    name: str
    private: bool
    created_at: datetime
    default_branch: str = "main"
    archived: bool = False
    fork_of: Repository | None = None
    objects: Objects = field(default_factory=Objects)
    branches: dict[str, str] = field(default_factory=dict)
    collaborators: dict[int, Role] = field(default_factory=dict)  # by account id
    labels: dict[str, Label] = field(default_factory=dict)
    threads: dict[int, Issue] = field(default_factory=dict)  # issues and pull requests by number
    comments: dict[int, IssueComment] = field(default_factory=dict)
    review_comments: dict[int, ReviewComment] = field(default_factory=dict)
    check_runs: dict[int, CheckRun] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)
    truncate_trees: bool = False

    @property
    def full_name(self) -> str:
        """Owner and name, as in a URL."""
        return f"{self.owner.login}/{self.name}"

    def role(self, account: Account) -> Role | None:
        """The role this account holds here, or None for a stranger."""
        return "admin" if account is self.owner else self.collaborators.get(account.id)


@dataclass(slots=True, eq=False)
class Installation:
    """The App on one account, with what it was granted."""

    id: int
    app: App
    account: Account
    permissions: dict[str, str]
    events: tuple[str, ...]
    created_at: datetime
    repositories: list[Repository] = field(default_factory=list)
    suspended_at: datetime | None = None
    suspended_by: Account | None = None
    deleted: bool = False
