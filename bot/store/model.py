"""Stored values of deliveries, lanes and the outbox, and the store's errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.pull_request.effects import Effect, StoreCommand
from bot.pull_request.model import PullRequest
from bot.values import Repository


@dataclass(frozen=True, slots=True)
class BlockedWrites:
    """Writes of one kind that GitHub does not take in a repository, and the permission that is missing."""

    repository: str
    kind: str
    permission: str
    count: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """One webhook delivery, or a row of the clock's, as it came in."""

    id: str
    event: str
    lane: str
    installation_id: int
    body: bytes
    received_at: datetime
    attempt: int = 0
    crashes: int = 0
    """How often the process ended while it handled this delivery alone."""


class Acceptance(StrEnum):
    """What became of a delivery at the door."""

    QUEUED = "queued"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class ReconcileRun:
    """One look for deliveries that GitHub could not bring."""

    scanned_until: datetime | None
    """The newest attempt that an earlier run has dealt with, by GitHub's clock; None: there was none."""


@dataclass(slots=True)
class ReconcileOutcome:
    """What a run has done so far."""

    found: int = 0
    """Missed deliveries that no run had found before."""
    resent: int = 0
    is_complete: bool = False
    scanned_until: datetime | None = None
    """The newest attempt in GitHub's list, once all of the list was dealt with."""
    not_before: datetime | None = None
    """GitHub wants to be left alone until then."""


class RowState(StrEnum):
    """How far a write to GitHub has come."""

    READY = "ready"
    SENDING = "sending"


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A write to GitHub that is still owed."""

    id: str
    lane: str
    effect: Effect
    state: RowState
    sending_at: datetime | None = None
    read_at: datetime | None = field(default=None, compare=False)
    """When a row that is being sent was read, by the clock that `sending_at` is from."""

    @property
    def target(self) -> str:
        """The thing on GitHub that it changes; a newer row for it replaces an unsent one."""
        return self.effect.target


@dataclass(frozen=True, slots=True)
class PermissionBlock:
    """A kind of write that GitHub did not take of an installation in a repository, and what it lacks."""

    installation_id: int
    repository_id: int
    kind: str
    permission: str = ""
    """Empty where GitHub did not say, but shows nothing to us."""
    recent: bool = True
    """It is pointless to try again yet."""

    @property
    def key(self) -> str:
        """The same for the same kind of write, whenever it was refused."""
        return f"{self.installation_id}:{self.repository_id}:{self.kind}"


@dataclass(frozen=True, slots=True)
class RepositoryOwnership:
    """Whose a lane's repository is, where an installation has lost it lately."""

    former: frozenset[int]
    """What comes through these installations is old."""
    repository: Repository | None
    """As it is now; None where nobody has it."""
    leaving: bool = False
    """Nobody has it yet: somebody may still claim it with all that is remembered."""
    lost_at: datetime | None = field(default=None, compare=False)
    """When its installation, which is there still, lost it last; None where it can't have it again."""


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
    home: RepositoryOwnership | None = None
    """None for nearly all: no installation has lost the repository."""
    crashes: int = 0
    """Claims in a row before this one that ended without release, because their process ended."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What one turn of a lane decided; applied in one transaction."""

    pull_request: PullRequest | None
    effects: tuple[Effect, ...]
    done: tuple[str, ...]
    """Ids of the deliveries that this turn has dealt with."""
    parked: tuple[tuple[str, str], ...] = ()
    """Ids of the deliveries that can't be dealt with, each with the error."""
    memos: tuple[StoreCommand, ...] = ()
    """What is to be remembered or forgotten besides the pull request."""
    shares: bool | None = None
    """Whether the pull request's repository shares its history; None where the turn did not look."""


@dataclass(frozen=True, slots=True)
class ParkedDelivery:
    """A delivery that was given up on, for the operator."""

    id: str
    event: str
    lane: str
    attempts: int
    error: str
    received_at: datetime
    parked_at: datetime
    installation_id: int = 0


class DeliveryState(StrEnum):
    """How far a delivery has come."""

    QUEUED = "queued"
    DONE = "done"
    PARKED = "parked"


@dataclass(frozen=True, slots=True)
class StoredDelivery:
    """A delivery in the inbox, and what became of it."""

    delivery: Delivery
    state: DeliveryState
    error: str = ""


class StoreUnavailable(Exception):
    """The store can't take or give anything right now."""


class LaneFenced(Exception):
    """The lane belongs to somebody else by now: nothing was written."""
