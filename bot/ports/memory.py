"""What does the engine ask of what is remembered beyond one pull request?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from bot.domain.commands.replies import Stored
from bot.domain.fixes import Fix
from bot.domain.memory import Record
from bot.domain.model import Account, Repository
from bot.domain.replied import Replied


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

    async def forgotten(self, repository_id: int) -> Mapping[int, datetime]:
        """Who asked to be forgotten in a repository, by account id, and when they last did."""
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
