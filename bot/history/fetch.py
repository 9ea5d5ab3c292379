"""Read an author's history, and the outcomes that patterns are computed from."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.gates.config import HistoryRules, RepositoryRules
from bot.history.model import TimeWindow, build_history_record, earliest_activity
from bot.history.outcomes import PullRequestOutcome, outcomes_in_window
from bot.history.patterns import AuthorHistory, HistoryQuery, build_history, history_needed_since
from bot.history.store import find_author, load_author, load_records
from bot.pull_request.model import PullRequest
from bot.store.store import Store
from bot.values import Account, Repository

Outcomes = tuple[PullRequestOutcome, ...]


def history_query(
    author: Account, rules: RepositoryRules, now: datetime, hours: int | None, tag: str | None = None
) -> HistoryQuery:
    """Build the query, with the periods and the time zone of the repository's rules."""
    return HistoryQuery(
        login=author.login,
        author_id=author.id,
        now=now,
        zone=ZoneInfo(rules.weekly.timezone),
        hours=hours,
        tag=tag,
        periods=rules.history.periods,
        minimum=rules.history.minimum,
        inactive_after=timedelta(days=rules.history.dead_after_days),
    )


async def fetch_author(store: Store, repository: Repository, login: str, rules: RepositoryRules) -> Account:
    """Find an author by login; one that is unknown here gets an account without a record."""
    author = await store.read(find_author, repository.id, login, shared=rules.history.shared)
    return author or Account(-1, login, bot=login.endswith("[bot]"))


async def fetch_history(
    store: Store,
    repository: Repository,
    query: HistoryQuery,
    rules: RepositoryRules,
    current: PullRequest | None = None,
) -> AuthorHistory:
    """Read an author's history; the current pull request, if given, counts as it is right now."""
    records, fixes = await store.read(
        load_author,
        repository.id,
        history_needed_since(query),
        query.author_id,
        shared=rules.history.shared,
    )
    if current and current.author.id == query.author_id:
        others = (record for record in records if record.key != ("", current.number))
        records = (*others, build_history_record(current))
    return build_history(records, rules.gates, query, fixes)


async def fetch_outcomes(
    store: Store,
    repository_id: int,
    window: TimeWindow,
    rules: HistoryRules,
    author_id: int | None = None,
) -> tuple[Outcomes, Outcomes]:
    """Read the outcomes of one author or of all in a window, and those in the one before."""
    inactive_after = timedelta(days=rules.dead_after_days)
    since = earliest_activity(window.before, inactive_after)
    records = await store.read(load_records, repository_id, since, author_id, shared=rules.shared)
    return await asyncio.to_thread(
        lambda: (
            outcomes_in_window(records, window, inactive_after),
            outcomes_in_window(records, window.before, inactive_after),
        )
    )
