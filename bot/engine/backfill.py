"""How are a repository's earlier pull requests brought in, a page at a time, beside the daily work?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.events import Event
from bot.domain.memos import Memo, RepositorySeen
from bot.domain.model import Repository
from bot.domain.own_events import BackfillDue
from bot.domain.snapshots import PullRequestSnapshot
from bot.engine.settling import NotYet
from bot.ports import Delivery, GitHub, PullRequestPage, Store

PREFIX = "backfill:"
"""How the id of every delivery of a backfill begins."""
SLACK = 10
"""The next page is read when no more than so many pull requests of the last one are left."""
RESERVE = 0.25
"""The share of GitHub's hourly budget that is left to the daily work."""
LOOK_AGAIN = 0.25
LONGEST_WAIT = 3600.0


@dataclass(frozen=True, slots=True)
class Writing:
    """How the deliveries of a backfill are written down."""

    step: Callable[[BackfillDue, datetime], Delivery]
    past: Callable[[BackfillDue, PullRequestSnapshot, datetime], Delivery]


def is_backfill(lane: str) -> bool:
    """Whether the lane is a repository's backfill."""
    return lane.startswith(PREFIX)


def waiting(due: BackfillDue) -> tuple[str, str]:
    """How the lanes and the ids begin of what a backfill has handed on."""
    return f"pr:{due.repository.id}:", f"{PREFIX}{due.run}:"


@dataclass(frozen=True, slots=True)
class Backfill:
    """Hands one page on to the lanes of its pull requests, and leaves the next step in the inbox.

    The steps are deliveries, so an interruption loses nothing: whoever works next goes on.
    """

    store: Store
    github: GitHub
    writing: Writing
    clock: Callable[[], datetime]

    async def done(self, events: Sequence[Event]) -> tuple[Memo, ...]:
        """What to remember; raises `NotYet` while the last page keeps the lanes busy."""
        steps = [event for event in events if isinstance(event, BackfillDue)]
        for due in steps:
            await self._step(due)
        return tuple(RepositorySeen(due.repository) for due in steps[:1])

    async def _step(self, due: BackfillDue) -> None:
        left = await self.store.queued(*waiting(due))
        if left > (0 if due.closing else SLACK):
            raise NotYet(LOOK_AGAIN)
        if due.closing:
            return
        await leave_some(due.repository, self.github, self.clock)
        page = await self.github.pull_requests_page(due.repository, due.page)
        wanted = [seen for seen in page.pull_requests if due.since is None or seen.updated_at >= due.since]
        now = self.clock()
        await asyncio.gather(*(self.store.accept(self.writing.past(due, seen, now)) for seen in wanted))
        # Last, and with an id of its own: a step that is repeated hands nothing on twice.
        await self.store.accept(self.writing.step(_following(due, page, len(wanted)), now))


async def leave_some(repository: Repository, github: GitHub, clock: Callable[[], datetime]) -> None:
    """Wait for the next hour where the daily work needs what is left of this one's calls."""
    budget = await github.budget(repository)
    if budget is None or budget.left >= budget.limit * RESERVE:
        return
    wait = (budget.resets_at - clock()).total_seconds() + 1
    raise NotYet(min(max(wait, 1.0), LONGEST_WAIT))


def _following(due: BackfillDue, page: PullRequestPage, wanted: int) -> BackfillDue:
    # The newest change comes first, so after one that is too old there is nothing to be found.
    following = page.following if wanted == len(page.pull_requests) else ""
    total = due.total if due.total is not None or due.since is not None else page.total
    return replace(
        due,
        step=due.step + 1,
        page=following,
        read=due.read + wanted,
        total=total,
        closing=not following,
    )
