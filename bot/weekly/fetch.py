"""Read what a weekly summary needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.gates.config import RepositoryRules
from bot.github.client import GitHub
from bot.github.errors import GitHubError
from bot.history.model import Week, week_containing
from bot.history.store import load_records
from bot.lessons.fetch import fetch_lessons, lesson_query
from bot.markdown.links import LinkContext
from bot.store.store import Store
from bot.values import Repository
from bot.weekly.issue import WeeklyDecision, decide_week
from bot.weekly.recommendations import CONFIG_LOCATION, WeeklyContext
from bot.weekly.schedule import WeeklySchedule
from bot.weekly.summary import WeekQuery, summary_needed_since


@dataclass(frozen=True, slots=True)
class WeeklyFetcher:
    """Reads a week's records and decides its summary."""

    store: Store
    github: GitHub | None
    site: LinkContext

    async def fetch_week(
        self, repository: Repository, rules: RepositoryRules, week: Week | None, now: datetime
    ) -> WeeklyDecision:
        """Decide the summary of a finished week, or without one that of the current week so far."""
        zone = WeeklySchedule.from_rules(rules).zone
        query = WeekQuery(
            repository=repository,
            week=week or week_containing(now, zone),
            zone=zone,
            naming=rules.weekly.authors,
            agents=rules.authors,
            as_of=None if week else now,
            inactive_after=timedelta(days=rules.history.dead_after_days),
        )
        records = await self.store.read(load_records, repository.id, summary_needed_since(query))
        lessons = await fetch_lessons(
            self.store, self.github, repository, rules, lesson_query(repository, rules, now)
        )
        context = WeeklyContext(rules.gates, self.site.web, lessons, await self._has_config(repository))
        return decide_week(records, query, context, now)

    async def _has_config(self, repository: Repository) -> bool:
        if self.github is None:
            return False
        try:
            return await self.github.file(repository, CONFIG_LOCATION.path) is not None
        except GitHubError:
            return False  # a missing link must not stop the summary
