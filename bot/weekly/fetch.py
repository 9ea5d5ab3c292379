"""Read what a weekly summary needs, on a repository's schedule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.gates.config import RepositoryRules, Weekday
from bot.github.client import GitHub
from bot.github.errors import GitHubError
from bot.history.model import Week, latest_due_week, summary_due_at, week_containing
from bot.history.store import HistoryReader
from bot.markdown.links import LinkContext
from bot.values import Repository
from bot.weekly.issue import WeeklyDecision as Told
from bot.weekly.issue import decide_week
from bot.weekly.recommendations import CONFIG_DOCS, WeeklyContext
from bot.weekly.summary import WeekQuery, summary_needed_since


@dataclass(frozen=True, slots=True)
class WeeklySchedule:
    """When a repository wants its summary."""

    zone: ZoneInfo
    weekday: int
    at: time

    @classmethod
    def of(cls, rules: RepositoryRules) -> WeeklySchedule:
        """As its config says."""
        weekly = rules.weekly
        weekday = tuple(Weekday).index(weekly.day)
        return cls(ZoneInfo(weekly.timezone), weekday, time.fromisoformat(weekly.time))

    def latest_due(self, now: datetime) -> Week:
        """The last finished week whose summary is due."""
        return latest_due_week(now, self.zone, self.weekday, self.at)

    def next_due(self, now: datetime) -> datetime:
        """When the summary after that one is due."""
        return summary_due_at(self.latest_due(now).back(-1), self.zone, self.weekday, self.at)


@dataclass(frozen=True, slots=True)
class WeeklyFetcher:
    """Tells weeks from what is remembered."""

    memory: HistoryReader
    github: GitHub | None
    site: LinkContext

    async def told(
        self, repository: Repository, rules: RepositoryRules, week: Week | None, now: datetime
    ) -> Told:
        """A finished week, or the running one so far where none is named."""
        zone = WeeklySchedule.of(rules).zone
        ask = WeekQuery(
            repository=repository,
            week=week or week_containing(now, zone),
            zone=zone,
            named=rules.weekly.authors,
            agents=rules.authors,
            as_of=None if week else now,
            inactive_after=timedelta(days=rules.history.dead_after_days),
        )
        records = await self.memory.records(repository.id, summary_needed_since(ask))
        page = WeeklyContext(rules.gates, self.site.web, await self._has_config(repository))
        return decide_week(records, ask, page, now)

    async def _has_config(self, repository: Repository) -> bool:
        if self.github is None:
            return False
        try:
            return await self.github.file(repository, CONFIG_DOCS.path) is not None
        except GitHubError:
            return False  # a link less, not a week less
