"""`POST …/pulls/{n}/validations`: a document or a linter's log, taken in like a webhook."""

from __future__ import annotations

import asyncio
import gc
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
from aiohttp import web

from bot.adapters import feedback_files, sarif, schemas
from bot.adapters.json_limits import TooComplex, check_json
from bot.adapters.payloads import OWN_EVENT
from bot.adapters.payloads.validations import Content, HandedIn, delivery_of, from_document, from_log, is_log
from bot.adapters.web.answers import answer
from bot.adapters.web.api.guard import Guard
from bot.adapters.web.api.limits import PerMinute
from bot.adapters.web.api.refusals import Refusal, not_found, too_many
from bot.adapters.web.bodies import BodyBudget
from bot.domain import regex
from bot.domain.choices import Permission
from bot.domain.visits import Visit
from bot.ports import Inbox, RuleBook

MAX_BODY = 10 * 1024 * 1024
PATIENCE = 60.0
"""Seconds for a whole body: the sender is known, and a pipeline's line may be slow."""
PER_MINUTE = 30
"""Validations a minute and token."""

_LARGEST = 2**31 - 1
_SHOWN = 5
# Workflows of forks have its token too, and nobody can see whether one may write.
_ACTIONS = "github-actions[bot]"
_SHA = regex.Pattern(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Validations:
    """Takes in what validators outside GitHub's events found."""

    inbox: Inbox
    rule_book: RuleBook
    bodies: BodyBudget
    new_id: Callable[[], str]
    clock: Callable[[], datetime]
    rate: PerMinute = field(default_factory=lambda: PerMinute(PER_MINUTE))
    decoding: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a body is decoded: each may take a hundred megabytes."""

    def routes(self, guard: Guard) -> list[web.RouteDef]:
        """The one route, for tokens that may write, and for Apps that the config names."""
        return [guard.post("/pulls/{number}/validations", self.take_in, Permission.READ)]

    async def take_in(self, request: web.Request, visit: Visit) -> web.Response:
        """202 once it is safe on disk."""
        number, head = _number(request.match_info["number"]), _head(request.query.get("head"))
        role = await self._role(visit)
        given = HandedIn(
            repository=visit.repository,
            number=number,
            author=visit.account,
            role=role,
            head=head,
            content=await self._content(request),
        )
        identity = f"validation:{self.new_id()}"
        await self.inbox.accept(delivery_of(given, identity, OWN_EVENT, self.clock()))
        return answer(202, {"status": "queued", "delivery": identity})

    async def _content(self, request: web.Request) -> Content:
        # The guard has seen that it is there.
        token = hashlib.sha256(request.headers["Authorization"].split()[1].encode()).hexdigest()
        if wait := self.rate.spend(token):
            raise self.bodies.refuse(request, "rate", too_many(wait, "Too many validations with this token"))
        reading = self.bodies.body(request, MAX_BODY, caller=token, patience=PATIENCE)
        async with reading as body, self.decoding:
            try:
                # Off the event loop: reading a log of ten megabytes must not hold up everybody else.
                return await asyncio.to_thread(_content, body)
            except TooComplex as reason:
                refusal = Refusal(422, f"The body can't be read: {reason}.")
                raise self.bodies.refuse(request, "too_complex", refusal) from None

    async def _role(self, visit: Visit) -> str:
        """By which right it is handed in; raises `Refusal` where there is none."""
        if visit.may(Permission.WRITE):
            return visit.role.value
        # GitHub's flags are a user's: of an App's token they say nothing, so the config has to name it.
        app = visit.account if visit.installed else None
        if app and app.login != _ACTIONS:
            rules = await self.rule_book.rules(visit.repository)
            if rules.validators.is_named(app.login, bot=True):
                return "config"
        raise Refusal(
            403, "The token's holder needs the role write here, or is an App that the config names."
        )


def _content(body: bytes) -> Content:
    """What was handed in; raises `TooComplex` and `Refusal`."""
    check_json(body)
    # What is decoded has no cycles, and looking for some in it would block the loop longer than decoding.
    gc.disable()
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refusal(400, "The body is not JSON.") from None
    finally:
        gc.enable()
    if is_log(content):
        try:
            return from_log(content, body)
        except sarif.NotSarif as reason:
            raise Refusal(422, f"The body is no SARIF 2.1.0 log: {reason}") from None
    if len(body) > feedback_files.LARGEST:
        raise Refusal(422, f"A document has at most {feedback_files.LARGEST:,} bytes.")
    if wrong := schemas.violations("actionable-feedback", content):
        more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise Refusal(422, "; ".join(map(str, wrong[:_SHOWN])) + more)
    return from_document(content, body)


def _number(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) <= 10 and 1 <= int(given) <= _LARGEST):
        raise not_found("There is no such pull request.")
    return int(given)


def _head(given: str | None) -> str | None:
    if given is not None and not _SHA.fullmatch(given):
        raise Refusal(400, "head is the whole SHA of the commit that was validated.")
    return given
