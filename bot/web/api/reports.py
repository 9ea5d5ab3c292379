"""API reports on a repository's authors, reviewers, advice and lessons."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from aiohttp import web

from bot.gates.config import HistoryRules, RepositoryRules
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.github.model import TokenAccess
from bot.history.forget import export_deliveries, export_person, find_deliveries_naming
from bot.history.model import earliest_activity, window_of_last_hours
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
from bot.history.store import find_author, load_records
from bot.lessons.fetch import fetch_lessons, lesson_query
from bot.lessons.model import MAX_LESSONS, MIN_BROKEN, LessonReport
from bot.lessons.text import report_json
from bot.markdown.links import LinkContext
from bot.store.store import Store
from bot.values import Account
from bot.web.api.access import RepositoryGuard
from bot.web.cache import SingleFlightCache
from bot.web.responses import api_not_found, cached_response, paginate, query_integer

CALLER = "@me"
"""The holder of the token, in place of a login."""
MAX_LISTED = 50
_MAX_AGE = 60.0  # as long as a config is taken from the cache
DEFAULT_HOURS = 168
MAX_REPORT_HOURS = 24 * 366
"""A year; the window before it, for the trend, is as long again."""


_Both = tuple[tuple[PullRequestOutcome, ...], tuple[PullRequestOutcome, ...]]
"""The rows of a window, and those of the one before."""


def report_cache() -> SingleFlightCache[Any, Any]:
    """Cache a whole repository's figures, which at most two callers compute at once."""
    return SingleFlightCache(1.0, max_size=200, concurrency=2)


@dataclass(frozen=True, slots=True)
class AuthorEndpoints:
    """Endpoints about authors, for callers who may see their record."""

    store: Store
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

    async def all(self, request: web.Request, access: TokenAccess) -> web.Response:
        """Every author's patterns by login; without `triage` the agents' and the caller's own."""
        hours = query_integer(request, "hours", DEFAULT_HOURS, MAX_REPORT_HOURS)
        rules = await self.rule_book.rules(access.repository)
        repository_id, history_rules = access.repository.id, rules.history
        now, before = await self.shared.get(
            (repository_id, hours, history_rules), lambda: self._outcomes(repository_id, hours, history_rules)
        )
        rows = [row for row in now if is_record_visible(access, row.author, rules)]
        patterns = sorted(compute_all_patterns(rows, before, rules.gates, hours).items())
        page, links = paginate(request, patterns)
        return cached_response(
            request, {login: author_patterns.as_json() for login, author_patterns in page}, links=links
        )

    async def one(self, request: web.Request, access: TokenAccess) -> web.Response:
        """One author's patterns; empty ones for an author without pull requests here."""
        hours = query_integer(request, "hours", DEFAULT_HOURS, MAX_REPORT_HOURS)
        rules = await self.rule_book.rules(access.repository)
        author = await self._author(request, access, rules)
        now, before = await self._outcomes(access.repository.id, hours, rules.history, author.id)
        return cached_response(
            request, compute_patterns(now, before, rules.gates, author.login, hours).as_json()
        )

    async def export(self, request: web.Request, access: TokenAccess) -> web.Response:
        """Everything stored about an author; a page of pull requests and deliveries at a time."""
        rules = await self.rule_book.rules(access.repository)
        author = await self._author(request, access, rules)
        repository = access.repository
        async with self.exporting:  # every stored delivery of the repository is searched
            stored = await self.store.read(export_person, repository.id, author.id)
            ids = await self.store.read(find_deliveries_naming, repository.id, author.id)
            pull_requests = stored["pull_requests"]
            page, links = paginate(request, range(max(len(pull_requests), len(ids))))
            deliveries = await self.store.read(
                export_deliveries, [ids[row] for row in page if row < len(ids)]
            )
        about = {"login": author.login, "id": author.id, "repository": repository.full_name}
        pulls = [pull_requests[row] for row in page if row < len(pull_requests)]
        whole = {**about, **stored, "pull_requests": pulls, "deliveries": deliveries}
        return cached_response(request, whole, links=links)

    async def _author(self, request: web.Request, access: TokenAccess, rules: RepositoryRules) -> Account:
        login = request.match_info["login"]
        if access.account and access.account.login.lower() == login.lower():
            return access.account
        author = await self.store.read(find_author, access.repository.id, login, shared=rules.history.shared)
        author = author or Account(-1, login, bot=login.endswith("[bot]"))
        if not is_record_visible(access, author, rules):
            raise api_not_found("The author does not exist, or this token can't see their record.")
        return author

    async def _outcomes(
        self, repository_id: int, hours: int, rules: HistoryRules, author_id: int | None = None
    ) -> _Both:
        window = window_of_last_hours(hours, self.now())
        inactive_after = timedelta(days=rules.dead_after_days)
        since = earliest_activity(window.before, inactive_after)
        records = await self.store.read(load_records, repository_id, since, author_id, shared=rules.shared)
        return await asyncio.to_thread(
            lambda: (
                outcomes_in_window(records, window, inactive_after),
                outcomes_in_window(records, window.before, inactive_after),
            )
        )


def is_record_visible(access: TokenAccess, author: Account, rules: RepositoryRules) -> bool:
    """Whether an author's record is shown to the holder of this token."""
    return access.record_visibility(author, agent=rules.authors.is_agent(author.login, bot=author.bot))


_Rates = tuple[AdviceRates, tuple[tuple[Account, AdviceRates], ...]]
"""All authors' together, and each one's."""


@dataclass(frozen=True, slots=True)
class AdviceReport:
    """Endpoint about the briefs of a repository, by author for callers who may see their record."""

    store: Store
    rule_book: RuleBook
    now: Callable[[], datetime]
    shared: SingleFlightCache[tuple[int, int], _Rates] = field(default_factory=report_cache)

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The route of the report."""
        return [guard.get("/advice", self.report)]

    async def report(self, request: web.Request, access: TokenAccess) -> web.Response:
        """All authors together, by login those whom the caller may see, and what a person should look at."""
        hours = query_integer(request, "hours", DEFAULT_HOURS, MAX_REPORT_HOURS)
        rules = await self.rule_book.rules(access.repository)
        repository_id = access.repository.id
        rates, authors = await self.shared.get(
            (repository_id, hours), lambda: self._rates(repository_id, hours)
        )
        visible = {
            author.login: author_rates.figures
            for author, author_rates in authors
            if is_record_visible(access, author, rules)
        }
        content = {
            "period_hours": hours,
            "all": rates.figures,
            "authors": visible,
            "low_success": rates.low_figures,
        }
        return cached_response(request, content)

    async def _rates(self, repository_id: int, hours: int) -> _Rates:
        window = window_of_last_hours(hours, self.now())
        records = await self.store.read(load_records, repository_id, earliest_activity(window))
        return await asyncio.to_thread(
            lambda: (advice_rates(records, window), advice_rates_by_author(records, window))
        )


@dataclass(frozen=True, slots=True)
class GroundingReport:
    """Endpoint about validators, for callers who may see their record."""

    store: Store
    rule_book: RuleBook
    now: Callable[[], datetime]
    shared: SingleFlightCache[tuple[int, int], tuple[ReviewerRates, ...]] = field(
        default_factory=report_cache
    )

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The route of the report."""
        return [guard.get("/grounding", self.report)]

    async def report(self, request: web.Request, access: TokenAccess) -> web.Response:
        """All validators together, and by name those whose record the caller may see."""
        hours = query_integer(request, "hours", DEFAULT_HOURS, MAX_REPORT_HOURS)
        rules = await self.rule_book.rules(access.repository)
        repository_id = access.repository.id
        rates = await self.shared.get(
            (repository_id, hours), lambda: self._reviewer_rates(repository_id, hours)
        )
        visible = {item.validator.name: item.figures for item in rates if _is_visible(access, item, rules)}
        everybody = combine_reviewer_rates(rates).figures
        return cached_response(request, {"period_hours": hours, "all": everybody, "validators": visible})

    async def _reviewer_rates(self, repository_id: int, hours: int) -> tuple[ReviewerRates, ...]:
        window = window_of_last_hours(hours, self.now())
        records = await self.store.read(load_records, repository_id, window.start)
        return await asyncio.to_thread(compute_reviewer_rates, records, window)


def _is_visible(access: TokenAccess, rates: ReviewerRates, rules: RepositoryRules) -> bool:
    validator = rates.validator
    _, _, identity = validator.key.partition("user:")
    account = Account(int(identity) if identity.isdigit() else -1, validator.name, bot=validator.bot)
    return is_record_visible(access, account, rules)


@dataclass(frozen=True, slots=True)
class LessonEndpoints:
    """The endpoint of lessons, of the repository or of one author whose record the caller may see."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    now: Callable[[], datetime]
    site: LinkContext
    shared: SingleFlightCache[Any, LessonReport] = field(
        default_factory=lambda: SingleFlightCache(_MAX_AGE, max_size=500, concurrency=2)
    )

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The route of the lessons."""
        return [guard.get("/lessons", self.lessons)]

    async def lessons(self, request: web.Request, access: TokenAccess) -> web.Response:
        """The lessons with evidence and effect, and the section to copy."""
        most = query_integer(request, "max", MAX_LESSONS, MAX_LISTED)
        least = query_integer(request, "least", MIN_BROKEN, 100)
        rules, repository = await self.rule_book.rules(access.repository), access.repository
        author = await self._author(request.query.get("agent"), access, rules)
        query = replace(lesson_query(repository, rules, self.now(), author), most=most, least=least)
        report = await self.shared.get(
            (repository.id, repository.private, author, most, least, rules.gates, rules.authors),
            lambda: fetch_lessons(self.store, self.github, repository, rules, query),
        )
        return cached_response(request, report_json(report, repository, self.site.web))

    async def _author(self, login: str | None, access: TokenAccess, rules: RepositoryRules) -> Account | None:
        if login is None:
            return None
        caller = access.account
        if caller and login.lower() in {CALLER, caller.login.lower()}:
            return caller
        author = await self.store.read(find_author, access.repository.id, login)
        if author is None or not is_record_visible(access, author, rules):
            raise api_not_found("The author does not exist, or this token can't see their record.")
        return author
