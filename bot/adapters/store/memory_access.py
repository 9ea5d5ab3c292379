"""The memory as the engine, the API and the commands ask it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.adapters.store import (
    memory,
    memory_counts,
    memory_names,
    memory_people,
    memory_replies,
    memory_sharing,
    memory_weeks,
)
from bot.adapters.store.database import Database
from bot.adapters.store.memory_counts import Broken, Counts, Heeded, Unheard
from bot.domain.commands.replies import Stored
from bot.domain.fixes import Fix
from bot.domain.memory import Record, Window
from bot.domain.model import Account, Repository
from bot.domain.replied import Replied
from bot.domain.reviewing import Reviewing
from bot.domain.tracked import Observation


class SqlMemory:
    """`bot.ports.Memory`: reads only; it is written by turns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def repository(self, repository_id: int) -> Repository | None:
        """The repository as last seen, with its installation; None where the App never was."""
        return await self._database.read(lambda t: memory.find_repository(t, repository_id))

    async def repository_named(self, full_name: str) -> Repository | None:
        """The repository of this name, in any case."""
        return await self._database.read(lambda t: memory.find_repository(t, full_name))

    async def active(self, since: datetime) -> tuple[Repository, ...]:
        """The repositories in which anything was judged since then."""
        return await self._database.read(lambda t: memory.active_repositories(t, since))

    async def records(
        self, repository_id: int, since: datetime, author_id: int | None = None, *, shared: bool = False
    ) -> tuple[Record, ...]:
        """The records of a repository, or of one author in it, that were last active since then."""
        find = memory_sharing.records if shared else memory.records_of
        return await self._database.read(lambda t: find(t, repository_id, since, author_id))

    async def newest(self, repository_id: int, author_id: int, most: int) -> tuple[Record, ...]:
        """An author's latest records in a repository."""
        return await self._database.read(lambda t: memory.newest_records(t, repository_id, author_id, most))

    async def authored(
        self, repository_id: int, since: datetime, author_id: int, *, shared: bool = False
    ) -> tuple[tuple[Record, ...], dict[str, Fix]]:
        """An author's records that were last active since then, and their latest fixes however long ago."""
        find = memory_sharing.authored if shared else memory.authored
        return await self._database.read(lambda t: find(t, repository_id, since, author_id))

    async def author(self, repository_id: int, login: str, *, shared: bool = False) -> Account | None:
        """The author who has, or last had, this login there."""
        find = memory_sharing.author_named if shared else memory.author_named
        return await self._database.read(lambda t: find(t, repository_id, login))

    async def documents(self, lane: str) -> tuple[Any, ...]:
        """The documents of a pull request, newest first."""
        return await self._database.read(lambda t: memory.documents_of(t, lane))

    async def forgotten(self, repository_id: int) -> dict[int, datetime]:
        """Who asked to be forgotten in a repository, by account id, and when they last did."""
        return await self._database.read(lambda t: memory_names.forgotten_in(t, repository_id))

    async def replies(self, lane: str) -> tuple[Replied, ...]:
        """The answers to commands in a thread, oldest first."""
        return await self._database.read(lambda t: memory_replies.replies_of(t, lane))

    async def stored(self, repository_id: int, account_id: int) -> Stored:
        """How much is stored about somebody in a repository."""
        return await self._database.read(lambda t: memory_people.stored(t, repository_id, account_id))

    async def export(self, repository_id: int, account_id: int) -> dict[str, Any]:
        """All that is stored about somebody in a repository."""
        return await self._database.read(lambda t: memory_people.export(t, repository_id, account_id))

    async def deliveries(self, repository_id: int, account_id: int) -> tuple[str, ...]:
        """The ids of the stored deliveries of a repository that name somebody, oldest first."""
        return await self._database.read(
            lambda t: memory_people.deliveries_naming(t, repository_id, account_id)
        )

    async def delivered(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """These deliveries with their bodies, as far as those fit into a page of an export."""
        return await self._database.read(lambda t: memory_people.exported_deliveries(t, ids))

    async def weekly_issue(self, repository_id: int) -> int | None:
        """The number of the repository's summary issue, as far as known."""
        return await self._database.read(lambda t: memory_weeks.issue_of(t, repository_id))

    async def was_told(self, repository_id: int, week: str) -> bool:
        """Whether the clock's run for this week is decided."""
        return await self._database.read(lambda t: memory_weeks.was_run(t, repository_id, week))

    async def counts(self) -> Counts:
        """The queue as it is now, for the operator."""
        return await self._database.read(memory_counts.counts)

    async def broken(self, since: datetime) -> Counter[Broken]:
        """In how many pull requests each tag was named since then, by repository and author."""
        return await self._database.read(lambda t: memory_counts.broken(t, since))

    async def unheard(self, since: datetime) -> Counter[Unheard]:
        """How many verdicts since then do not count, by repository, account and stance."""
        return await self._database.read(lambda t: memory_counts.unheard(t, since))

    async def heeded(self, window: Window) -> Counter[Heeded]:
        """How many items named in the window were followed, by whom, to whom and about what."""
        return await self._database.read(lambda t: memory_counts.heeded(t, window))

    async def observed(self, window: Window) -> tuple[Observation, ...]:
        """What came of the items that an iteration in the window could tell about, without names."""
        return await self._database.read(lambda t: memory_counts.observed(t, window))

    async def reviewed(self, window: Window) -> dict[str, tuple[Reviewing, ...]]:
        """What became of the validators' claims in the window, by repository."""
        return await self._database.read(lambda t: memory_counts.reviewed(t, window))
