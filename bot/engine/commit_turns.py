"""Whom does an event about a commit concern? Its turn finds the pull requests, and tells each lane."""

from __future__ import annotations

from dataclasses import dataclass

from bot.decisions.check_verdicts import is_mapped
from bot.domain.check_effects import ShowCheck
from bot.domain.config_check import config_check
from bot.domain.effects import Effect
from bot.domain.events import CheckSeen, ConfigPushed, Event
from bot.domain.memos import HistoryShared, Memo
from bot.domain.own_events import ConfigBroken, HeadsDue
from bot.domain.snapshots import PullRequestSnapshot
from bot.engine.heads import Heads
from bot.ports import Claim, Delivery, Derive, GitHub, Parse, RuleBook, Store, Turn

LANES = ("commit:", "config:")


def is_about_commits(lane: str) -> bool:
    """Whether the lane is a commit's or a config's, not a pull request's."""
    return lane.startswith(LANES)


@dataclass(frozen=True, slots=True)
class CommitTurns:
    """Hands what is said about a commit on to the pull requests with that head."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    parse: Parse
    derive: Derive
    heads: Heads

    async def turn(self, claim: Claim, done: tuple[str, ...], parked: tuple[tuple[str, str], ...]) -> Turn:
        """What the lane's deliveries come to; the pull requests' lanes have theirs before this is applied."""
        effects: list[Effect] = []
        memos: list[Memo] = []
        found: dict[str, tuple[PullRequestSnapshot, ...]] = {}
        for delivery in claim.deliveries:
            event = self.parse(delivery) if delivery.id in done else None
            if isinstance(event, ConfigBroken):
                effects.append(await self._about(event))
            elif isinstance(event, HeadsDue):
                await self.heads.step(event)
                rules = await self.rule_book.rules(event.repository)  # as just read
                memos.append(HistoryShared(event.repository.id, rules.history.shared))
            elif isinstance(event, CheckSeen | ConfigPushed) and await self._matters(event):
                await self._hand_on(delivery, event, found)
            elif isinstance(event, CheckSeen):
                await self._tell_judged(delivery, event)
        return Turn(None, tuple(effects), done, parked, tuple(memos))

    async def _about(self, event: ConfigBroken) -> ShowCheck:
        """Say on the default branch's newest commit what is wrong with the config on it."""
        report = await self.rule_book.judged(event.repository)
        head = await self.github.branch_head(event.repository)
        return ShowCheck(event.repository, config_check(report, head, in_force=True))

    async def _matters(self, event: Event) -> bool:
        """Whether any config gives the check a meaning; most checks end here, without a call."""
        if not isinstance(event, CheckSeen):
            return True
        rules = await self.rule_book.rules(event.repository)
        return bool(rules.validators.checks) and is_mapped(event, rules, await self.github.me())

    async def _hand_on(
        self,
        delivery: Delivery,
        event: CheckSeen | ConfigPushed,
        found: dict[str, tuple[PullRequestSnapshot, ...]],
    ) -> None:
        numbers = event.numbers if isinstance(event, CheckSeen) else ()
        if isinstance(event, ConfigPushed) and event.in_force:
            await self.heads.begin(event.repository, event.head)
        if numbers and not await self._all_known(event.repository.id, numbers):
            numbers = ()
        elif not numbers:  # a fork's: those that we were told of are not looked for
            numbers = await self.store.numbers_at(event.repository.id, event.head)
        if numbers:
            for number in numbers:
                await self.store.accept(self.derive(delivery, number, None))
            return
        if event.head not in found:
            found[event.head] = await self.github.pull_requests_at(event.repository, event.head)
        for seen in found[event.head]:
            await self.store.accept(self.derive(delivery, seen.number, seen))

    async def _tell_judged(self, delivery: Delivery, event: CheckSeen) -> None:
        """A check without a meaning still counts in the score of what was judged; no call is made for it."""
        for number in event.numbers:
            known = await self.store.load(f"pr:{event.repository.id}:{number}")
            if known and known.verdicts:
                await self.store.accept(self.derive(delivery, number, None))

    async def _all_known(self, repository_id: int, numbers: tuple[int, ...]) -> bool:
        for number in numbers:
            if await self.store.load(f"pr:{repository_id}:{number}") is None:
                return False
        return True
