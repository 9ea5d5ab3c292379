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
    """A repository has this name, owner and visibility now."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class RepositoryGone:
    """The App is no longer in a repository, or it was deleted: all about it goes."""

    repository_id: int
    installation_id: int | None = None
    """Who lost it: where another installation has it by now, it was only transferred, and nothing goes."""


@dataclass(frozen=True, slots=True)
class InstallationGone:
    """The App was uninstalled: all that came through this installation goes."""

    installation_id: int


Memo = Document | Forget | WeekRun | RepositorySeen | RepositoryGone | InstallationGone
