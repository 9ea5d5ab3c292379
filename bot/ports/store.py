"""What the engine needs from a store that keeps everything that survives a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.domain.commands.replies import Stored
from bot.domain.effects import Effect
from bot.domain.events import Event, Ignored
from bot.domain.fixes import Fix
from bot.domain.memory import Record
from bot.domain.memos import Memo
from bot.domain.model import Account, PullRequest, Repository, Sticky
from bot.domain.replied import Replied
from bot.domain.snapshots import PullRequestSnapshot
from bot.ports.github_answers import PostedComment


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


class Acceptance(StrEnum):
    """What became of a delivery at the door."""

    QUEUED = "queued"
    DUPLICATE = "duplicate"


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
class Refusal:
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
class Home:
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
class Claim:
    """One lane, owned by one worker until it is released."""

    lane: str
    installation_id: int
    fence: int
    arrivals: int
    attempt: int
    deliveries: tuple[Delivery, ...]
    outbox: tuple[OutboxRow, ...]
    home: Home | None = None
    """None for nearly all: no installation has lost the repository."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn of a lane decided; applied in one transaction."""

    pull_request: PullRequest | None
    effects: tuple[Effect, ...]
    done: tuple[str, ...]
    """Ids of the deliveries that this turn has dealt with."""
    parked: tuple[tuple[str, str], ...] = ()
    """Ids of the deliveries that can't be dealt with, each with the error."""
    memos: tuple[Memo, ...] = ()
    """What is to be remembered or forgotten besides the pull request."""
    shares: bool | None = None
    """Whether the pull request's repository shares its history; None where the turn did not look."""


@dataclass(frozen=True, slots=True)
class Parked:
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
class Kept:
    """A delivery in the inbox, and what became of it."""

    delivery: Delivery
    state: DeliveryState
    error: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job has come that somebody asked for."""

    done: int = 0
    total: int | None = None
    waits_until: datetime | None = None
    """GitHub is not asked before then."""
    finished: bool = False


class JobFailed(Exception):
    """Why a job was given up on, for whoever asked for it."""


class StoreUnavailable(Exception):
    """The store can't take or give anything right now."""


class Fenced(Exception):
    """The lane belongs to somebody else by now: nothing was written."""


class Memory(Protocol):
    """What is remembered beyond one pull request; written by turns, read here."""

    async def repository(self, repository_id: int) -> Repository | None:
        """The repository as last seen, with its installation; None where the App never was."""
        ...

    async def active(self, since: datetime) -> tuple[Repository, ...]:
        """The repositories in which anything was judged since then."""
        ...

    async def records(
        self, repository_id: int, since: datetime, author_id: int | None = None, *, shared: bool = False
    ) -> tuple[Record, ...]:
        """The records of a repository, or of one author in it, that were last active since then.

        With `shared` also those of the repositories beside it whose configs share their history.
        """
        ...

    async def newest(self, repository_id: int, author_id: int, most: int) -> tuple[Record, ...]:
        """An author's latest records in a repository."""
        ...

    async def authored(
        self, repository_id: int, since: datetime, author_id: int, *, shared: bool = False
    ) -> tuple[tuple[Record, ...], Mapping[str, Fix]]:
        """An author's records that were last active since then, and their latest fixes however long ago."""
        ...

    async def author(self, repository_id: int, login: str, *, shared: bool = False) -> Account | None:
        """The author who has, or last had, this login there."""
        ...

    async def replies(self, lane: str) -> tuple[Replied, ...]:
        """The answers to commands in a thread, oldest first."""
        ...

    async def stored(self, repository_id: int, account_id: int) -> Stored:
        """How much is stored about somebody in a repository."""
        ...

    async def weekly_issue(self, repository_id: int) -> int | None:
        """The number of the repository's summary issue, as far as known."""
        ...

    async def was_told(self, repository_id: int, week: str) -> bool:
        """Whether the clock's run for this week is decided."""
        ...


class Inbox(Protocol):
    """The door's side of the store."""

    async def accept(self, delivery: Delivery) -> Acceptance:
        """Return only when the delivery is safe on disk, or known already."""
        ...


class Store(Inbox, Protocol):
    """Everything that survives a restart."""

    @property
    def wakes(self) -> asyncio.Event:
        """Set when something may have become due; whoever waits for it clears it."""
        ...

    @property
    def is_crowded(self) -> bool:
        """Deliveries crowd at this process's door: whatever else it does can wait a little."""
        ...

    async def claim(self, limit: int) -> tuple[Claim, ...]:
        """Own up to `limit` lanes that are due, oldest first."""
        ...

    async def load(self, lane: str) -> PullRequest | None:
        """What is recorded about the pull request of this lane."""
        ...

    async def numbers_at(self, repository_id: int, head: str) -> tuple[int, ...]:
        """The open pull requests of a repository that have this head, as far as recorded."""
        ...

    async def apply(self, claim: Claim, turn: Turn) -> tuple[OutboxRow, ...]:
        """Write records, outbox and deliveries in one transaction; return the rows now owed."""
        ...

    async def sending(self, claim: Claim, row: OutboxRow) -> OutboxRow:
        """Commit that this row is about to be sent."""
        ...

    async def unsent(self, claim: Claim, row: OutboxRow) -> OutboxRow:
        """Commit that GitHub certainly did not take this row: it is ready again."""
        ...

    async def sent(
        self, claim: Claim, row: OutboxRow, sticky: Sticky | None, then: tuple[Effect, ...]
    ) -> None:
        """The row is done: forget it, remember the sticky comment, owe what follows from it."""
        ...

    async def given_up(self, claim: Claim, row: OutboxRow) -> None:
        """GitHub does not take the row: forget it, and that it is shown, so that it is owed again later."""
        ...

    async def refusals(self, installation_id: int) -> tuple[Refusal, ...]:
        """The kinds of writes that GitHub did not take of this installation."""
        ...

    async def refused(self, refusal: Refusal) -> None:
        """GitHub has just not taken this kind of write."""
        ...

    async def withhold(self, claim: Claim, row: OutboxRow, refusal: Refusal) -> None:
        """The row waits until GitHub may take its kind of write; a newer one of its target replaces it."""
        ...

    async def let_again(self, installation_id: int) -> None:
        """GitHub may take everything of this installation from now on: what waited is due."""
        ...

    @property
    def memory(self) -> Memory:
        """What is remembered beyond one pull request."""
        ...

    async def replied(
        self, claim: Claim, row: OutboxRow, posted: PostedComment, then: tuple[Effect, ...]
    ) -> None:
        """The answer of this row stands there: forget the row, owe what follows from it."""
        ...

    async def told(
        self, claim: Claim, row: OutboxRow, repository_id: int, number: int, then: tuple[Effect, ...]
    ) -> None:
        """The summary issue has this number: forget the row, owe what follows from it."""
        ...

    async def remember(self, claim: Claim, sticky: Sticky) -> None:
        """This is the sticky comment now, whoever changed it."""
        ...

    async def release(self, claim: Claim, *, retry_after: float | None = None, attempt: int = 0) -> None:
        """Give the lane back: due again after `retry_after`, or when something more arrives."""
        ...

    def abandon(self, claim: Claim) -> None:
        """This turn is over, even if the lane could not be given back: it may be claimed again."""
        ...

    async def pause(self, installation_id: int, until: datetime) -> None:
        """No lane of this installation is due before `until`."""
        ...

    async def spend(self, installation_id: int, priority: int) -> float:
        """Count one content write (0 rejection, 1 reply, 2 summary): 0 to go ahead, else seconds to wait."""
        ...

    async def beat(self) -> None:
        """Say that this instance is alive."""
        ...

    async def beat_age(self) -> float | None:
        """Seconds since this instance's last beat as the store knows it; None where it never beat."""
        ...

    async def kept(self, delivery_id: str) -> Kept | None:
        """A delivery and what became of it, None where it is not known."""
        ...

    async def parked(self) -> tuple[Parked, ...]:
        """The deliveries given up on, newest first."""
        ...

    async def retry(self, ids: tuple[str, ...]) -> int:
        """Queue parked deliveries again; returns how many."""
        ...

    async def queued(self, lanes: str, ids: str) -> int:
        """How many deliveries wait whose lane and id begin so."""
        ...

    async def sweep(self) -> int:
        """Forget what is older than its retention; returns how many rows changed."""
        ...

    async def next_due(self) -> float | None:
        """Seconds until the next lane is due, None when none is."""
        ...


Parse = Callable[[Delivery], Event | Ignored]
"""What a delivery says to us."""


Derive = Callable[[Delivery, int, PullRequestSnapshot | None], Delivery]
"""A delivery about a commit as it goes to one of its pull requests."""
