"""Backfill earlier pull requests, and check runs that the config newly asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.gates.config import RepositoryRules
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.github.model import PullRequestPage
from bot.inbox.retry import RetryLater
from bot.pull_request.effects import StoreCommand, UpdateRepository
from bot.pull_request.events import (
    BackfillStep,
    CheckBackfillEvent,
    CheckBackfillStep,
    Event,
    PullRequestSnapshot,
)
from bot.pull_request.facts import DecisionTime
from bot.pull_request.model import PullRequest
from bot.pull_request.record import add_past_revisions, merge_revisions, record_event
from bot.store.model import Delivery
from bot.turn import fetch as turn_fetch
from bot.turn.decide import assess, merge_verdicts
from bot.turn.fetch import fetch_reviews, unread_revisions
from bot.turn.store import Store
from bot.values import Repository

BACKFILL_PREFIX = "backfill:"
"""How the id of every delivery of a backfill begins."""
MAX_WAITING = 10
"""The next page is read when no more than so many pull requests of the last one are left."""
RATE_RESERVE = 0.25
"""The share of GitHub's hourly budget that is left to the daily work."""
BACKFILL_RECHECK = 0.25
MAX_RATE_WAIT = 3600.0


@dataclass(frozen=True, slots=True)
class BackfillDeliveries:
    """How the deliveries of a backfill are written down."""

    step: Callable[[BackfillStep, datetime], Delivery]
    past: Callable[[BackfillStep, PullRequestSnapshot, datetime], Delivery]


def is_backfill_lane(lane: str) -> bool:
    """Whether the lane is a repository's backfill."""
    return lane.startswith(BACKFILL_PREFIX)


def backfill_prefixes(due: BackfillStep) -> tuple[str, str]:
    """How the lanes and the ids begin of what a backfill has handed on."""
    return f"pr:{due.repository.id}:", f"{BACKFILL_PREFIX}{due.run}:"


@dataclass(frozen=True, slots=True)
class Backfill:
    """Hands one page on to the lanes of its pull requests, and leaves the next step in the inbox.

    The steps are deliveries, so an interruption loses nothing: whoever works next goes on.
    """

    store: Store
    github: GitHub
    writing: BackfillDeliveries
    clock: Callable[[], datetime]

    async def done(self, events: Sequence[Event]) -> tuple[StoreCommand, ...]:
        """What to remember; raises `NotYet` while the last page keeps the lanes busy."""
        steps = [event for event in events if isinstance(event, BackfillStep)]
        for due in steps:
            await self._step(due)
        return tuple(UpdateRepository(due.repository) for due in steps[:1])

    async def _step(self, due: BackfillStep) -> None:
        left = await self.store.queued(*backfill_prefixes(due))
        if left > (0 if due.closing else MAX_WAITING):
            raise RetryLater(BACKFILL_RECHECK)
        if due.closing:
            return
        await reserve_rate_limit(due.repository, self.github, self.clock)
        page = await self.github.pull_requests_page(due.repository, due.page)
        wanted = [seen for seen in page.pull_requests if due.since is None or seen.updated_at >= due.since]
        now = self.clock()
        await asyncio.gather(*(self.store.accept(self.writing.past(due, seen, now)) for seen in wanted))
        # Last, and with an id of its own: a step that is repeated hands nothing on twice.
        await self.store.accept(self.writing.step(_following(due, page, len(wanted)), now))


async def reserve_rate_limit(repository: Repository, github: GitHub, clock: Callable[[], datetime]) -> None:
    """Wait for the next hour where the daily work needs what is left of this one's calls."""
    budget = await github.budget(repository)
    if budget is None or budget.left >= budget.limit * RATE_RESERVE:
        return
    wait = (budget.resets_at - clock()).total_seconds() + 1
    raise RetryLater(min(max(wait, 1.0), MAX_RATE_WAIT))


def _following(due: BackfillStep, page: PullRequestPage, wanted: int) -> BackfillStep:
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


OWNERS_PER_STEP = ".github"
"""The repository whose config holds for all of its owner's."""
WRITE_PRIORITY = 2
"""The priority of these writes: whatever somebody waits for goes first."""
MIN_STEP_PAUSE = 30.0
MAX_STEPS = 10_000
CONFIG_LAG = timedelta(seconds=60)
"""For so long GitHub may show a file as it was before the push."""
CHECK_BACKFILL_RECHECK = 2.0
INSTALL_ACTIONS = "let-in-"
"""What the commit's name begins with where there was none: the App was let in."""


@dataclass(frozen=True, slots=True)
class CheckBackfillDeliveries:
    """How the deliveries of such a catching up are written down."""

    step: Callable[[CheckBackfillStep, datetime], Delivery]
    head: Callable[[CheckBackfillStep, PullRequestSnapshot, datetime], Delivery]


def rules_since(events: Iterable[Event]) -> datetime | None:
    """After when the rules have to be read that these events are judged by; None where it does not matter."""
    return max((event.since for event in events if isinstance(event, CheckBackfillEvent)), default=None)


def is_only_check_backfill(events: Iterable[Event]) -> bool:
    """Whether a turn is about nothing but check runs that are missing."""
    return all(isinstance(event, CheckBackfillEvent) for event in events)


def silent_rules(rules: RepositoryRules) -> RepositoryRules:
    """The rules by which the past is judged: what is to be said in the thread, today's events will say."""
    return replace(rules, comment=replace(rules.comment, enabled=False, suggestions=False))


@dataclass(frozen=True, slots=True)
class CheckBackfill:
    """Hands the open pull requests on to their lanes, each once there is room for its write.

    The steps are deliveries, so an interruption loses nothing. GitHub's list shifts when a pull request of
    an earlier page is closed meanwhile, so it is gone through again until a pass finds nothing new.
    """

    store: Store
    github: GitHub
    rule_book: RuleBook
    writing: CheckBackfillDeliveries
    clock: Callable[[], datetime]

    async def begin(self, repository: Repository, head: str) -> None:
        """Leave the first step in the inbox: another config holds from this commit on."""
        now = self.clock()
        # As if it had found some already: the first pass may have missed what moved to an earlier page.
        due = CheckBackfillStep(repository, head, now, fresh=1, owners=repository.name == OWNERS_PER_STEP)
        await self.store.accept(self.writing.step(due, now))
        if due.owners:
            await self.store.accept(self.writing.step(replace(due, owners=False), now))

    async def start_for_installation(self, repositories: Iterable[Repository]) -> None:
        """Leave the first step for each: what the App could not see has open pull requests, too."""
        now = self.clock()
        for each in repositories:
            due = CheckBackfillStep(each, f"{INSTALL_ACTIONS}{now:%Y%m%d%H%M%S}", now, step=1, fresh=1)
            await self.store.accept(self.writing.step(due, now))

    async def step(self, due: CheckBackfillStep) -> None:
        """One page; raises `NotYet` while there is no room for more."""
        await reserve_rate_limit(due.repository, self.github, self.clock)
        rules = await self.rule_book.rules(due.repository, due.since)
        await self._not_before_it_shows(due)
        if not rules.check.enabled or due.step >= MAX_STEPS:
            return
        if due.head.startswith(INSTALL_ACTIONS):
            # What tells of it names no default branch.
            where = due.repository
            whole = await self.github.repository(where.owner, where.name, where.installation_id)
            due = replace(due, repository=whole)
        await (self._repositories(due) if due.owners else self._pull_requests(due))

    async def _not_before_it_shows(self, due: CheckBackfillStep) -> None:
        """Wait while GitHub still shows another config than the one that was pushed."""
        if due.step or self.clock() - due.since > CONFIG_LAG:
            return
        if await self.rule_book.report(due.repository, due.head) is not None:
            await self.rule_book.rules(due.repository, self.clock())
            raise RetryLater(CHECK_BACKFILL_RECHECK)

    async def _pull_requests(self, due: CheckBackfillStep) -> None:
        page = await self.github.open_pull_requests_page(due.repository, due.page)
        fresh = due.fresh
        for seen in page.pull_requests:
            fresh += await self._handed_on(due, seen)
        if page.following or fresh:
            following = replace(
                due, step=due.step + 1, page=page.following, fresh=fresh if page.following else 0
            )
            await self.store.accept(self.writing.step(following, self.clock()))

    async def _handed_on(self, due: CheckBackfillStep, seen: PullRequestSnapshot) -> int:
        """1 where the pull request's lane was told for the first time."""
        known = await self.store.load(f"pr:{due.repository.id}:{seen.number}")
        if known and known.head == seen.head and known.check:
            return 0
        told = self.writing.head(due, seen, self.clock())
        if await self.store.kept(told.id) is not None:
            return 0
        if wait := await self.store.spend(due.repository.installation_id, WRITE_PRIORITY):
            raise RetryLater(max(wait, MIN_STEP_PAUSE))
        await self.store.accept(told)
        return 1

    async def _repositories(self, due: CheckBackfillStep) -> None:
        """The owner's config changed: each of their repositories has open pull requests of its own."""
        where, following = await self.github.repositories_page(due.repository.installation_id, due.page)
        owner, now = due.repository.owner.casefold(), self.clock()
        for each in where:
            if each.owner.casefold() == owner and each.name != OWNERS_PER_STEP:
                first = CheckBackfillStep(each, due.head, due.since, step=1, fresh=1)
                await self.store.accept(self.writing.step(first, now))
        if following:
            await self.store.accept(self.writing.step(replace(due, step=due.step + 1, page=following), now))


def is_backfill_delivery(delivery: Delivery) -> bool:
    """Whether the delivery is about the past; such a one has a turn without any others."""
    return delivery.id.startswith(BACKFILL_PREFIX)


@dataclass(frozen=True, slots=True)
class PastProcessor:
    """Judges pull requests of the past as those of today, in silence."""

    github: GitHub
    rule_book: RuleBook
    clock: Callable[[], datetime]
    new_id: Callable[[], str]

    async def judged(
        self, before: PullRequest | None, events: Sequence[tuple[Event, datetime]]
    ) -> PullRequest | None:
        """The pull request with the verdicts that its reviews amount to."""
        known = before
        for event, at in events:
            known = record_event(known, event, at)
        if known is None:
            return None
        moment = DecisionTime(self.clock(), self.new_id())
        rules = await self.rule_book.rules(known.repository)
        # Whatever is to be said, today's events will say: until then nothing counts as said.
        quiet = replace(rules, comment=replace(rules.comment, enabled=False))
        facts = await fetch_reviews(known, [event for event, _ in events], self.github, moment.now)
        known = add_past_revisions(known, facts.reviews or (), fresh=before is None)
        known = merge_verdicts(known, facts, quiet, moment.now)
        heads = unread_revisions(known) if known.open else ()
        if heads:
            known = merge_revisions(known, await turn_fetch.fetch_revisions(known, heads, self.github))
        return assess(known, quiet, moment).pull_request
