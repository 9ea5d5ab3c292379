"""Endpoints that read: pull requests, reports on authors and reviewers, gates, and the API's description."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

import msgspec
from aiohttp import web

from bot.gates import schemas
from bot.gates.config import HistoryRules, RepositoryRules
from bot.gates.model import Gate
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.github.errors import GitHubError
from bot.github.model import TokenAccess
from bot.history.fetch import Outcomes, fetch_author, fetch_outcomes
from bot.history.forget import export_deliveries, export_person, find_deliveries_naming
from bot.history.model import earliest_activity, window_of_last_hours
from bot.history.patterns import compute_all_patterns, compute_patterns
from bot.history.rates import (
    AdviceRates,
    ReviewerRates,
    advice_rates,
    advice_rates_by_author,
    combine_reviewer_rates,
    compute_reviewer_rates,
)
from bot.history.store import find_author, load_documents, load_records
from bot.lessons.fetch import fetch_lessons, lesson_query
from bot.lessons.model import MAX_LESSONS, MIN_BROKEN, LessonReport
from bot.lessons.text import report_json
from bot.markdown.links import LinkContext
from bot.pull_request.facts import DecisionTime
from bot.pull_request.model import PullRequest
from bot.store.pull_requests import load_pull_request
from bot.store.store import Store
from bot.values import Account
from bot.web.api.access import RepositoryGuard
from bot.web.cache import SingleFlightCache
from bot.web.responses import (
    ApiError,
    api_not_found,
    cached_response,
    github_unavailable,
    paginate,
    parse_integer,
    query_integer,
)

_MAX_NUMBER = 2**31 - 1


def parse_number(text: str) -> int:
    """Parse a pull request's number from the path; raises `ApiError`."""
    number = parse_integer(text, _MAX_NUMBER)
    if number is None:
        raise api_not_found("There is no such pull request.")
    return number


def _describe_progress(
    pull_request: PullRequest, rules: RepositoryRules, site: LinkContext
) -> dict[str, Any]:
    """The iterations of a pull request, and its claims."""
    from bot.grounding.audit import grounding_report
    from bot.history.export import best_tracker, feedback_history, iteration_history
    from bot.iterations.selection import selection_report

    report = selection_report(pull_request, rules)
    scored = report.trajectory.scored if report else ()
    return {
        "iteration_history": iteration_history(scored, pull_request.tracked),
        "feedback_history": feedback_history(scored, rules.gates, pull_request.tracked),
        "best_tracker": best_tracker(report.trajectory, pull_request.repository, site.web.host_url)
        if report
        else None,
        "feedback_log": [brief.as_document() for brief in pull_request.briefs],
        "grounding": grounding_report(pull_request.grounding, pull_request.head, rules.grounding.catalogue),
    }


def describe_findings(pull_request: PullRequest, rules: RepositoryRules, now: datetime) -> dict[str, Any]:
    """All findings of a pull request, and whose turn it is."""
    from bot.feedback.build import build_feedback
    from bot.history.export import export_finding

    feedback = build_feedback(pull_request, rules, DecisionTime(now, ""))
    ledger = feedback.iteration.ledger if feedback else None
    unreviewed = "reviewer" if pull_request.open else "nobody"
    return {
        "findings": [export_finding(finding, rules.gates) for finding in ledger.findings] if ledger else [],
        "omitted": ledger.omitted if ledger else 0,
        "turn": feedback.turn.value if feedback else unreviewed,
        "pending": list(feedback.pending) if feedback else [],
        "head": feedback.iteration.head if feedback else None,
        "current_head": pull_request.head,
        "iteration": feedback.iteration.number if feedback else None,
    }


CALLER = "@me"
"""The holder of the token, in place of a login."""
MAX_LISTED = 50
_MAX_AGE = 60.0  # as long as a config is taken from the cache
DEFAULT_HOURS = 168
MAX_REPORT_HOURS = 24 * 366
"""A year; the window before it, for the trend, is as long again."""

_Advice = tuple[AdviceRates, tuple[tuple[Account, AdviceRates], ...]]
"""All authors' rates together, and each one's."""
Key = TypeVarTuple("Key")
Figures = TypeVar("Figures")


@dataclass(frozen=True, slots=True)
class RepositoryEndpoints:
    """What is recorded about a repository; of its authors each caller sees the records that they may see."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    site: LinkContext
    now: Callable[[], datetime]
    figures: SingleFlightCache[Any, Any] = field(
        default_factory=lambda: SingleFlightCache(1.0, max_size=600, concurrency=2)
    )
    """A whole repository's figures, which at most two callers compute at once."""
    learned: SingleFlightCache[Any, LessonReport] = field(
        default_factory=lambda: SingleFlightCache(_MAX_AGE, max_size=500, concurrency=2)
    )
    exporting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The routes below a repository's, for callers who may read there."""
        return [
            guard.get("/pulls/{number}/feedback", self.feedback),
            guard.get("/pulls/{number}/findings", self.all_findings),
            guard.get("/pulls/{number}/selection-report", self.selection_report),
            guard.get("/gates", self.gates),
            guard.get("/patterns", self.all_patterns),
            guard.get("/authors/{login}/patterns", self.patterns),
            guard.get("/authors/{login}/export", self.export),
            guard.get("/grounding", self.grounding),
            guard.get("/advice", self.advice),
            guard.get("/lessons", self.lessons),
        ]

    async def feedback(self, request: web.Request, access: TokenAccess) -> web.Response:
        """The documents, newest first, and the progress of the iterations."""
        pull, lane = await self._load(request, access)
        page, links = paginate(request, await self.store.read(load_documents, lane))
        rules = await self.rule_book.rules(access.repository)
        progress = _describe_progress(pull, rules, self.site)
        return cached_response(request, {"documents": page, **progress}, links=links)

    async def all_findings(self, request: web.Request, access: TokenAccess) -> web.Response:
        """Every finding with its status and history, open or closed, and whose turn it is."""
        pull, _ = await self._load(request, access)
        rules = await self.rule_book.rules(access.repository)
        content = await asyncio.to_thread(describe_findings, pull, rules, self.now())
        page, links = paginate(request, content["findings"])
        return cached_response(request, {**content, "findings": page}, links=links)

    async def selection_report(self, request: web.Request, access: TokenAccess) -> web.Response:
        """The report as Markdown."""
        from bot.iterations.selection import selection_report_markdown

        pull, _ = await self._load(request, access)
        text = selection_report_markdown(pull, await self.rule_book.rules(access.repository))
        if text is None:
            raise api_not_found("There is no selection report: fewer than two iterations were reviewed.")
        return cached_response(request, text, content_type="text/markdown")

    async def _load(self, request: web.Request, access: TokenAccess) -> tuple[PullRequest, str]:
        lane = f"pr:{access.repository.id}:{parse_number(request.match_info['number'])}"
        pull = await self.store.read(load_pull_request, lane)
        if pull is None or pull.repository.id != access.repository.id:
            raise api_not_found("Nothing is recorded about this pull request.")
        return pull, lane

    async def gates(self, request: web.Request, access: TokenAccess) -> web.Response:
        """The gates in force in a repository, in order."""
        rules = await self.rule_book.rules(access.repository)
        return cached_response(request, [_gate(gate) for gate in rules.gates])

    async def all_patterns(self, request: web.Request, access: TokenAccess) -> web.Response:
        """Every author's patterns by login; without `triage` the agents' and the caller's own."""
        hours, rules = await self._read_period(request, access)
        now, before = await self._shared(self._outcomes, access.repository.id, hours, rules.history)
        rows = [row for row in now if _is_record_visible(access, row.author, rules)]
        patterns = sorted(compute_all_patterns(rows, before, rules.gates, hours).items())
        page, links = paginate(request, patterns)
        return cached_response(
            request, {login: author_patterns.as_json() for login, author_patterns in page}, links=links
        )

    async def patterns(self, request: web.Request, access: TokenAccess) -> web.Response:
        """One author's patterns; empty ones for an author without pull requests here."""
        hours, rules = await self._read_period(request, access)
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

    async def advice(self, request: web.Request, access: TokenAccess) -> web.Response:
        """All authors together, by login those whom the caller may see, and what a person should look at."""
        hours, rules = await self._read_period(request, access)
        rates, authors = await self._shared(self._advice_rates, access.repository.id, hours)
        visible = {
            author.login: author_rates.figures
            for author, author_rates in authors
            if _is_record_visible(access, author, rules)
        }
        content = {
            "period_hours": hours,
            "all": rates.figures,
            "authors": visible,
            "low_success": rates.low_figures,
        }
        return cached_response(request, content)

    async def grounding(self, request: web.Request, access: TokenAccess) -> web.Response:
        """All validators together, and by name those whose record the caller may see."""
        hours, rules = await self._read_period(request, access)
        rates = await self._shared(self._reviewer_rates, access.repository.id, hours)
        visible = {
            item.validator.name: item.figures
            for item in rates
            if _is_record_visible(access, _validator_account(item), rules)
        }
        everybody = combine_reviewer_rates(rates).figures
        return cached_response(request, {"period_hours": hours, "all": everybody, "validators": visible})

    async def lessons(self, request: web.Request, access: TokenAccess) -> web.Response:
        """The lessons of all authors or of one, with evidence and effect, and the section to copy."""
        most = query_integer(request, "max", MAX_LESSONS, MAX_LISTED)
        least = query_integer(request, "least", MIN_BROKEN, 100)
        rules, repository = await self.rule_book.rules(access.repository), access.repository
        author = await self._learner(request.query.get("agent"), access, rules)
        query = replace(lesson_query(repository, rules, self.now(), author), most=most, least=least)
        report = await self.learned.get(
            (repository.id, repository.private, author, most, least, rules.gates, rules.authors),
            lambda: fetch_lessons(self.store, self.github, repository, rules, query),
        )
        return cached_response(request, report_json(report, repository, self.site.web))

    async def _shared(self, compute: Callable[[*Key], Awaitable[Figures]], *key: *Key) -> Figures:
        """What a method computes for this key; callers who ask at once share it."""
        figures: Figures = await self.figures.get((compute, *key), lambda: compute(*key))
        return figures

    async def _read_period(self, request: web.Request, access: TokenAccess) -> tuple[int, RepositoryRules]:
        """The hours that the query names, and the rules in force."""
        hours = query_integer(request, "hours", DEFAULT_HOURS, MAX_REPORT_HOURS)
        return hours, await self.rule_book.rules(access.repository)

    async def _author(self, request: web.Request, access: TokenAccess, rules: RepositoryRules) -> Account:
        login = request.match_info["login"]
        if access.account and access.account.login.lower() == login.lower():
            return access.account
        author = await fetch_author(self.store, access.repository, login, rules)
        if not _is_record_visible(access, author, rules):
            raise _hidden_author()
        return author

    async def _learner(
        self, login: str | None, access: TokenAccess, rules: RepositoryRules
    ) -> Account | None:
        """The author whose lessons are asked for; None for everybody's."""
        if login is None:
            return None
        caller = access.account
        if caller and login.lower() in {CALLER, caller.login.lower()}:
            return caller
        author = await self.store.read(find_author, access.repository.id, login)
        if author is None or not _is_record_visible(access, author, rules):
            raise _hidden_author()
        return author

    async def _outcomes(
        self, repository_id: int, hours: int, rules: HistoryRules, author_id: int | None = None
    ) -> tuple[Outcomes, Outcomes]:
        window = window_of_last_hours(hours, self.now())
        return await fetch_outcomes(self.store, repository_id, window, rules, author_id)

    async def _advice_rates(self, repository_id: int, hours: int) -> _Advice:
        window = window_of_last_hours(hours, self.now())
        records = await self.store.read(load_records, repository_id, earliest_activity(window))
        return await asyncio.to_thread(
            lambda: (advice_rates(records, window), advice_rates_by_author(records, window))
        )

    async def _reviewer_rates(self, repository_id: int, hours: int) -> tuple[ReviewerRates, ...]:
        window = window_of_last_hours(hours, self.now())
        records = await self.store.read(load_records, repository_id, window.start)
        return await asyncio.to_thread(compute_reviewer_rates, records, window)


def _is_record_visible(access: TokenAccess, author: Account, rules: RepositoryRules) -> bool:
    """Whether an author's record is shown to the holder of this token."""
    return access.record_visibility(author, agent=rules.authors.is_agent(author.login, bot=author.bot))


def _validator_account(rates: ReviewerRates) -> Account:
    validator = rates.validator
    _, _, identity = validator.key.partition("user:")
    return Account(int(identity) if identity.isdigit() else -1, validator.name, bot=validator.bot)


def _hidden_author() -> ApiError:
    return api_not_found("The author does not exist, or this token can't see their record.")


PUBLIC_MAX_AGE = 30.0
"""Seconds for which GitHub is not asked again who we are, whatever it said."""
_SCHEMA = "application/schema+json"


@dataclass(frozen=True, slots=True)
class PublicEndpoints:
    """Answers that need no token."""

    me: Callable[[], Awaitable[Account]]
    shared: SingleFlightCache[str, Account | GitHubError] = field(
        default_factory=lambda: SingleFlightCache(PUBLIC_MAX_AGE)
    )

    def routes(self) -> list[web.RouteDef]:
        """The routes about the bot itself."""
        return [
            web.get("/api/v1/app", self.app, allow_head=False),
            web.get("/schemas/{name}.json", self.schema, allow_head=False),
            web.get("/openapi.json", self.openapi, allow_head=False),
        ]

    async def app(self, request: web.Request) -> web.Response:
        """The App's login: agents trust comments of this account only."""
        me = await self.shared.get("me", self._me)
        if isinstance(me, GitHubError):
            return github_unavailable(me, datetime.now(UTC)).response()
        return cached_response(request, {"id": me.id, "login": me.login})

    async def _me(self) -> Account | GitHubError:
        try:
            return await self.me()
        except GitHubError as error:
            return error  # cached as well: anybody may ask, as often as they like

    async def schema(self, request: web.Request) -> web.Response:
        """A published schema by its name."""
        try:
            text = schemas.schema_text(request.match_info["name"])
        except LookupError:
            return api_not_found(
                f"Unknown schema. Use one of {', '.join(schemas.schema_names())}."
            ).response()
        return cached_response(request, text, content_type=_SCHEMA)

    async def openapi(self, request: web.Request) -> web.Response:
        """The description of this API."""
        return cached_response(request, describe_api())


def _gate(gate: Gate) -> dict[str, Any]:
    return {**asdict(gate), "severity": gate.severity.value, "aspect": gate.aspect.value}


_VALIDATIONS = "/api/v1/repos/{owner}/{repo}/pulls/{number}/validations"


@cache
def describe_api() -> dict[str, Any]:
    """The OpenAPI description of the HTTP API: `openapi.yml` with the schemas of documents and reports."""
    description: dict[str, Any] = msgspec.yaml.decode(Path(__file__).with_name("openapi.yml").read_bytes())
    del description["x-parts"]
    text = schemas.schema_text("actionable-feedback").replace("#/$defs/", "#/components/schemas/")
    document = json.loads(text)
    parts = document.pop("$defs")
    document = _without(document, "$id", "$schema", "examples")
    description["components"]["schemas"] |= {**parts, "ActionableFeedback": document}
    body = description["paths"][_VALIDATIONS]["post"]["requestBody"]["content"]["application/json"]
    for name in ("sarif", "rdjson", "findings"):
        schema: Any = schemas.schema_validator(f"reports/{name}").schema
        body["schema"]["anyOf"].append(_without(schema, "$schema", "$defs", "title"))
    return description


def _without(schema: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in keys}
