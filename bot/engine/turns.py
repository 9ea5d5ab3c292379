"""What does one turn of a pull request's lane do? Record, read, decide once, apply, send."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.decisions.checks import add_check_effects, mark_budgeted
from bot.decisions.command import Outcome
from bot.decisions.comment_verdicts import with_commands
from bot.decisions.orders import orders_in
from bot.decisions.pull_request import merge_facts
from bot.decisions.record import record
from bot.domain.comment import Site
from bot.domain.events import Event, Ignored, InlineCommentSeen
from bot.domain.facts import Moment
from bot.domain.model import PullRequest
from bot.engine.backfill import Backfill, Writing, is_backfill
from bot.engine.chores import Chores, is_chore
from bot.engine.commands import Commands
from bot.engine.commit_turns import CommitTurns, is_about_commits
from bot.engine.deciding import Deciding
from bot.engine.gather import gather
from bot.engine.heads import Heads, HeadWriting, in_silence, only_catches_up, since_when
from bot.engine.hearing import heard_at
from bot.engine.homes import at_home, reading
from bot.engine.listening import judged_unseen, listen, proposed_config
from bot.engine.past import PastTurns, is_past
from bot.engine.recall import first_seen, recent_records
from bot.engine.sending import Sender
from bot.ports import Claim, Delivery, Derive, GitHub, OutboxRow, Parse, RowState, RuleBook, Store, Turn

logger = logging.getLogger("pipeline.feedback")


@dataclass(frozen=True, slots=True)
class Turns:
    """One lane at a time, from its deliveries to what GitHub shows."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    parse: Parse
    site: Site
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    derive: Derive
    writing: Writing
    heads: HeadWriting

    async def take(self, claim: Claim) -> None:
        """Bring GitHub up to what the lane's deliveries say; raises where it must be tried again."""
        claim = await at_home(claim, self.store, self.parse)
        sender = Sender(self.store, self.github, self.clock)
        known = await self.store.load(claim.lane)
        # A row whose answer was lost is settled first: what it wrote decides whether we edit or post.
        unsettled = tuple(row for row in claim.outbox if row.state is RowState.SENDING)
        if unsettled:
            await sender.send(claim, unsettled, known.sticky if known else None)
            known = await self.store.load(claim.lane)
        owed, known = await self._decided(claim, known)
        await sender.send(claim, owed, known.sticky if known else None)

    async def _decided(
        self, claim: Claim, known: PullRequest | None
    ) -> tuple[tuple[OutboxRow, ...], PullRequest | None]:
        if not claim.deliveries:
            return tuple(row for row in claim.outbox if row.state is RowState.READY), known
        # The rest has the lane's next turn: what is of today is answered, what is past is not.
        past = tuple(filter(is_past, claim.deliveries))
        read = _Read.of(past or claim.deliveries, reading(self.parse, claim.home))
        if is_backfill(claim.lane):
            memos = await Backfill(self.store, self.github, self.writing, self.clock).done(
                [event for event, _ in read.events]
            )
            return await self.store.apply(claim, Turn(None, (), read.done, read.unreadable, memos)), None
        if past:
            judging = PastTurns(self.github, self.rule_book, self.site, self.clock, self.new_id)
            judged = await judging.judged(known, read.events)
            return await self.store.apply(claim, Turn(judged, (), read.done, read.unreadable)), known
        if is_about_commits(claim.lane):
            return await self.store.apply(claim, await self._commit_turn(claim, read)), None
        if is_chore(claim.lane):
            chores = Chores(self.store, self.github, self.rule_book, self.site, self.clock, self._heads)
            effects, memos = await chores.done(claim, [event for event, _ in read.events])
            turn = Turn(None, effects, read.done, read.unreadable, memos)
            return await self.store.apply(claim, turn), None
        stored = known
        for event, received_at in read.events:
            known = record(known, event, received_at)
        turn = await self._turn(claim.lane, stored, known, read)
        # A turn that changes nothing may still owe an edit of the comment that stands there.
        return await self.store.apply(claim, turn), turn.pull_request or known

    async def _commit_turn(self, claim: Claim, read: _Read) -> Turn:
        parse = reading(self.parse, claim.home)
        commits = CommitTurns(self.store, self.github, self.rule_book, parse, self.derive, self._heads)
        return await commits.turn(claim, read.done, read.unreadable)

    @property
    def _heads(self) -> Heads:
        return Heads(self.store, self.github, self.rule_book, self.heads, self.clock)

    async def _turn(
        self, lane: str, stored: PullRequest | None, known: PullRequest | None, read: _Read
    ) -> Turn:
        orders = orders_in(event for event, _ in read.events)
        events = [event for event, _ in read.events]
        if known is None:
            unseen = (
                first_seen(events, self.github)
                if orders
                else judged_unseen(events, self.rule_book, self.github)
            )
            known = await unseen
        if known is None or not read.events:
            return Turn(None, (), read.done, read.unreadable)
        now = self.clock()
        rules = await self.rule_book.rules(known.repository, since_when(events))
        if only_catches_up(events) and not known.verdicts:
            rules = in_silence(rules)
        facts = await gather(known, events, self.github, now)
        facts = await listen(facts, known, events, rules, self.github)
        facts = replace(facts, forgotten=await self.store.memory.forgotten(known.repository.id))
        if not orders and _are_echoes(events) and merge_facts(known, facts, rules, now) == stored:
            return Turn(None, (), read.done, read.unreadable)
        proposed = await proposed_config(known, events, self.rule_book, self.github)
        facts = replace(facts, config=proposed)
        if known.escalation:
            heard = await heard_at(known, [event for event, _ in read.events], self.github)
            facts = replace(facts, heard_at=heard)
        facts = replace(facts, recent=await recent_records(known, facts, self.store.memory))
        moment = Moment(now, self.new_id())
        deciding = Deciding(rules, moment, self.site, self.github, known.verdicts)
        assessment, facts = await deciding.assess(known, facts)
        done = Outcome(assessment.pull_request)
        if orders:
            commands = Commands(self.store.memory, self.github, self.site)
            done = await commands.carry_out(lane, assessment.pull_request, orders, rules, now)
            if done.pull_request != assessment.pull_request:
                changed = done.pull_request
                known = replace(
                    known,
                    rulings=changed.rulings,
                    override=changed.override,
                    audits=changed.audits,
                    verdicts=with_commands(known.verdicts, changed.verdicts),
                )
                # What the command itself names is looked up as well, unless the turn has looked already.
                assessment, facts = await deciding.assess(known, facts)
        decision = add_check_effects(deciding.conclude(assessment), facts, rules, self.site)
        logger.info("decided", extra={"pull_request": known.name, "because": decision.because})
        effects = (*done.reactions, *decision.effects, *done.replies)
        effects = mark_budgeted(effects) if only_catches_up(events) else effects
        memos = (*decision.memos, *done.memos)
        return Turn(
            decision.pull_request, effects, read.done, read.unreadable, memos, shares=rules.history.shared
        )


def _are_echoes(events: Sequence[Event]) -> bool:
    """Whether these may only repeat a review: GitHub tells of each of its inline comments once more."""
    return all(isinstance(event, InlineCommentSeen) for event in events)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a lane's deliveries say; one that can't be read holds up none of the others."""

    events: tuple[tuple[Event, datetime], ...]
    done: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, deliveries: Sequence[Delivery], parse: Parse) -> _Read:
        events: list[tuple[Event, datetime]] = []
        done: list[str] = []
        unreadable: list[tuple[str, str]] = []
        for delivery in deliveries:
            try:
                event = parse(delivery)
            except Exception as error:
                # Reading is deterministic: trying again helps only once the code is mended.
                logger.exception("a delivery can't be read", extra={"delivery": delivery.id})
                unreadable.append((delivery.id, f"{type(error).__name__}: {error}"))
                continue
            done.append(delivery.id)
            if not isinstance(event, Ignored):
                events.append((event, delivery.received_at))
        return cls(tuple(events), tuple(done), tuple(unreadable))
