"""API of one pull request: feedback, selection report, submitted validations."""

from __future__ import annotations

import asyncio
import gc
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from aiohttp import web

from bot import regex
from bot.gates import schemas
from bot.gates.config import Permission, RepositoryRules
from bot.gates.rule_book import RuleBook
from bot.github.model import TokenAccess
from bot.history.store import load_documents
from bot.inbox.internal_deliveries import (
    SubmittedValidation,
    ValidationContent,
    document_content,
    is_sarif,
    sarif_content,
    validation_delivery,
)
from bot.pull_request import documents
from bot.pull_request.model import PullRequest
from bot.store.pull_requests import load_pull_request
from bot.store.store import Store
from bot.verdicts import sarif
from bot.web.api.access import RateLimiter, RepositoryGuard
from bot.web.bodies import BodyBudget, TooComplex, check_json
from bot.web.responses import (
    ApiError,
    api_not_found,
    cached_response,
    json_response,
    paginate,
    too_many_requests,
)

_MAX_NUMBER = 2**31 - 1

ProgressFunction = Callable[[PullRequest, RepositoryRules], dict[str, Any]]
"""`iteration_history`, `feedback_history`, `best_tracker` and `grounding` of a pull request."""
ReportFunction = Callable[[PullRequest, RepositoryRules], str | None]
"""The selection report, None where there is nothing to select from."""


FindingsFunction = Callable[[PullRequest, RepositoryRules], dict[str, Any]]
"""All findings of a pull request, and whose turn it is."""


@dataclass(frozen=True, slots=True)
class PullRequestEndpoints:
    """Endpoints of one pull request, for callers who may read its repository."""

    store: Store
    rule_book: RuleBook
    progress: ProgressFunction
    report: ReportFunction
    findings: FindingsFunction

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The routes about a pull request."""
        return [
            guard.get("/pulls/{number}/feedback", self.feedback),
            guard.get("/pulls/{number}/findings", self.all_findings),
            guard.get("/pulls/{number}/selection-report", self.selection_report),
        ]

    async def feedback(self, request: web.Request, access: TokenAccess) -> web.Response:
        """The documents, newest first, and the progress of the iterations."""
        pull, lane = await self._load(request, access)
        page, links = paginate(request, await self.store.read(load_documents, lane))
        rules = await self.rule_book.rules(access.repository)
        return cached_response(request, {"documents": page, **self.progress(pull, rules)}, links=links)

    async def all_findings(self, request: web.Request, access: TokenAccess) -> web.Response:
        """Every finding with its status and history, open or closed, and whose turn it is."""
        pull, _ = await self._load(request, access)
        rules = await self.rule_book.rules(access.repository)
        content = await asyncio.to_thread(self.findings, pull, rules)
        page, links = paginate(request, content["findings"])
        return cached_response(request, {**content, "findings": page}, links=links)

    async def selection_report(self, request: web.Request, access: TokenAccess) -> web.Response:
        """The report as Markdown."""
        pull, _ = await self._load(request, access)
        text = self.report(pull, await self.rule_book.rules(access.repository))
        if text is None:
            raise api_not_found("There is no selection report: fewer than two iterations were judged.")
        return cached_response(request, text, content_type="text/markdown")

    async def _load(self, request: web.Request, access: TokenAccess) -> tuple[PullRequest, str]:
        lane = f"pr:{access.repository.id}:{_parse_number(request.match_info['number'])}"
        pull = await self.store.read(load_pull_request, lane)
        if pull is None or pull.repository.id != access.repository.id:
            raise api_not_found("Nothing is recorded about this pull request.")
        return pull, lane


MAX_BODY = 10 * 1024 * 1024
BODY_TIMEOUT = 60.0
"""Seconds for a whole body: the sender is known, and a pipeline's line may be slow."""
PER_MINUTE = 30
"""Validations per minute and token."""
_MAX_VIOLATIONS = 5
# Workflows of forks have its token too, and nobody can see whether one may write.
_ACTIONS = "github-actions[bot]"
_SHA = regex.Regex(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ValidationEndpoint:
    """Accepts the findings of validators outside GitHub's events."""

    inbox: Store
    rule_book: RuleBook
    bodies: BodyBudget
    new_id: Callable[[], str]
    clock: Callable[[], datetime]
    rate: RateLimiter = field(default_factory=lambda: RateLimiter(PER_MINUTE))
    decoding: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a body is decoded: each may take a hundred megabytes."""

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The one route, for tokens that may write, and for Apps that the config names."""
        return [guard.post("/pulls/{number}/validations", self.take_in, Permission.READ)]

    async def take_in(self, request: web.Request, access: TokenAccess) -> web.Response:
        """202 once it is safe on disk."""
        number, head = _parse_number(request.match_info["number"]), _parse_head(request.query.get("head"))
        role = await self._role(access)
        submitted = SubmittedValidation(
            repository=access.repository,
            number=number,
            author=access.account,
            role=role,
            head=head,
            content=await self._content(request),
        )
        identity = f"validation:{self.new_id()}"
        await self.inbox.accept(validation_delivery(submitted, identity, self.clock()))
        return json_response(202, {"status": "queued", "delivery": identity})

    async def _content(self, request: web.Request) -> ValidationContent:
        # The guard has seen that it is there.
        token = hashlib.sha256(request.headers["Authorization"].split()[1].encode()).hexdigest()
        if wait := self.rate.spend(token):
            raise self.bodies.refuse(
                request, "rate", too_many_requests(wait, "Too many validations with this token")
            )
        reading = self.bodies.body(request, MAX_BODY, caller=token, seconds=BODY_TIMEOUT)
        async with reading as body, self.decoding:
            try:
                # Off the event loop: reading a log of ten megabytes must not hold up everybody else.
                return await asyncio.to_thread(_content, body)
            except TooComplex as reason:
                refusal = ApiError(422, f"The body can't be read: {reason}.")
                raise self.bodies.refuse(request, "too_complex", refusal) from None

    async def _role(self, access: TokenAccess) -> str:
        """The role that allows the caller to submit; raises `ApiError` where there is none."""
        if access.may(Permission.WRITE):
            return access.role.value
        # GitHub's flags are a user's: of an App's token they say nothing, so the config has to name it.
        app = access.account if access.installed else None
        if app and app.login != _ACTIONS:
            rules = await self.rule_book.rules(access.repository)
            if rules.validators.is_named(app.login, bot=True):
                return "config"
        raise ApiError(
            403, "The token's holder needs the role write here, or is an App that the config names."
        )


def _content(body: bytes) -> ValidationContent:
    """Parse the body; raises `TooComplex` and `ApiError`."""
    check_json(body)
    # What is decoded has no cycles, and looking for some in it would block the loop longer than decoding.
    gc.disable()
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ApiError(400, "The body is not JSON.") from None
    finally:
        gc.enable()
    if is_sarif(content):
        try:
            return sarif_content(content, body)
        except sarif.SarifError as reason:
            raise ApiError(422, f"The body is no SARIF 2.1.0 log: {reason}") from None
    if len(body) > documents.MAX_DOCUMENT_SIZE:
        raise ApiError(422, f"A document has at most {documents.MAX_DOCUMENT_SIZE:,} bytes.")
    if violations := schemas.find_violations("actionable-feedback", content):
        more = f"; and {len(violations) - _MAX_VIOLATIONS} more" if len(violations) > _MAX_VIOLATIONS else ""
        raise ApiError(422, "; ".join(map(str, violations[:_MAX_VIOLATIONS])) + more)
    return document_content(content, body)


def _parse_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= _MAX_NUMBER):
        raise api_not_found("There is no such pull request.")
    return int(text)


def _parse_head(text: str | None) -> str | None:
    if text is not None and not _SHA.fullmatch(text):
        raise ApiError(400, "head is the whole SHA of the commit that was validated.")
    return text
