"""API reports on a repository's authors, reviewers and advice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from aiohttp import web

from bot.gates.config import HistoryRules, RepositoryRules
from bot.gates.rule_book import RuleBook
from bot.github.model import TokenAccess
from bot.history.model import HistoryRecord, earliest_activity, window_of_last_hours
from bot.history.outcomes import PullRequestOutcome, outcomes_in_window
from bot.history.patterns import compute_all_patterns, compute_patterns
from bot.history.rates import (
    AdviceRates,
    ReviewerRates,
    advice_rates,
    advice_rates_by_author,
    combine_reviewer_rates,
    compute_reviewer_rates,
)
from bot.values import Account
from bot.web.api.access import RepositoryGuard
from bot.web.cache import SingleFlightCache
from bot.web.responses import api_not_found, cached_response, paginate, query_integer

DEFAULT_HOURS = 168
MAX_REPORT_HOURS = 24 * 366
"""A year; the window before it, for the trend, is as long again."""


_Both = tuple[tuple[PullRequestOutcome, ...], tuple[PullRequestOutcome, ...]]
"""The rows of a window, and those of the one before."""


def report_cache() -> SingleFlightCache[Any, Any]:
    """Keeps what costs much: a whole repository's figures are worked out for two callers at once, no more."""
    return SingleFlightCache(1.0, most=200, at_once=2)


class RecordLookup(Protocol):
    """Whoever remembers pull requests."""

    async def records(
        self, repository_id: int, since: datetime, author_id: int | None = None, *, shared: bool = False
    ) -> tuple[HistoryRecord, ...]:
        """The records of a repository, or of one author in it, that were last active since then."""
        ...


class AuthorLookup(RecordLookup, Protocol):
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
class AuthorEndpoints:
    """Answers about authors, to whoever may see their record."""

    archive: AuthorLookup
    rule_book: RuleBook
    now: Callable[[], datetime]
    shared: SingleFlightCache[tuple[int, int, HistoryRules], _Both] = field(default_factory=report_cache)
    exporting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The three routes about authors."""
        return [
            guard.get("/patterns", self.all),
            guard.get("/authors/{login}/patterns", self.one),
            guard.get("/authors/{login}/export", self.export),
        ]

    async def all(self, request: web.Request, visit: TokenAccess) -> web.Response:
        """Every author's patterns by login; without `triage` the agents' and the caller's own."""
        hours = query_integer(request, "hours", DEFAULT_HOURS, MAX_REPORT_HOURS)
        rules = await self.rule_book.rules(visit.repository)
        where, told = visit.repository.id, rules.history
        now, before = await self.shared.of((where, hours, told), lambda: self._judged(where, hours, told))
        rows = [row for row in now if is_record_visible(visit, row.author, rules)]
        found = sorted(compute_all_patterns(rows, before, rules.gates, hours).items())
        shown, links = paginate(request, found)
        return cached_response(request, {login: known.as_json() for login, known in shown}, links=links)

    async def one(self, request: web.Request, visit: TokenAccess) -> web.Response:
        """One author's patterns; the empty ones for whoever has no pull requests here."""
        hours = query_integer(request, "hours", DEFAULT_HOURS, MAX_REPORT_HOURS)
        rules = await self.rule_book.rules(visit.repository)
        author = await self._author(request, visit, rules)
        now, before = await self._judged(visit.repository.id, hours, rules.history, author.id)
        return cached_response(
            request, compute_patterns(now, before, rules.gates, author.login, hours).as_json()
        )

    async def export(self, request: web.Request, visit: TokenAccess) -> web.Response:
        """All that is stored about an author; a page of pull requests and deliveries at a time."""
        rules = await self.rule_book.rules(visit.repository)
        author = await self._author(request, visit, rules)
        where = visit.repository
        async with self.exporting:  # every stored delivery of the repository is searched
            found = await self.archive.export(where.id, author.id)
            ids = await self.archive.deliveries(where.id, author.id)
            pull_requests = found["pull_requests"]
            page, links = paginate(request, range(max(len(pull_requests), len(ids))))
            deliveries = await self.archive.delivered([ids[row] for row in page if row < len(ids)])
        about = {"login": author.login, "id": author.id, "repository": where.full_name}
        shown = [pull_requests[row] for row in page if row < len(pull_requests)]
        whole = {**about, **found, "pull_requests": shown, "deliveries": deliveries}
        return cached_response(request, whole, links=links)

    async def _author(self, request: web.Request, visit: TokenAccess, rules: RepositoryRules) -> Account:
        login = request.match_info["login"]
        if visit.account and visit.account.login.lower() == login.lower():
            return visit.account
        author = await self.archive.author(visit.repository.id, login, shared=rules.history.shared)
        author = author or Account(-1, login, bot=login.endswith("[bot]"))
        if not is_record_visible(visit, author, rules):
            raise api_not_found("There is no such author, or the token's holder may not see their record.")
        return author

    async def _judged(
        self, repository_id: int, hours: int, told: HistoryRules, author_id: int | None = None
    ) -> _Both:
        window = window_of_last_hours(hours, self.now())
        inactive_after = timedelta(days=told.dead_after_days)
        since = earliest_activity(window.before, inactive_after)
        records = await self.archive.records(repository_id, since, author_id, shared=told.shared)
        return await asyncio.to_thread(
            lambda: (
                outcomes_in_window(records, window, inactive_after),
                outcomes_in_window(records, window.before, inactive_after),
            )
        )


def is_record_visible(visit: TokenAccess, author: Account, rules: RepositoryRules) -> bool:
    """Whether an author's record is shown to the holder of this token."""
    return visit.record_visibility(author, agent=rules.authors.is_agent(author.login, bot=author.bot))


_Rates = tuple[AdviceRates, tuple[tuple[Account, AdviceRates], ...]]
"""All authors' together, and each one's."""


@dataclass(frozen=True, slots=True)
class AdviceReport:
    """Answers about the briefs of a repository, by author to whoever may see their record."""

    archive: RecordLookup
    rule_book: RuleBook
    now: Callable[[], datetime]
    shared: SingleFlightCache[tuple[int, int], _Rates] = field(default_factory=report_cache)

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The one route."""
        return [guard.get("/advice", self.report)]

    async def report(self, request: web.Request, visit: TokenAccess) -> web.Response:
        """All authors together, by login those whom the caller may see, and what a person should look at."""
        hours = query_integer(request, "hours", DEFAULT_HOURS, MAX_REPORT_HOURS)
        rules = await self.rule_book.rules(visit.repository)
        where = visit.repository.id
        found, authors = await self.shared.of((where, hours), lambda: self._rates(where, hours))
        shown = {
            author.login: rates.figures
            for author, rates in authors
            if is_record_visible(visit, author, rules)
        }
        content = {
            "period_hours": hours,
            "all": found.figures,
            "authors": shown,
            "low_success": found.low_figures,
        }
        return cached_response(request, content)

    async def _rates(self, repository_id: int, hours: int) -> _Rates:
        window = window_of_last_hours(hours, self.now())
        records = await self.archive.records(repository_id, earliest_activity(window))
        return await asyncio.to_thread(
            lambda: (advice_rates(records, window), advice_rates_by_author(records, window))
        )


@dataclass(frozen=True, slots=True)
class GroundingReport:
    """Answers about validators, to whoever may see their record."""

    archive: RecordLookup
    rule_book: RuleBook
    now: Callable[[], datetime]
    shared: SingleFlightCache[tuple[int, int], tuple[ReviewerRates, ...]] = field(
        default_factory=report_cache
    )

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The one route."""
        return [guard.get("/grounding", self.report)]

    async def report(self, request: web.Request, visit: TokenAccess) -> web.Response:
        """All validators together, and by name those whose record the caller may see."""
        hours = query_integer(request, "hours", DEFAULT_HOURS, MAX_REPORT_HOURS)
        rules = await self.rule_book.rules(visit.repository)
        where = visit.repository.id
        found = await self.shared.of((where, hours), lambda: self._reviewing(where, hours))
        shown = {one.validator.name: one.figures for one in found if _is_seen(visit, one, rules)}
        everybody = combine_reviewer_rates(found).figures
        return cached_response(request, {"period_hours": hours, "all": everybody, "validators": shown})

    async def _reviewing(self, repository_id: int, hours: int) -> tuple[ReviewerRates, ...]:
        window = window_of_last_hours(hours, self.now())
        records = await self.archive.records(repository_id, window.start)
        return await asyncio.to_thread(compute_reviewer_rates, records, window)


def _is_seen(visit: TokenAccess, one: ReviewerRates, rules: RepositoryRules) -> bool:
    validator = one.validator
    _, _, identity = validator.key.partition("user:")
    account = Account(int(identity) if identity.isdigit() else -1, validator.name, bot=validator.bot)
    return is_record_visible(visit, account, rules)
