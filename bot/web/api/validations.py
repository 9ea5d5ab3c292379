"""API of validations: accept the reports of tools, and show their status."""

from __future__ import annotations

import asyncio
import gc
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from aiohttp import web

from bot import regex
from bot.findings.model import is_blocking
from bot.gates.config import Permission, RepositoryRules
from bot.gates.model import Gates
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.github.errors import NotFound
from bot.github.model import TokenAccess
from bot.inbox.internal_deliveries import (
    SubmittedValidation,
    validation_delivery,
    validation_delivery_id,
)
from bot.pull_request.model import Item, PullRequest, Verdict
from bot.store.deliveries import load_delivery
from bot.store.model import DeliveryState
from bot.store.pull_requests import load_pull_request
from bot.store.store import Store
from bot.verdicts.tool_reports import (
    ReportError,
    ToolReport,
    read_report,
    summarize_mapping,
)
from bot.web.api.access import RateLimiter, RepositoryGuard
from bot.web.api.endpoints import parse_number
from bot.web.api.oidc import PullRequestHeads, find_validated_head
from bot.web.bodies import BodyBudget, TooComplex, check_json
from bot.web.responses import (
    ApiError,
    api_not_found,
    cached_response,
    json_response,
    too_many_requests,
)

MAX_BODY = 10 * 1024 * 1024
BODY_TIMEOUT = 60.0
"""Seconds for a whole body: the sender is known, and a pipeline's line may be slow."""
PER_MINUTE = 30
"""Validations per minute and token, or per run of a workflow."""
# Workflows of forks have its token too, and nobody can see whether one may write.
_ACTIONS = "github-actions[bot]"
_SHA = regex.Regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ID = regex.Regex(r"[0-9A-Za-z-]{1,64}")
_MAX_NAME = 100
_MAX_ROOT = 1024


@dataclass(frozen=True, slots=True)
class _Query:
    """What the query of a validation says about its body."""

    head: str | None
    tool: str
    root: str


@dataclass(frozen=True, slots=True)
class ValidationEndpoints:
    """Accepts findings that validators submit over HTTP, and reports their status."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    bodies: BodyBudget
    new_id: Callable[[], str]
    clock: Callable[[], datetime]
    public_url: str = ""
    rate: RateLimiter = field(default_factory=lambda: RateLimiter(PER_MINUTE))
    decoding: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a body is decoded: each may take a hundred megabytes."""

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """To submit: tokens that may write, Apps that the config names, workflow runs. To ask: readers."""
        return [
            guard.post("/pulls/{number}/validations", self.submit, Permission.READ),
            guard.get("/validations/{id}", self.status),
        ]

    async def submit(self, request: web.Request, access: TokenAccess) -> web.Response:
        """202 once it is safe on disk, with what the config makes of it."""
        number, query = parse_number(request.match_info["number"]), _parse_query(request)
        rules = await self.rule_book.rules(access.repository)
        role = _role(access, rules)
        pull_request = await self._pull_request(access, number)
        head = query.head
        if access.workflow:
            head = await find_validated_head(self.github, access.repository, pull_request, access.workflow)
        report, body_hash = await self._report(request, access, query)
        submitted = SubmittedValidation(
            repository=access.repository,
            number=number,
            author=access.account,
            role=role,
            head=head,
            report=_name_tool(report, query, access),
            body_hash=body_hash,
        )
        identity = self.new_id()
        await self.store.accept(validation_delivery(submitted, identity, self.clock()))
        mapping = summarize_mapping(report, rules)
        address = f"{self.public_url}/api/v1/repos/{access.repository.full_name}/validations/{identity}"
        return json_response(
            202,
            {
                "id": identity,
                "results": mapping.results,
                "mapped": mapping.mapped,
                "unmapped": list(mapping.unmapped),
                "status_url": address,
            },
        )

    async def status(self, request: web.Request, access: TokenAccess) -> web.Response:
        """The status of a validation, for as long as its delivery is kept."""
        identity = request.match_info["id"]
        stored = None
        if _ID.fullmatch(identity):
            stored = await self.store.read(load_delivery, validation_delivery_id(identity))
        lane = stored.delivery.lane if stored else ""
        if stored is None or not lane.startswith(f"pr:{access.repository.id}:"):
            raise api_not_found("There is no such validation in this repository, or it is too old.")
        answer: dict[str, Any] = {"id": identity, "pull_request": int(lane.rpartition(":")[2])}
        if stored.state is DeliveryState.QUEUED:
            return cached_response(request, {**answer, "status": "queued"})
        if stored.state is DeliveryState.PARKED:
            reason = "It could not be processed; the operator sees why with `whetstone parked`."
            return cached_response(request, {**answer, "status": "refused", "reason": reason})
        pull_request = await self.store.read(load_pull_request, lane)
        rules = await self.rule_book.rules(access.repository)
        return cached_response(request, {**answer, **_outcome(identity, pull_request, rules)})

    async def _pull_request(self, access: TokenAccess, number: int) -> PullRequestHeads:
        """The pull request as recorded, else as GitHub shows it; raises `ApiError` if there is none."""
        recorded = await self.store.read(load_pull_request, f"pr:{access.repository.id}:{number}")
        if recorded is not None and recorded.repository.id == access.repository.id:
            heads = {recorded.head, *(revision.head for revision in recorded.revisions)}
            return PullRequestHeads(number, recorded.base, frozenset(heads))
        try:
            snapshot = await self.github.pull_request(access.repository, number)
        except NotFound:
            raise api_not_found("There is no such pull request.") from None
        return PullRequestHeads(number, snapshot.base, frozenset({snapshot.head}))

    async def _report(
        self, request: web.Request, access: TokenAccess, query: _Query
    ) -> tuple[ToolReport, str]:
        # The guard has seen that it is there.
        token = hashlib.sha256(request.headers["Authorization"].split()[1].encode()).hexdigest()
        # A job may request as many tokens as it likes.
        caller = f"run:{access.workflow.run_id}" if access.workflow else token
        if wait := self.rate.spend(caller):
            raise self.bodies.refuse(
                request, "rate", too_many_requests(wait, "Too many validations with this token")
            )
        reading = self.bodies.body(request, MAX_BODY, caller=caller, seconds=BODY_TIMEOUT)
        async with reading as body, self.decoding:
            try:
                # Off the event loop: reading a log of ten megabytes must not hold up everybody else.
                report = await asyncio.to_thread(_read, body, request.content_type, query.root)
            except TooComplex as reason:
                refusal = ApiError(422, f"The body can't be read: {reason}.")
                raise self.bodies.refuse(request, "too_complex", refusal) from None
            return report, await asyncio.to_thread(lambda: hashlib.sha256(body).hexdigest())


def _read(body: bytes, content_type: str, root: str) -> ToolReport:
    """Read a report; raises `TooComplex` and `ApiError`."""
    if body.lstrip()[:1] != b"<":
        check_json(body)
    # What is decoded has no cycles, and looking for some in it would block the loop longer than decoding.
    gc.disable()
    try:
        return read_report(body, content_type, root)
    except ReportError as error:
        errors = [{"where": problem.where, "detail": problem.what} for problem in error.problems]
        raise ApiError(422, f"The body can't be read: {error}", extra={"errors": errors}) from None
    finally:
        gc.enable()


def _role(access: TokenAccess, rules: RepositoryRules) -> str:
    """Return the role that allows the caller to submit; raises `ApiError` if there is none."""
    if access.workflow:
        return Permission.WRITE.value
    if access.may(Permission.WRITE):
        return access.role.value
    # GitHub's flags are a user's: of an App's token they say nothing, so the config has to name it.
    app = access.account if access.installed else None
    if app and app.login != _ACTIONS and rules.validators.is_named(app.login, bot=True):
        return "config"
    raise ApiError(
        403, "The token needs the role write here, or must belong to an App that the config names."
    )


def _name_tool(report: ToolReport, query: _Query, access: TokenAccess) -> ToolReport:
    """Name the tool as the caller does, after the name of its workflow: each counts separately."""
    names = (access.workflow.workflow if access.workflow else "", query.tool or report.tool)
    return replace(report, tool=" / ".join(filter(None, names)))


def _outcome(identity: str, pull_request: PullRequest | None, rules: RepositoryRules) -> dict[str, Any]:
    verdicts = pull_request.verdicts if pull_request else ()
    verdict = next((one for one in verdicts if one.id == f"validation:{identity}"), None)
    if pull_request is None or verdict is None:
        return {"status": "refused", "reason": "It has been deleted since."}
    if not verdict.counted:
        return {"status": "refused", "reason": _refusal(verdict, pull_request)}
    newer = [
        one.id.removeprefix("validation:")
        for one in verdicts
        if one.validator.key == verdict.validator.key and one.at > verdict.at
    ]
    findings = [_finding(item, rules.gates) for item in verdict.items]
    return {
        "status": "applied",
        "head": verdict.head,
        "verdict": verdict.stance.value,
        "findings": findings,
        "more": verdict.more,
        "blocking": sum(finding["blocking"] for finding in findings),
        "replaced_by": newer[-1] if newer else None,
    }


def _refusal(verdict: Verdict, pull_request: PullRequest) -> str:
    if verdict.account_id == pull_request.author.id:
        return "Its sender is the pull request's author, whose own validations do not count."
    if not verdict.items:
        return "None of its results has a tag, and `validators.unmapped` is ignore."
    return "Its sender is not a validator here; see `validators` in the configuration."


def _finding(item: Item, gates: Gates) -> dict[str, Any]:
    return {
        "tag": item.tag,
        "rule": item.rule,
        "path": item.place.path if item.place else None,
        "line": item.place.line if item.place else None,
        "message": item.words,
        "blocking": is_blocking(item, gates),
    }


def _parse_query(request: web.Request) -> _Query:
    """Read the query; every parameter that is wrong is named."""
    head, tool = request.query.get("head"), request.query.get("tool", "").strip()
    root = request.query.get("root", "")
    problems = []
    if head is not None and not _SHA.fullmatch(head):
        problems.append("head must be the full SHA of the validated commit.")
    if len(tool) > _MAX_NAME or not tool.isprintable():
        problems.append(f"tool must be a name of at most {_MAX_NAME} characters.")
    if len(root) > _MAX_ROOT or not root.isprintable():
        problems.append(f"root must be a directory of at most {_MAX_ROOT} characters.")
    if problems:
        raise ApiError(400, " ".join(problems))
    return _Query(head, tool, root)
