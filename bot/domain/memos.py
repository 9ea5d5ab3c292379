"""What a turn wants remembered or forgotten besides its pull request, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.model import Repository


@dataclass(frozen=True, slots=True)
class Document:
    """The whole actionable-feedback document that a comment carries a copy of."""

    id: str
    at: datetime
    body: str
    """JSON."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Somebody wants to be forgotten in a repository: counts stay, without a name."""

    repository_id: int
    account_id: int
    login: str
    at: datetime
    key: str


@dataclass(frozen=True, slots=True)
class WeekRun:
    """The clock's run for a week has been decided."""

    repository_id: int
    week: str
    at: datetime
    told: bool
    """Enough had happened."""


@dataclass(frozen=True, slots=True)
class RepositorySeen:
    """A repository has this name, owner and visibility now, as its installation sees it."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class RepositoryGained:
    """An installation has the repository from now on; whatever is remembered of it goes along."""

    repository: Repository
    """Its `default_branch` is empty where GitHub did not name it."""
    transferred: bool = False
    """GitHub may tell the former owner's installation of a transfer, too."""


@dataclass(frozen=True, slots=True)
class RepositoryLeft:
    """An installation may no longer touch the repository: its memory is out of sight, then goes."""

    repository_id: int
    installation_id: int


@dataclass(frozen=True, slots=True)
class RepositoryDeleted:
    """The repository is no more: all about it goes at once."""

    repository_id: int
    installation_id: int


@dataclass(frozen=True, slots=True)
class HistoryShared:
    """A repository's config says whether it shares its history."""

    repository_id: int
    shared: bool


@dataclass(frozen=True, slots=True)
class InstallationGone:
    """The App was uninstalled: all that came through this installation is out of sight, then goes."""

    installation_id: int


Memo = (
    Document
    | Forget
    | WeekRun
    | RepositorySeen
    | RepositoryGained
    | RepositoryLeft
    | RepositoryDeleted
    | HistoryShared
    | InstallationGone
)
