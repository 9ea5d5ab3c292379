"""What does a turn about a pull request of the past do? It records and judges, and owes nobody a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.decisions.past import with_past_heads
from bot.decisions.pull_request import assess, merge_verdicts
from bot.decisions.record import record
from bot.decisions.revisions import unread, with_revisions
from bot.domain.comment import Site
from bot.domain.events import Event
from bot.domain.facts import Moment
from bot.domain.model import PullRequest
from bot.engine import revisions
from bot.engine.backfill import PREFIX
from bot.engine.gather import gather
from bot.ports import Delivery, GitHub, RuleBook


def is_past(delivery: Delivery) -> bool:
    """Whether the delivery is about the past; such a one has a turn without any others."""
    return delivery.id.startswith(PREFIX)


@dataclass(frozen=True, slots=True)
class PastTurns:
    """Judges pull requests of the past as those of today, in silence."""

    github: GitHub
    rule_book: RuleBook
    site: Site
    clock: Callable[[], datetime]
    new_id: Callable[[], str]

    async def judged(
        self, before: PullRequest | None, events: Sequence[tuple[Event, datetime]]
    ) -> PullRequest | None:
        """The pull request with the verdicts that its reviews amount to."""
        known = before
        for event, at in events:
            known = record(known, event, at)
        if known is None:
            return None
        moment = Moment(self.clock(), self.new_id())
        rules = await self.rule_book.rules(known.repository)
        # Whatever is to be said, today's events will say: until then nothing counts as said.
        quiet = replace(rules, comment=replace(rules.comment, enabled=False))
        facts = await gather(known, [event for event, _ in events], self.github, moment.now)
        known = with_past_heads(known, facts.reviews or (), fresh=before is None)
        known = merge_verdicts(known, facts, quiet, moment.now)
        heads = unread(known) if known.open else ()
        if heads:
            known = with_revisions(known, await revisions.read(known, heads, self.github))
        return assess(known, facts, quiet, moment, self.site).pull_request
