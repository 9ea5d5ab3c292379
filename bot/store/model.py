"""Stored values of deliveries, lanes and the outbox, and the store's errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.pull_request.effects import Effect, StoreCommand
from bot.pull_request.model import PullRequest
from bot.values import Repository


@dataclass(frozen=True, slots=True)
class BlockedWrites:
    """Writes of one kind that are blocked in a repository, and the permission that is missing."""

    repository: str
    kind: str
    permission: str
    count: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """One webhook delivery, or an internal one of the scheduler, as it came in."""

    id: str
    event: str
    lane: str
    installation_id: int
    body: bytes
    received_at: datetime
    attempt: int = 0
    crashes: int = 0
    """How often the process crashed while it handled this delivery alone."""


class Acceptance(StrEnum):
    """Whether an accepted delivery is new."""

    QUEUED = "queued"
    DUPLICATE = "duplicate"


@dataclass(slots=True)
class ReconcileOutcome:
    """What a run has done so far."""

    found: int = 0
    """Missed deliveries that no run had found before."""
    resent: int = 0
    is_complete: bool = False
    scanned_until: datetime | None = None
    """The newest attempt in GitHub's list, once all of the list was handled."""
    not_before: datetime | None = None
    """GitHub's rate limit lasts until then."""


class RowState(StrEnum):
    """The state of a write to GitHub."""

    READY = "ready"
    SENDING = "sending"
    STARTED = "started"
    """Stored as `sending`, by the turn that sends it now."""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A write to GitHub that is still owed."""

    id: str
    lane: str
    effect: Effect
    state: RowState
    sending_at: datetime | None = None
    read_at: datetime | None = field(default=None, compare=False)
    """When a row that is being sent was read, by the same clock as `sending_at`."""

    @property
    def target(self) -> str:
        """The object on GitHub that it changes; a newer row for it replaces an unsent one."""
        return self.effect.target


@dataclass(frozen=True, slots=True)
class PermissionBlock:
    """A kind of write that GitHub refused to an installation in a repository, and the permission it lacks."""

    installation_id: int
    repository_id: int
    kind: str
    permission: str = ""
    """Empty where GitHub did not name one, but shows the bot nothing."""
    recent: bool = True
    """It is pointless to try again yet."""

    @property
    def key(self) -> str:
        """The same for the same kind of write, whenever it was refused."""
        return f"{self.installation_id}:{self.repository_id}:{self.kind}"


@dataclass(frozen=True, slots=True)
class RepositoryOwnership:
    """Which installation owns a lane's repository, where another has lost it lately."""

    former_installations: frozenset[int]
    """Deliveries through these installations are outdated."""
    repository: Repository | None
    """As it is now; None if nobody has it."""
    is_leaving: bool = False
    """No installation has it yet: one may still claim it with all that is stored."""
    lost_at: datetime | None = field(default=None, compare=False)
    """When its installation, which is there still, lost it last; None if it can't have it again."""


@dataclass(frozen=True, slots=True)
class LaneClaim:
    """One lane, owned by one worker until it is released."""

    lane: str
    installation_id: int
    fence: int
    arrivals: int
    attempt: int
    deliveries: tuple[Delivery, ...]
    outbox: tuple[OutboxRow, ...]
    ownership: RepositoryOwnership | None = None
    """None for nearly all: no installation has lost the repository."""
    crashes: int = 0
    """Claims in a row before this one that ended without release, because their process crashed."""
    stored: Any = field(default=None, compare=False, repr=False)
    """The row of the lane's pull request, as it was when the lane was claimed; not decoded yet: one that
    can't be decoded fails its own lane's turn alone."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What one turn of a lane decided; applied in one transaction."""

    pull_request: PullRequest | None
    effects: tuple[Effect, ...]
    done: tuple[str, ...]
    """Ids of the deliveries that this turn has processed."""
    parked: tuple[tuple[str, str], ...] = ()
    """Ids of the deliveries that can't be processed, each with the error."""
    store_commands: tuple[StoreCommand, ...] = ()
    """What to store or delete besides the pull request."""
    is_shared: bool | None = None
    """Whether the pull request's repository shares its history; None if the turn did not look."""
    revisit_at: datetime | None = None
    """When the comment has to be brought up to date even if nothing happens until then."""


@dataclass(frozen=True, slots=True)
class ParkedDelivery:
    """A parked delivery, for the operator."""

    id: str
    event: str
    lane: str
    attempts: int
    error: str
    received_at: datetime
    parked_at: datetime
    installation_id: int = 0


class DeliveryState(StrEnum):
    """The state of a delivery."""

    QUEUED = "queued"
    DONE = "done"
    PARKED = "parked"


@dataclass(frozen=True, slots=True)
class StoredDelivery:
    """A delivery in the inbox and its state."""

    delivery: Delivery
    state: DeliveryState
    error: str = ""


class StoreUnavailable(Exception):
    """The store can't be reached right now."""


class LaneFenced(Exception):
    """Another instance owns the lane by now: nothing was written."""


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job has come."""

    done: int = 0
    total: int | None = None
    waits_until: datetime | None = None
    """Until when the lane waits, for example for a rate limit."""
    finished: bool = False


class JobFailed(Exception):
    """A job was given up on; the message says why."""
