"""`…/patterns`, `…/authors/{login}/patterns`, `…/authors/{login}/export`: what is remembered of authors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from aiohttp import web

from bot.adapters.web.api.guard import Guard
from bot.adapters.web.api.refusals import not_found
from bot.adapters.web.api.replies import number, page_of, reply
from bot.adapters.web.sharing import Shared
from bot.domain.judged import Judged, judged
from bot.domain.memory import Record, last_hours, reaches_back
from bot.domain.model import Account
from bot.domain.patterns import all_patterns, patterns
from bot.domain.rules import History, Rules
from bot.domain.visits import Visit
from bot.ports import RuleBook

HOURS = 168
MOST_HOURS = 24 * 366
"""A year; the window before it, for the trend, is as long again."""


_Both = tuple[tuple[Judged, ...], tuple[Judged, ...]]
"""The rows of a window, and those of the one before."""


def shared_reports() -> Shared[Any, Any]:
    """Keeps what costs much: a whole repository's figures are worked out for two callers at once, no more."""
    return Shared(1.0, most=200, at_once=2)


class Records(Protocol):
    """Whoever remembers pull requests."""

    async def records(
        self, repository_id: int, since: datetime, author_id: int | None = None, *, shared: bool = False
    ) -> tuple[Record, ...]:
        """The records of a repository, or of one author in it, that were last active since then."""
        ...


class Archive(Records, Protocol):
    """Whoever remembers authors too."""

    async def author(self, repository_id: int, login: str, *, shared: bool = False) -> Account | None:
        """The author who has, or last had, this login there."""
        ...

    async def export(self, repository_id: int, account_id: int) -> dict[str, Any]:
        """All that is stored about somebody in a repository, less its deliveries."""
        ...

    async def deliveries(self, repository_id: int, account_id: int) -> tuple[str, ...]:
        """The ids of the stored deliveries of a repository that name somebody, oldest first."""
        ...

    async def delivered(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """These deliveries with their bodies, as far as those fit into a page."""
        ...


@dataclass(frozen=True, slots=True)
class AuthorRecords:
    """Answers about authors, to whoever may see their record."""

    archive: Archive
    rule_book: RuleBook
    now: Callable[[], datetime]
    shared: Shared[tuple[int, int, History], _Both] = field(default_factory=shared_reports)
    exporting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    def routes(self, guard: Guard) -> list[web.RouteDef]:
        """The three routes about authors."""
        return [
            guard.get("/patterns", self.all),
            guard.get("/authors/{login}/patterns", self.one),
            guard.get("/authors/{login}/export", self.export),
        ]

    async def all(self, request: web.Request, visit: Visit) -> web.Response:
        """Every author's patterns by login; without `triage` the agents' and the caller's own."""
        hours = number(request, "hours", HOURS, MOST_HOURS)
        rules = await self.rule_book.rules(visit.repository)
        where, told = visit.repository.id, rules.history
        now, before = await self.shared.of((where, hours, told), lambda: self._judged(where, hours, told))
        rows = [row for row in now if is_seen(visit, row.author, rules)]
        found = sorted(all_patterns(rows, before, rules.gates, hours).items())
        shown, links = page_of(request, found)
        return reply(request, {login: known.as_json() for login, known in shown}, links=links)

    async def one(self, request: web.Request, visit: Visit) -> web.Response:
        """One author's patterns; the empty ones for whoever has no pull requests here."""
        hours = number(request, "hours", HOURS, MOST_HOURS)
        rules = await self.rule_book.rules(visit.repository)
        author = await self._author(request, visit, rules)
        now, before = await self._judged(visit.repository.id, hours, rules.history, author.id)
        return reply(request, patterns(now, before, rules.gates, author.login, hours).as_json())

    async def export(self, request: web.Request, visit: Visit) -> web.Response:
        """All that is stored about an author; a page of pull requests and deliveries at a time."""
        rules = await self.rule_book.rules(visit.repository)
        author = await self._author(request, visit, rules)
        where = visit.repository
        async with self.exporting:  # every stored delivery of the repository is searched
            found = await self.archive.export(where.id, author.id)
            ids = await self.archive.deliveries(where.id, author.id)
            pull_requests = found["pull_requests"]
            page, links = page_of(request, range(max(len(pull_requests), len(ids))))
            deliveries = await self.archive.delivered([ids[row] for row in page if row < len(ids)])
        about = {"login": author.login, "id": author.id, "repository": where.full_name}
        shown = [pull_requests[row] for row in page if row < len(pull_requests)]
        whole = {**about, **found, "pull_requests": shown, "deliveries": deliveries}
        return reply(request, whole, links=links)

    async def _author(self, request: web.Request, visit: Visit, rules: Rules) -> Account:
        login = request.match_info["login"]
        if visit.account and visit.account.login.lower() == login.lower():
            return visit.account
        author = await self.archive.author(visit.repository.id, login, shared=rules.history.shared)
        author = author or Account(-1, login, bot=login.endswith("[bot]"))
        if not is_seen(visit, author, rules):
            raise not_found("There is no such author, or the token's holder may not see their record.")
        return author

    async def _judged(
        self, repository_id: int, hours: int, told: History, author_id: int | None = None
    ) -> _Both:
        window = last_hours(hours, self.now())
        dead_after = timedelta(days=told.dead_after_days)
        since = reaches_back(window.before, dead_after)
        records = await self.archive.records(repository_id, since, author_id, shared=told.shared)
        return await asyncio.to_thread(
            lambda: (judged(records, window, dead_after), judged(records, window.before, dead_after))
        )


def is_seen(visit: Visit, author: Account, rules: Rules) -> bool:
    """Whether an author's record is shown to the holder of this token."""
    return visit.sees(author, agent=rules.authors.is_agent(author.login, bot=author.bot))
