"""What must be read before a repository's week can be told?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.decisions.weekly import Week as Told
from bot.decisions.weekly import decide
from bot.domain.choices import Weekday
from bot.domain.comment import Site
from bot.domain.model import Repository
from bot.domain.rules import Rules
from bot.domain.summary import WeekAsk, needed_since
from bot.domain.weeks import Week, due_at, latest_due, week_of
from bot.domain.worth_doing import CONFIG, Page
from bot.ports import GitHub, GitHubError, Memory


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a repository wants its summary."""

    zone: ZoneInfo
    weekday: int
    at: time

    @classmethod
    def of(cls, rules: Rules) -> Schedule:
        """As its config says."""
        weekly = rules.weekly
        weekday = tuple(Weekday).index(weekly.day)
        return cls(ZoneInfo(weekly.timezone), weekday, time.fromisoformat(weekly.time))

    def latest_due(self, now: datetime) -> Week:
        """The last finished week whose summary is due."""
        return latest_due(now, self.zone, self.weekday, self.at)

    def next_due(self, now: datetime) -> datetime:
        """When the summary after that one is due."""
        return due_at(self.latest_due(now).back(-1), self.zone, self.weekday, self.at)


@dataclass(frozen=True, slots=True)
class Weeks:
    """Tells weeks from what is remembered."""

    memory: Memory
    github: GitHub | None
    site: Site

    async def told(self, repository: Repository, rules: Rules, week: Week | None, now: datetime) -> Told:
        """A finished week, or the running one so far where none is named."""
        zone = Schedule.of(rules).zone
        ask = WeekAsk(
            repository=repository,
            week=week or week_of(now, zone),
            zone=zone,
            named=rules.weekly.authors,
            agents=rules.authors,
            so_far=None if week else now,
            dead_after=timedelta(days=rules.history.dead_after_days),
        )
        records = await self.memory.records(repository.id, needed_since(ask))
        page = Page(rules.gates, self.site.web, await self._has_config(repository))
        return decide(records, ask, page, now)

    async def _has_config(self, repository: Repository) -> bool:
        if self.github is None:
            return False
        try:
            return await self.github.file(repository, CONFIG.path) is not None
        except GitHubError:
            return False  # a link less, not a week less
