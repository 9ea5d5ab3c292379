"""API of a repository's lessons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from aiohttp import web

from bot.gates.config import RepositoryRules
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.github.model import TokenAccess
from bot.history.store import find_author
from bot.lessons.fetch import fetch_lessons, lesson_query
from bot.lessons.model import MAX_LESSONS, MIN_BROKEN, LessonReport
from bot.lessons.text import report_json
from bot.markdown.links import LinkContext
from bot.store.store import Store
from bot.values import Account
from bot.web.api.access import RepositoryGuard
from bot.web.api.reports import is_record_visible
from bot.web.cache import SingleFlightCache
from bot.web.responses import api_not_found, cached_response, query_integer

CALLER = "@me"
"""The holder of the token, in place of a login."""
MAX_LISTED = 50
_MAX_AGE = 60.0  # as long as a config is taken from the cache


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
