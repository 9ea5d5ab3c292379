"""How does every open pull request come by its check run, once the config asks for one?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.events import Event
from bot.domain.model import Repository
from bot.domain.own_events import HeadsDue, HeadSeen
from bot.domain.rules import Rules
from bot.domain.snapshots import PullRequestSnapshot
from bot.engine.backfill import leave_some
from bot.engine.settling import NotYet
from bot.ports import Delivery, GitHub, RuleBook, Store

OWNERS = ".github"
"""The repository whose config holds for all of its owner's."""
LOWEST = 2
"""The priority of these writes: whatever somebody waits for goes first."""
LEAST_PAUSE = 30.0
MOST_STEPS = 10_000
LAG = timedelta(seconds=60)
"""For so long GitHub may show a file as it was before the push."""
LOOK_AGAIN = 2.0
LET_IN = "let-in-"
"""What the commit's name begins with where there was none: the App was let in."""


@dataclass(frozen=True, slots=True)
class HeadWriting:
    """How the deliveries of such a catching up are written down."""

    step: Callable[[HeadsDue, datetime], Delivery]
    head: Callable[[HeadsDue, PullRequestSnapshot, datetime], Delivery]


def since_when(events: Iterable[Event]) -> datetime | None:
    """After when the rules have to be read that these events are judged by; None where it does not matter."""
    return max((event.since for event in events if isinstance(event, HeadSeen)), default=None)


def only_catches_up(events: Iterable[Event]) -> bool:
    """Whether a turn is about nothing but check runs that are missing."""
    return all(isinstance(event, HeadSeen) for event in events)


def in_silence(rules: Rules) -> Rules:
    """The rules by which the past is judged: what is to be said in the thread, today's events will say."""
    return replace(rules, comment=replace(rules.comment, enabled=False, suggestions=False))


@dataclass(frozen=True, slots=True)
class Heads:
    """Hands the open pull requests on to their lanes, each once there is room for its write.

    The steps are deliveries, so an interruption loses nothing. GitHub's list shifts when a pull request of
    an earlier page is closed meanwhile, so it is gone through again until a pass finds nothing new.
    """

    store: Store
    github: GitHub
    rule_book: RuleBook
    writing: HeadWriting
    clock: Callable[[], datetime]

    async def begin(self, repository: Repository, head: str) -> None:
        """Leave the first step in the inbox: another config holds from this commit on."""
        now = self.clock()
        # As if it had found some already: the first pass may have missed what moved to an earlier page.
        due = HeadsDue(repository, head, now, fresh=1, owners=repository.name == OWNERS)
        await self.store.accept(self.writing.step(due, now))
        if due.owners:
            await self.store.accept(self.writing.step(replace(due, owners=False), now))

    async def let_in(self, repositories: Iterable[Repository]) -> None:
        """Leave the first step for each: what the App could not see has open pull requests, too."""
        now = self.clock()
        for each in repositories:
            due = HeadsDue(each, f"{LET_IN}{now:%Y%m%d%H%M%S}", now, step=1, fresh=1)
            await self.store.accept(self.writing.step(due, now))

    async def step(self, due: HeadsDue) -> None:
        """One page; raises `NotYet` while there is no room for more."""
        await leave_some(due.repository, self.github, self.clock)
        rules = await self.rule_book.rules(due.repository, due.since)
        await self._not_before_it_shows(due)
        if not rules.check.enabled or due.step >= MOST_STEPS:
            return
        if due.head.startswith(LET_IN):
            # What tells of it names no default branch.
            where = due.repository
            whole = await self.github.repository(where.owner, where.name, where.installation_id)
            due = replace(due, repository=whole)
        await (self._repositories(due) if due.owners else self._pull_requests(due))

    async def _not_before_it_shows(self, due: HeadsDue) -> None:
        """Wait while GitHub still shows another config than the one that was pushed."""
        if due.step or self.clock() - due.since > LAG:
            return
        if await self.rule_book.report(due.repository, due.head) is not None:
            await self.rule_book.rules(due.repository, self.clock())
            raise NotYet(LOOK_AGAIN)

    async def _pull_requests(self, due: HeadsDue) -> None:
        page = await self.github.open_pull_requests_page(due.repository, due.page)
        fresh = due.fresh
        for seen in page.pull_requests:
            fresh += await self._handed_on(due, seen)
        if page.following or fresh:
            following = replace(
                due, step=due.step + 1, page=page.following, fresh=fresh if page.following else 0
            )
            await self.store.accept(self.writing.step(following, self.clock()))

    async def _handed_on(self, due: HeadsDue, seen: PullRequestSnapshot) -> int:
        """1 where the pull request's lane was told for the first time."""
        known = await self.store.load(f"pr:{due.repository.id}:{seen.number}")
        if known and known.head == seen.head and known.check:
            return 0
        told = self.writing.head(due, seen, self.clock())
        if await self.store.kept(told.id) is not None:
            return 0
        if wait := await self.store.spend(due.repository.installation_id, LOWEST):
            raise NotYet(max(wait, LEAST_PAUSE))
        await self.store.accept(told)
        return 1

    async def _repositories(self, due: HeadsDue) -> None:
        """The owner's config changed: each of their repositories has open pull requests of its own."""
        where, following = await self.github.repositories_page(due.repository.installation_id, due.page)
        owner, now = due.repository.owner.casefold(), self.clock()
        for each in where:
            if each.owner.casefold() == owner and each.name != OWNERS:
                first = HeadsDue(each, due.head, due.since, step=1, fresh=1)
                await self.store.accept(self.writing.step(first, now))
        if following:
            await self.store.accept(self.writing.step(replace(due, step=due.step + 1, page=following), now))
