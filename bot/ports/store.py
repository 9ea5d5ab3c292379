"""What does the engine ask of a store that keeps everything that survives a restart?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from bot.domain.effects import Effect
from bot.domain.events import Event, Ignored
from bot.domain.model import PullRequest, Sticky
from bot.domain.snapshots import PullRequestSnapshot
from bot.ports.github_answers import PostedComment
from bot.ports.kept import Acceptance, Claim, Delivery, Kept, OutboxRow, Parked, Refusal, Turn
from bot.ports.memory import Memory


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

    async def isolate(self, claim: Claim) -> None:
        """Commit that the claim's one delivery is handled alone from now on: a crash is counted on it."""
        ...

    async def release(self, claim: Claim, *, retry_after: float | None = None, attempt: int = 0) -> None:
        """Give the lane back: due again after `retry_after`, or when something more arrives.

        Without `retry_after` the turn is finished, and the lane's count of crashes starts over.
        """
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
