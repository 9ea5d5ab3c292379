"""What would one delivery do? The same decision as in earnest, with nothing written anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.decisions.checks import add_check_effects
from bot.decisions.orders import orders_in
from bot.decisions.pull_request import decide
from bot.decisions.record import record
from bot.domain.comment import Site
from bot.domain.effects import Effect, Withdraw
from bot.domain.events import CheckSeen, ConfigPushed, Event, Ignored, LabelSeen, ReviewSeen
from bot.domain.facts import Facts, Moment
from bot.domain.model import Account, PullRequest
from bot.domain.rules import Rules
from bot.engine.deciding import Deciding
from bot.engine.gather import gather
from bot.engine.listening import judged_unseen, listen, proposed_config
from bot.ports import Delivery, GitHub, Parse, RuleBook

_UNKNOWN = "it says nothing about a pull request that is known"
_COMMAND = "a command is not rehearsed, since its answer depends on who gave it and on what is stored"
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
        known = record(None, event, delivery.received_at) or await self._concerned(event)
        if known is None:
            return Rehearsal((), _COMMAND if orders_in((event,)) else _UNKNOWN)
        rules = await self.rule_book.rules(known.repository)
        moment = Moment(self.clock(), self.new_id())
        if self.github:
            facts = await self._read(self.github, known, event, rules, moment.now)
            deciding = Deciding(rules, moment, self.site, self.github, known.verdicts)
            assessment, facts = await deciding.assess(known, facts)
            decision = deciding.conclude(assessment)
        else:
            facts = self._believed(known, event)
            decision = decide(known, facts, rules, moment, self.site)
        decision = add_check_effects(decision, facts, rules, self.site)
        shown = tuple(effect for effect in decision.effects if not isinstance(effect, Withdraw))
        return Rehearsal(shown, decision.because)

    async def _concerned(self, event: Event) -> PullRequest | None:
        """The first pull request that an event about a commit concerns, or that a validator speaks of."""
        if self.github is None:
            return None
        if not isinstance(event, CheckSeen | ConfigPushed):
            return await judged_unseen((event,), self.rule_book, self.github)
        found = await self.github.pull_requests_at(event.repository, event.head)
        return record(None, replace(event, pull_request=found[0]), self.clock()) if found else None

    async def _read(
        self, github: GitHub, known: PullRequest, event: Event, rules: Rules, now: datetime
    ) -> Facts:
        facts = await gather(known, (event,), github, now)
        facts = await listen(facts, known, (event,), rules, github)
        return replace(facts, config=await proposed_config(known, (event,), self.rule_book, github))

    def _believed(self, known: PullRequest, event: Event) -> Facts:
        """The payload's own word: whoever speaks in it counts as if they may write."""
        if isinstance(event, LabelSeen) and event.sender != known.author:
            return Facts(_NOBODY, roles={event.sender.id: "write"}, spoken=(event,))
        if not isinstance(event, ReviewSeen):
            return Facts(_NOBODY)
        roles = {event.review.author.id: "write"} if event.review.author != known.author else {}
        return Facts(_NOBODY, None, (event.review,), (), roles)
