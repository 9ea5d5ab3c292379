"""API of one pull request: feedback and selection report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from bot.gates.config import RepositoryRules
from bot.gates.rule_book import RuleBook
from bot.github.model import TokenAccess
from bot.history.store import load_documents
from bot.pull_request.model import PullRequest
from bot.store.pull_requests import load_pull_request
from bot.store.store import Store
from bot.web.api.access import RepositoryGuard
from bot.web.responses import api_not_found, cached_response, paginate

_MAX_NUMBER = 2**31 - 1

ProgressFunction = Callable[[PullRequest, RepositoryRules], dict[str, Any]]
"""`iteration_history`, `feedback_history`, `best_tracker` and `grounding` of a pull request."""
ReportFunction = Callable[[PullRequest, RepositoryRules], str | None]
"""The selection report, None if there is nothing to select from."""


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
            raise api_not_found("There is no selection report: fewer than two iterations were reviewed.")
        return cached_response(request, text, content_type="text/markdown")

    async def _load(self, request: web.Request, access: TokenAccess) -> tuple[PullRequest, str]:
        lane = f"pr:{access.repository.id}:{parse_number(request.match_info['number'])}"
        pull = await self.store.read(load_pull_request, lane)
        if pull is None or pull.repository.id != access.repository.id:
            raise api_not_found("Nothing is recorded about this pull request.")
        return pull, lane


def parse_number(text: str) -> int:
    """Parse a pull request's number from the path; raises `ApiError`."""
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= _MAX_NUMBER):
        raise api_not_found("There is no such pull request.")
    return int(text)
