"""`…/pulls/{n}/feedback` and `…/pulls/{n}/selection-report`: what was said about one pull request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

from bot.adapters.web.api.guard import Guard
from bot.adapters.web.api.refusals import not_found
from bot.adapters.web.api.replies import page_of, reply
from bot.domain.model import PullRequest
from bot.domain.rules import Rules
from bot.domain.visits import Visit
from bot.ports import RuleBook

_LARGEST = 2**31 - 1

Course = Callable[[PullRequest, Rules], dict[str, Any]]
"""`iteration_history`, `feedback_history`, `best_tracker` and `grounding` of a pull request."""
Report = Callable[[PullRequest, Rules], str | None]
"""The selection report, None where there is nothing to select from."""


class Pulls(Protocol):
    """Whoever keeps pull requests."""

    async def load(self, lane: str) -> PullRequest | None:
        """What is recorded about the pull request of this lane."""
        ...


class Documents(Protocol):
    """Whoever keeps documents."""

    async def documents(self, lane: str) -> tuple[Any, ...]:
        """The documents of a pull request, newest first."""
        ...


@dataclass(frozen=True, slots=True)
class PullFeedback:
    """Answers about one pull request, to whoever may read its repository."""

    pulls: Pulls
    documents: Documents
    rule_book: RuleBook
    course: Course
    report: Report

    def routes(self, guard: Guard) -> list[web.RouteDef]:
        """The two routes about a pull request."""
        return [
            guard.get("/pulls/{number}/feedback", self.feedback),
            guard.get("/pulls/{number}/selection-report", self.selection_report),
        ]

    async def feedback(self, request: web.Request, visit: Visit) -> web.Response:
        """The documents, newest first, and how the iterations went."""
        known, lane = await self._known(request, visit)
        shown, links = page_of(request, await self.documents.documents(lane))
        rules = await self.rule_book.rules(visit.repository)
        return reply(request, {"documents": shown, **self.course(known, rules)}, links=links)

    async def selection_report(self, request: web.Request, visit: Visit) -> web.Response:
        """The report as Markdown."""
        known, _ = await self._known(request, visit)
        text = self.report(known, await self.rule_book.rules(visit.repository))
        if text is None:
            raise not_found("There is no selection report: fewer than two iterations were judged.")
        return reply(request, text, content_type="text/markdown")

    async def _known(self, request: web.Request, visit: Visit) -> tuple[PullRequest, str]:
        number = request.match_info["number"]
        if not (number.isascii() and number.isdigit() and len(number) <= 10 and int(number) <= _LARGEST):
            raise not_found("There is no such pull request.")
        lane = f"pr:{visit.repository.id}:{int(number)}"
        known = await self.pulls.load(lane)
        if known is None or known.repository.id != visit.repository.id:
            raise not_found("Nothing is recorded about this pull request.")
        return known, lane
