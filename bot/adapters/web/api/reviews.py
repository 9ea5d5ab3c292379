"""`…/grounding`: how much of what a repository's validators claimed was so, and how vague they were."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web

from bot.adapters.web.api.guard import Guard
from bot.adapters.web.api.records import HOURS, MOST_HOURS, Records, is_seen, shared_reports
from bot.adapters.web.api.replies import number, reply
from bot.adapters.web.sharing import Shared
from bot.domain.memory import last_hours
from bot.domain.model import Account, Validator
from bot.domain.reviewing import Reviewing, reviewing, together
from bot.domain.rules import Rules
from bot.domain.visits import Visit
from bot.ports import RuleBook


@dataclass(frozen=True, slots=True)
class GroundingReport:
    """Answers about validators, to whoever may see their record."""

    archive: Records
    rule_book: RuleBook
    now: Callable[[], datetime]
    shared: Shared[tuple[int, int], tuple[Reviewing, ...]] = field(default_factory=shared_reports)

    def routes(self, guard: Guard) -> list[web.RouteDef]:
        """The one route."""
        return [guard.get("/grounding", self.report)]

    async def report(self, request: web.Request, visit: Visit) -> web.Response:
        """All validators together, and by name those whose record the caller may see."""
        hours = number(request, "hours", HOURS, MOST_HOURS)
        rules = await self.rule_book.rules(visit.repository)
        where = visit.repository.id
        found = await self.shared.of((where, hours), lambda: self._reviewing(where, hours))
        shown = {one.validator.name: one.figures for one in found if _is_seen(visit, one, rules)}
        everybody = together(found, Validator("", "")).figures
        return reply(request, {"period_hours": hours, "all": everybody, "validators": shown})

    async def _reviewing(self, repository_id: int, hours: int) -> tuple[Reviewing, ...]:
        window = last_hours(hours, self.now())
        records = await self.archive.records(repository_id, window.start)
        return await asyncio.to_thread(reviewing, records, window)


def _is_seen(visit: Visit, one: Reviewing, rules: Rules) -> bool:
    validator = one.validator
    _, _, identity = validator.key.partition("user:")
    account = Account(int(identity) if identity.isdigit() else -1, validator.name, bot=validator.bot)
    return is_seen(visit, account, rules)
