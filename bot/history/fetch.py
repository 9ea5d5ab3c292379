"""Read an author's history and all authors' patterns from the store."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.gates.config import RepositoryRules
from bot.history.model import build_history_record, earliest_activity, window_of_last_hours
from bot.history.outcomes import outcomes_in_window
from bot.history.patterns import (
    AuthorHistory,
    HistoryQuery,
    Patterns,
    build_history,
    compute_all_patterns,
    history_needed_since,
)
from bot.history.store import load_author, load_records
from bot.pull_request.model import PullRequest
from bot.store.store import Store
from bot.values import Account, Repository


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


async def fetch_all_patterns(
    store: Store, repository: Repository, hours: int, rules: RepositoryRules, now: datetime
) -> dict[str, Patterns]:
    """Read every author's patterns by login."""
    window = window_of_last_hours(hours, now)
    inactive_after = timedelta(days=rules.history.dead_after_days)
    since = earliest_activity(window.before, inactive_after)
    records = await store.read(load_records, repository.id, since, shared=rules.history.shared)
    outcomes, previous = (
        outcomes_in_window(records, span, inactive_after) for span in (window, window.before)
    )
    return compute_all_patterns(outcomes, previous, rules.gates, hours)
