"""Backfill earlier pull requests, and check runs that the config newly asks for."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.gates.rule_book import OWNER_CONFIG_REPOSITORY, RuleBook
from bot.github.client import GitHub
from bot.github.model import PullRequestPage
from bot.inbox.internal_deliveries import (
    backfill_delivery,
    check_backfill_delivery,
    check_backfill_step_delivery,
    past_delivery,
)
from bot.inbox.retry import RetryLater
from bot.lessons.agents import record_agents
from bot.pull_request.effects import UpdateRepository
from bot.pull_request.events import (
    BackfillStep,
    CheckBackfillStep,
    Event,
    PullRequestSnapshot,
)
from bot.pull_request.facts import DecisionTime
from bot.pull_request.model import PullRequest
from bot.pull_request.record import add_past_revisions, merge_revisions, new_descriptions, record_event
from bot.store.deliveries import count_queued, load_delivery
from bot.store.model import TurnResult
from bot.store.outbox import spend_write
from bot.store.pull_requests import load_pull_request
from bot.store.store import Store
from bot.turn.decide import assess, merge_verdicts
from bot.turn.fetch import fetch_reviews, fetch_revisions, unread_revisions
from bot.turn.run import NO_CHANGE
from bot.values import Repository

BACKFILL_PREFIX = "backfill:"
"""The prefix of the id of every delivery of a backfill."""
MAX_WAITING = 10
"""The next page is read when no more pull requests of the last one are left than this."""
RATE_RESERVE = 0.25
"""The share of the hourly rate limit that is reserved for the daily work."""
BACKFILL_RECHECK = 0.25
MAX_RATE_WAIT = 3600.0


def backfill_prefixes(due: BackfillStep) -> tuple[str, str]:
    """The prefixes of lanes and ids of the deliveries that a backfill has queued."""
    return f"pr:{due.repository.id}:", f"{BACKFILL_PREFIX}{due.run}:"


@dataclass(frozen=True, slots=True)
class Backfill:
    """Queues one page of pull requests in their lanes, and the next step in the inbox.

    The steps are deliveries, so an interruption loses nothing: the next worker goes on.
    """

    store: Store
    github: GitHub
    clock: Callable[[], datetime]

    async def process(self, events: Sequence[Event]) -> TurnResult:
        """Run the steps; raises `RetryLater` while the last page keeps the lanes busy."""
        steps = [event for event in events if isinstance(event, BackfillStep)]
        for due in steps:
            await self._run_step(due)
        commands = tuple(UpdateRepository(due.repository) for due in steps[:1])
        return TurnResult(None, (), (), store_commands=commands)

    async def _run_step(self, due: BackfillStep) -> None:
        left = await self.store.read(count_queued, *backfill_prefixes(due))
        if left > (0 if due.closing else MAX_WAITING):
            raise RetryLater(BACKFILL_RECHECK)
        if due.closing:
            return
        await reserve_rate_limit(due.repository, self.github, self.clock)
        page = await self.github.pull_requests_page(due.repository, due.page)
        recent = [pull for pull in page.pull_requests if due.since is None or pull.updated_at >= due.since]
        now = self.clock()
        await asyncio.gather(*(self.store.accept(past_delivery(due, pull, now)) for pull in recent))
        # Last, and with an id of its own: a step that is repeated queues nothing twice.
        await self.store.accept(backfill_delivery(_next_step(due, page, len(recent)), now))


async def reserve_rate_limit(repository: Repository, github: GitHub, clock: Callable[[], datetime]) -> None:
    """Leave the rest of this hour's rate limit to the daily work; raises `RetryLater` if it is low."""
    budget = await github.budget(repository)
    if budget is None or budget.left >= budget.limit * RATE_RESERVE:
        return
    wait = (budget.resets_at - clock()).total_seconds() + 1
    raise RetryLater(min(max(wait, 1.0), MAX_RATE_WAIT))


def _next_step(due: BackfillStep, page: PullRequestPage, count: int) -> BackfillStep:
    # The newest change comes first, so after one that is too old there is nothing to be found.
    next_page = page.following if count == len(page.pull_requests) else ""
    total = due.total if due.total is not None or due.since is not None else page.total
    return replace(
        due,
        step=due.step + 1,
        page=next_page,
        read=due.read + count,
        total=total,
        closing=not next_page,
    )


WRITE_PRIORITY = 2
"""The priority of these writes: what somebody waits for goes first."""
MIN_STEP_PAUSE = 30.0
MAX_STEPS = 10_000
CONFIG_LAG = timedelta(seconds=60)
"""How long GitHub may show a file as it was before the push."""
CHECK_BACKFILL_RECHECK = 2.0
INSTALL_PREFIX = "let-in-"
"""Starts the head of a backfill after an installation, which has no commit."""


@dataclass(frozen=True, slots=True)
class CheckBackfill:
    """Queues the open pull requests in their lanes, each once the write budget allows its check run.

    The steps are deliveries, so an interruption loses nothing. GitHub's list shifts when a pull request of
    an earlier page is closed meanwhile, so the list is read again until a pass finds nothing new.
    """

    store: Store
    github: GitHub
    rule_book: RuleBook
    clock: Callable[[], datetime]

    async def start(self, repository: Repository, head: str) -> None:
        """Queue the first step: another config is in force from this commit on."""
        now = self.clock()
        # As if it had found some already: the first pass may have missed what moved to an earlier page.
        due = CheckBackfillStep(
            repository, head, now, fresh=1, owners=repository.name == OWNER_CONFIG_REPOSITORY
        )
        await self.store.accept(check_backfill_step_delivery(due, now))
        if due.owners:
            await self.store.accept(check_backfill_step_delivery(replace(due, owners=False), now))

    async def start_for_installation(self, repositories: Iterable[Repository]) -> None:
        """Queue the first step for each repository that the App was installed in."""
        now = self.clock()
        for repository in repositories:
            due = CheckBackfillStep(repository, f"{INSTALL_PREFIX}{now:%Y%m%d%H%M%S}", now, step=1, fresh=1)
            await self.store.accept(check_backfill_step_delivery(due, now))

    async def step(self, due: CheckBackfillStep) -> None:
        """Process one page; raises `RetryLater` while the write budget is used up."""
        await reserve_rate_limit(due.repository, self.github, self.clock)
        rules = await self.rule_book.rules(due.repository, due.since)
        await self._wait_for_config(due)
        if not rules.check.is_on_every_head or due.step >= MAX_STEPS:
            return
        if due.head.startswith(INSTALL_PREFIX):
            # An installation's events name no default branch.
            listed = due.repository
            repository = await self.github.repository(listed.owner, listed.name, listed.installation_id)
            due = replace(due, repository=repository)
        await (self._queue_repositories(due) if due.owners else self._queue_pull_requests(due))

    async def _wait_for_config(self, due: CheckBackfillStep) -> None:
        """Wait while GitHub still shows another config than the one that was pushed."""
        if due.step or self.clock() - due.since > CONFIG_LAG:
            return
        if await self.rule_book.check_head(due.repository, due.head) is not None:
            await self.rule_book.rules(due.repository, self.clock())
            raise RetryLater(CHECK_BACKFILL_RECHECK)

    async def _queue_pull_requests(self, due: CheckBackfillStep) -> None:
        page = await self.github.open_pull_requests_page(due.repository, due.page)
        fresh = due.fresh
        for snapshot in page.pull_requests:
            fresh += await self._queue(due, snapshot)
        if page.following or fresh:
            next_step = replace(
                due, step=due.step + 1, page=page.following, fresh=fresh if page.following else 0
            )
            await self.store.accept(check_backfill_step_delivery(next_step, self.clock()))

    async def _queue(self, due: CheckBackfillStep, snapshot: PullRequestSnapshot) -> bool:
        """Queue the pull request unless it has its check run; whether it was queued for the first time."""
        stored = await self.store.read(load_pull_request, f"pr:{due.repository.id}:{snapshot.number}")
        if stored and stored.head == snapshot.head and stored.check:
            return False
        delivery = check_backfill_delivery(due, snapshot, self.clock())
        if await self.store.read(load_delivery, delivery.id) is not None:
            return False
        if wait := await self.store.write(spend_write, due.repository.installation_id, WRITE_PRIORITY):
            raise RetryLater(max(wait, MIN_STEP_PAUSE))
        await self.store.accept(delivery)
        return True

    async def _queue_repositories(self, due: CheckBackfillStep) -> None:
        """Queue the first step of each of the owner's repositories: the owner's config changed."""
        repositories, next_page = await self.github.repositories_page(
            due.repository.installation_id, due.page
        )
        owner, now = due.repository.owner.casefold(), self.clock()
        for repository in repositories:
            if repository.owner.casefold() == owner and repository.name != OWNER_CONFIG_REPOSITORY:
                first = CheckBackfillStep(repository, due.head, due.since, step=1, fresh=1)
                await self.store.accept(check_backfill_step_delivery(first, now))
        if next_page:
            next_step = replace(due, step=due.step + 1, page=next_page)
            await self.store.accept(check_backfill_step_delivery(next_step, now))


@dataclass(frozen=True, slots=True)
class PastProcessor:
    """Assesses earlier pull requests like those of today, without any comment."""

    github: GitHub
    rule_book: RuleBook
    clock: Callable[[], datetime]

    async def process(
        self, stored: PullRequest | None, received: Sequence[tuple[Event, datetime]]
    ) -> TurnResult:
        """Record the pull request with the verdicts of its reviews."""
        pull_request = stored
        for event, received_at in received:
            pull_request = record_event(pull_request, event, received_at)
        if pull_request is None:
            return NO_CHANGE
        events = [event for event, _ in received]
        pull_request = record_agents(pull_request, new_descriptions(events))
        moment = DecisionTime(self.clock(), str(uuid.uuid4()))
        rules = await self.rule_book.rules(pull_request.repository)
        # What is to be said, the events of today will say: until then nothing counts as shown.
        rules = replace(rules, comment=replace(rules.comment, enabled=False))
        facts = await fetch_reviews(pull_request, events, rules, self.github, moment.now)
        pull_request = add_past_revisions(pull_request, facts.reviews or (), fresh=stored is None)
        pull_request = merge_verdicts(pull_request, facts, rules, moment.now)
        if pull_request.open and (revisions := unread_revisions(pull_request)):
            read = await fetch_revisions(pull_request, revisions, self.github)
            pull_request = merge_revisions(pull_request, read)
        return replace(NO_CHANGE, pull_request=assess(pull_request, rules, moment).pull_request)
