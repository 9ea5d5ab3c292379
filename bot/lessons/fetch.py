"""Read what lessons are made of: the history, and the instruction files of the default branch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.gates.config import RepositoryRules
from bot.gates.model import Gates
from bot.github.client import GitHub
from bot.github.errors import GitHubError, RateLimited
from bot.github.model import FileCommit
from bot.history.store import load_records
from bot.lessons.effect import BASELINE, INSTRUCTION_FILES, Adoption, find_lessons
from bot.lessons.model import LESSON_WINDOW, LessonQuery, LessonReport, build_report
from bot.store.store import Store
from bot.values import Account, Repository

MAX_VERSION_READS = 12
"""Earlier versions of instruction files that are read to date the lessons in them."""
MAX_MEASURED = timedelta(days=365)
"""A lesson's effect is measured within this time."""
_MAX_FILE = 200_000


def lesson_query(
    repository: Repository, rules: RepositoryRules, now: datetime, author: Account | None = None
) -> LessonQuery:
    """Build the query of a repository's lessons, or of one author's, whose record may be shown.

    In a public repository the pull requests of people are counted, but not named.
    """

    def may_name(account: Account) -> bool:
        return (
            repository.private or author is not None or rules.authors.is_agent(account.login, bot=account.bot)
        )

    return LessonQuery(now, may_name, author)


async def fetch_lessons(
    store: Store,
    github: GitHub | None,
    repository: Repository,
    rules: RepositoryRules,
    query: LessonQuery,
) -> LessonReport:
    """Read the history and derive the lessons; without GitHub, no effect is measured."""
    adopted = await fetch_adopted(github, repository, rules.gates) if github else {}
    oldest = min((adoption.since for adoption in adopted.values()), default=query.now)
    since = max(min(query.now - LESSON_WINDOW, oldest - BASELINE), query.now - MAX_MEASURED - BASELINE)
    records = await store.read(load_records, repository.id, since, query.author.id if query.author else None)
    return await asyncio.to_thread(build_report, records, rules.gates, query, adopted)


async def fetch_adopted(github: GitHub, repository: Repository, gates: Gates) -> dict[str, Adoption]:
    """Return the lessons that an instruction file contains, each with the day of its oldest copy.

    A file that can't be read has none; a rate limit is raised.
    """
    adopted: dict[str, Adoption] = {}
    dating = _Dating(github, repository, gates)
    for path in INSTRUCTION_FILES:
        for tag, since in (await dating.date_lessons(path)).items():
            if tag not in adopted or since < adopted[tag].since:
                adopted[tag] = Adoption(path, since)
    return adopted


@dataclass(slots=True)
class _Dating:
    """Finds when lessons were added to a file, by bisecting the commits that changed it."""

    github: GitHub
    repository: Repository
    gates: Gates
    _versions: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    async def date_lessons(self, path: str) -> Mapping[str, datetime]:
        try:
            text = await self.github.file(self.repository, path)
            tags = await self._find(text)
            commits = await self.github.file_commits(self.repository, path) if tags else ()
            return {tag: await self._added_at(tag, path, commits) for tag in sorted(tags) if commits}
        except RateLimited:
            raise
        except GitHubError:
            return {}

    async def _added_at(self, tag: str, path: str, commits: Sequence[FileCommit]) -> datetime:
        # The newest has it. Between one that has it and one that has not, it was added.
        having, lacking = 0, len(commits)
        while lacking - having > 1:
            middle = (having + lacking) // 2
            tags = await self._tags_at(path, commits[middle].sha)
            if tags is None:
                break  # too many versions: the oldest one that is known to have it counts
            having, lacking = (middle, lacking) if tag in tags else (having, middle)
        return commits[having].at

    async def _tags_at(self, path: str, sha: str) -> frozenset[str] | None:
        key = path, sha
        if key not in self._versions:
            if len(self._versions) >= MAX_VERSION_READS:
                return None
            self._versions[key] = await self._find(await self.github.file(self.repository, path, sha))
        return self._versions[key]

    async def _find(self, text: bytes | None) -> frozenset[str]:
        if text is None or len(text) > _MAX_FILE:
            return frozenset()
        return await asyncio.to_thread(find_lessons, text.decode("utf-8", "replace"), self.gates)
