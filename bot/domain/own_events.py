"""What do our own deliveries tell: which job is due, and what was handed in?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.model import Account, Item, Place, Repository
from bot.domain.snapshots import PullRequestSnapshot


@dataclass(frozen=True, slots=True)
class HeadsDue:
    """The next step of seeing to it that every open pull request has the check run that the config wants."""

    repository: Repository
    head: str
    """The commit that changed the config."""
    since: datetime
    """The config has to be read after then."""
    step: int = 0
    page: str = ""
    """The address of the page to read, as GitHub gave it; empty for the first."""
    fresh: int = 0
    """How many pull requests this pass over the list has handed on."""
    owners: bool = False
    """It is the owner's config, which holds in all their repositories."""


@dataclass(frozen=True, slots=True)
class HeadSeen:
    """An open pull request may lack the check run that the config wants since then."""

    pull_request: PullRequestSnapshot
    since: datetime


@dataclass(frozen=True, slots=True)
class ConfigBroken:
    """The config on the default branch can't be used, and nobody was told yet."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class WeekDue:
    """A repository's week is to be told."""

    repository_id: int
    week: str
    """`2026-W46`; empty for the running week so far."""


@dataclass(frozen=True, slots=True)
class BackfillDue:
    """The next step of reading a repository's earlier pull requests."""

    repository: Repository
    run: str
    """Which reading it belongs to; a repeated step has the same deliveries."""
    step: int = 0
    page: str = ""
    """The address of the page to read, as GitHub gave it; empty for the first."""
    read: int = 0
    """How many pull requests the earlier steps handed on."""
    total: int | None = None
    """How many there are, as far as GitHub says so."""
    since: datetime | None = None
    closing: bool = False
    """No page is left: this step only waits for what was handed on."""


@dataclass(frozen=True, slots=True)
class PastSeen:
    """A pull request as it is, from the time before the App was told of anything."""

    pull_request: PullRequestSnapshot


@dataclass(frozen=True, slots=True)
class RetryDue:
    """Deliveries that were given up on are to be queued again."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """One result of a linter, before the config says which tag its rule means."""

    rule: str
    message: str
    place: Place | None = None
    level: str = "warning"


@dataclass(frozen=True, slots=True)
class ValidationSeen:
    """Somebody handed in what they or their tool found, over HTTP."""

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
    """The linter, where it is a linter's log."""
    findings: tuple[ToolFinding, ...] = ()
    body_hash: str = ""
