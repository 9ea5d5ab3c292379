"""What would one delivery do? The same decision as in earnest, with nothing written anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.decisions.pull_request import decide
from bot.decisions.record import record
from bot.domain.comment import Site
from bot.domain.effects import Effect, Withdraw
from bot.domain.events import Event, Ignored, ReviewSeen
from bot.domain.facts import Facts, Moment
from bot.domain.model import Account, PullRequest
from bot.engine.gather import gather
from bot.ports import Delivery, GitHub, Parse, RuleBook

_NOBODY = Account(-1, "whetstone[bot]", bot=True)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What would happen, and why."""

    effects: tuple[Effect, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Stage:
    """What a rehearsal needs; without GitHub it believes the payload."""

    parse: Parse
    rule_book: RuleBook
    site: Site
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    github: GitHub | None = None

    async def rehearse(self, delivery: Delivery) -> Rehearsal:
        """The effects that this delivery would have on a pull request not seen before."""
        event = self.parse(delivery)
        if isinstance(event, Ignored):
            return Rehearsal((), event.reason)
        known = record(None, event, delivery.received_at)
        if known is None:
            return Rehearsal((), "it says nothing about a pull request that is known")
        rules = await self.rule_book.rules(known.repository)
        now = self.clock()
        facts = await self._facts(known, event)
        if self.github:
            facts = await gather(known, (event,), rules, self.github, now)
        decision = decide(known, facts, rules, Moment(now, self.new_id()), self.site)
        shown = tuple(effect for effect in decision.effects if not isinstance(effect, Withdraw))
        return Rehearsal(shown, decision.because)

    async def _facts(self, known: PullRequest, event: Event) -> Facts:
        """The payload's own word: its review counts as if its author may write."""
        if not isinstance(event, ReviewSeen):
            return Facts(_NOBODY)
        roles = {event.review.author.id: "write"} if event.review.author != known.author else {}
        return Facts(_NOBODY, None, (event.review,), (), roles)
