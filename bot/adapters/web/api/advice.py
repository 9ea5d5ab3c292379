"""`…/advice`: which of the actions that authors were advised to take were accepted afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from aiohttp import web

from bot.adapters.web.api.guard import Guard
from bot.adapters.web.api.records import HOURS, MOST_HOURS
from bot.adapters.web.api.replies import number, reply
from bot.domain.advice_rates import advice_rates, by_author
from bot.domain.memory import Record, last_hours, reaches_back
from bot.domain.model import Account
from bot.domain.rules import Rules
from bot.domain.visits import Visit
from bot.ports import RuleBook


class Archive(Protocol):
    """Whoever remembers."""

    async def records(
        self, repository_id: int, since: datetime, author_id: int | None = None
    ) -> tuple[Record, ...]:
        """The records of a repository that were last active since then."""
        ...


@dataclass(frozen=True, slots=True)
class AdviceReport:
    """Answers about the briefs of a repository, by author to whoever may see their record."""

    archive: Archive
    rule_book: RuleBook
    now: Callable[[], datetime]

    def routes(self, guard: Guard) -> list[web.RouteDef]:
        """The one route."""
        return [guard.get("/advice", self.report)]

    async def report(self, request: web.Request, visit: Visit) -> web.Response:
        """All authors together, by login those whom the caller may see, and what a person should look at."""
        hours = number(request, "hours", HOURS, MOST_HOURS)
        rules = await self.rule_book.rules(visit.repository)
        window = last_hours(hours, self.now())
        records = await self.archive.records(visit.repository.id, reaches_back(window))
        found = advice_rates(records, window)
        shown = {
            author.login: rates.figures
            for author, rates in by_author(records, window)
            if _is_seen(visit, author, rules)
        }
        content = {
            "period_hours": hours,
            "all": found.figures,
            "authors": shown,
            "low_success": found.low_figures,
        }
        return reply(request, content)


def _is_seen(visit: Visit, author: Account, rules: Rules) -> bool:
    return visit.sees(author, agent=rules.authors.is_agent(author.login, bot=author.bot))
