"""`…/advice`: which of the actions that authors were advised to take were accepted afterwards."""

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
from bot.domain.advice_rates import AdviceRates, advice_rates, by_author
from bot.domain.memory import last_hours, reaches_back
from bot.domain.model import Account
from bot.domain.visits import Visit
from bot.ports import RuleBook

_Rates = tuple[AdviceRates, tuple[tuple[Account, AdviceRates], ...]]
"""All authors' together, and each one's."""


@dataclass(frozen=True, slots=True)
class AdviceReport:
    """Answers about the briefs of a repository, by author to whoever may see their record."""

    archive: Records
    rule_book: RuleBook
    now: Callable[[], datetime]
    shared: Shared[tuple[int, int], _Rates] = field(default_factory=shared_reports)

    def routes(self, guard: Guard) -> list[web.RouteDef]:
        """The one route."""
        return [guard.get("/advice", self.report)]

    async def report(self, request: web.Request, visit: Visit) -> web.Response:
        """All authors together, by login those whom the caller may see, and what a person should look at."""
        hours = number(request, "hours", HOURS, MOST_HOURS)
        rules = await self.rule_book.rules(visit.repository)
        where = visit.repository.id
        found, authors = await self.shared.of((where, hours), lambda: self._rates(where, hours))
        shown = {author.login: rates.figures for author, rates in authors if is_seen(visit, author, rules)}
        content = {
            "period_hours": hours,
            "all": found.figures,
            "authors": shown,
            "low_success": found.low_figures,
        }
        return reply(request, content)

    async def _rates(self, repository_id: int, hours: int) -> _Rates:
        window = last_hours(hours, self.now())
        records = await self.archive.records(repository_id, reaches_back(window))
        return await asyncio.to_thread(lambda: (advice_rates(records, window), by_author(records, window)))
