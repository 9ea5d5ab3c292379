"""Process one lane: record, decide, apply, send."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.commands.fetch import CommandHandler
from bot.commands.invocation import find_invocations
from bot.commands.model import CommandOutcome
from bot.commands.overrides import keep_command_verdicts
from bot.feedback.check_run import add_check_effects, mark_budgeted, render_config_check
from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.inbox.backfill import (
    Backfill,
    BackfillDeliveries,
    CheckBackfill,
    CheckBackfillDeliveries,
    PastProcessor,
    is_backfill_delivery,
    is_backfill_lane,
    is_only_check_backfill,
    rules_since,
    silent_rules,
)
from bot.inbox.maintenance import MaintenanceProcessor, is_maintenance_lane
from bot.inbox.ownership import relocating_parser, resolve_installation
from bot.inbox.parse import DeriveDelivery, ParseDelivery
from bot.inbox.sender import Sender
from bot.markdown.links import LinkContext
from bot.pull_request.effects import Effect, SetHistorySharing, ShowCheckRun, StoreCommand
from bot.pull_request.events import (
    CheckBackfillStep,
    CheckEvent,
    ConfigBrokenEvent,
    ConfigPushEvent,
    Event,
    IgnoredEvent,
    InlineCommentEvent,
    PullRequestSnapshot,
)
from bot.pull_request.facts import DecisionTime
from bot.pull_request.model import PullRequest
from bot.pull_request.record import record_event
from bot.store.model import Delivery, LaneClaim, OutboxRow, RowState, TurnResult
from bot.turn.decide import merge_facts
from bot.turn.fetch import (
    fetch_first_seen,
    fetch_maintainer_answer,
    fetch_proposed_config,
    fetch_recent_records,
    fetch_reviews,
    fetch_signals,
    fetch_unrecorded,
)
from bot.turn.run import TurnRunner
from bot.turn.store import Store
from bot.verdicts.checks import is_mapped_check

COMMIT_LANES = ("commit:", "config:")


def is_commit_lane(lane: str) -> bool:
    """Whether the lane is a commit's or a config's, not a pull request's."""
    return lane.startswith(COMMIT_LANES)


@dataclass(frozen=True, slots=True)
class CommitProcessor:
    """Hands what is said about a commit on to the pull requests with that head."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    parse: ParseDelivery
    derive: DeriveDelivery
    heads: CheckBackfill

    async def turn(
        self, claim: LaneClaim, done: tuple[str, ...], parked: tuple[tuple[str, str], ...]
    ) -> TurnResult:
        """What the lane's deliveries come to; the pull requests' lanes have theirs before this is applied."""
        effects: list[Effect] = []
        memos: list[StoreCommand] = []
        found: dict[str, tuple[PullRequestSnapshot, ...]] = {}
        for delivery in claim.deliveries:
            event = self.parse(delivery) if delivery.id in done else None
            if isinstance(event, ConfigBrokenEvent):
                effects.append(await self._about(event))
            elif isinstance(event, CheckBackfillStep):
                await self.heads.step(event)
                rules = await self.rule_book.rules(event.repository)  # as just read
                memos.append(SetHistorySharing(event.repository.id, rules.history.shared))
            elif isinstance(event, CheckEvent | ConfigPushEvent) and await self._matters(event):
                await self._hand_on(delivery, event, found)
            elif isinstance(event, CheckEvent):
                await self._report_config(delivery, event)
        return TurnResult(None, tuple(effects), done, parked, tuple(memos))

    async def _about(self, event: ConfigBrokenEvent) -> ShowCheckRun:
        """Say on the default branch's newest commit what is wrong with the config on it."""
        report = await self.rule_book.judged(event.repository)
        head = await self.github.branch_head(event.repository)
        return ShowCheckRun(event.repository, render_config_check(report, head, in_force=True))

    async def _matters(self, event: Event) -> bool:
        """Whether any config gives the check a meaning; most checks end here, without a call."""
        if not isinstance(event, CheckEvent):
            return True
        rules = await self.rule_book.rules(event.repository)
        return bool(rules.validators.checks) and is_mapped_check(event, rules, await self.github.me())

    async def _hand_on(
        self,
        delivery: Delivery,
        event: CheckEvent | ConfigPushEvent,
        found: dict[str, tuple[PullRequestSnapshot, ...]],
    ) -> None:
        numbers = event.numbers if isinstance(event, CheckEvent) else ()
        if isinstance(event, ConfigPushEvent) and event.in_force:
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

    async def _report_config(self, delivery: Delivery, event: CheckEvent) -> None:
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


logger = logging.getLogger("pipeline.feedback")


@dataclass(frozen=True, slots=True)
class LaneProcessor:
    """One lane at a time, from its deliveries to what GitHub shows."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    parse: ParseDelivery
    site: LinkContext
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    derive: DeriveDelivery
    writing: BackfillDeliveries
    heads: CheckBackfillDeliveries

    async def take(self, claim: LaneClaim) -> None:
        """Bring GitHub up to what the lane's deliveries say; raises where it must be tried again."""
        claim = await resolve_installation(claim, self.store, self.parse)
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
        self, claim: LaneClaim, known: PullRequest | None
    ) -> tuple[tuple[OutboxRow, ...], PullRequest | None]:
        if not claim.deliveries:
            return tuple(row for row in claim.outbox if row.state is RowState.READY), known
        # The rest has the lane's next turn: what is of today is answered, what is past is not.
        past = tuple(filter(is_backfill_delivery, claim.deliveries))
        read = _ParsedDeliveries.of(past or claim.deliveries, relocating_parser(self.parse, claim.home))
        if is_backfill_lane(claim.lane):
            memos = await Backfill(self.store, self.github, self.writing, self.clock).done(
                [event for event, _ in read.events]
            )
            return await self.store.apply(
                claim, TurnResult(None, (), read.done, read.unreadable, memos)
            ), None
        if past:
            judging = PastProcessor(self.github, self.rule_book, self.clock, self.new_id)
            judged = await judging.judged(known, read.events)
            return await self.store.apply(claim, TurnResult(judged, (), read.done, read.unreadable)), known
        if is_commit_lane(claim.lane):
            return await self.store.apply(claim, await self._commit_turn(claim, read)), None
        if is_maintenance_lane(claim.lane):
            chores = MaintenanceProcessor(
                self.store, self.github, self.rule_book, self.site, self.clock, self._heads
            )
            effects, memos = await chores.done(claim, [event for event, _ in read.events])
            turn = TurnResult(None, effects, read.done, read.unreadable, memos)
            return await self.store.apply(claim, turn), None
        stored = known
        for event, received_at in read.events:
            known = record_event(known, event, received_at)
        turn = await self._turn(claim.lane, stored, known, read)
        # A turn that changes nothing may still owe an edit of the comment that stands there.
        return await self.store.apply(claim, turn), turn.pull_request or known

    async def _commit_turn(self, claim: LaneClaim, read: _ParsedDeliveries) -> TurnResult:
        parse = relocating_parser(self.parse, claim.home)
        commits = CommitProcessor(self.store, self.github, self.rule_book, parse, self.derive, self._heads)
        return await commits.turn(claim, read.done, read.unreadable)

    @property
    def _heads(self) -> CheckBackfill:
        return CheckBackfill(self.store, self.github, self.rule_book, self.heads, self.clock)

    async def _turn(
        self, lane: str, stored: PullRequest | None, known: PullRequest | None, read: _ParsedDeliveries
    ) -> TurnResult:
        orders = find_invocations(event for event, _ in read.events)
        events = [event for event, _ in read.events]
        if known is None:
            unseen = (
                fetch_first_seen(events, self.github)
                if orders
                else fetch_unrecorded(events, self.rule_book, self.github)
            )
            known = await unseen
        if known is None or not read.events:
            return TurnResult(None, (), read.done, read.unreadable)
        now = self.clock()
        rules = await self.rule_book.rules(known.repository, rules_since(events))
        if is_only_check_backfill(events) and not known.verdicts:
            rules = silent_rules(rules)
        facts = await fetch_reviews(known, events, self.github, now)
        facts = await fetch_signals(facts, known, events, rules, self.github)
        facts = replace(facts, forgotten=await self.store.memory.forgotten(known.repository.id))
        if not orders and _are_echoes(events) and merge_facts(known, facts, rules, now) == stored:
            return TurnResult(None, (), read.done, read.unreadable)
        proposed = await fetch_proposed_config(known, events, self.rule_book, self.github)
        facts = replace(facts, config=proposed)
        if known.escalation:
            answered_at = await fetch_maintainer_answer(known, events, self.github)
            facts = replace(facts, maintainer_answered_at=answered_at)
        recent_records = await fetch_recent_records(known, facts, self.store.memory)
        moment = DecisionTime(now, self.new_id())
        deciding = TurnRunner(rules, moment, self.site, self.github, known.verdicts, recent_records)
        assessment, facts = await deciding.assess(known, facts)
        done = CommandOutcome(assessment.pull_request)
        if orders:
            commands = CommandHandler(self.store.memory, self.github, self.site)
            done = await commands.run(lane, assessment.pull_request, orders, rules, now)
            if done.pull_request != assessment.pull_request:
                changed = done.pull_request
                known = replace(
                    known,
                    rulings=changed.rulings,
                    override=changed.override,
                    audits=changed.audits,
                    verdicts=keep_command_verdicts(known.verdicts, changed.verdicts),
                )
                # What the command itself names is looked up as well, unless the turn has looked already.
                assessment, facts = await deciding.assess(known, facts)
        decision = add_check_effects(deciding.conclude(assessment), facts, rules, self.site)
        logger.info("decided", extra={"pull_request": known.name, "reason": decision.reason})
        effects = (*done.reactions, *decision.effects, *done.replies)
        effects = mark_budgeted(effects) if is_only_check_backfill(events) else effects
        memos = (*decision.store_commands, *done.store_commands)
        return TurnResult(
            decision.pull_request, effects, read.done, read.unreadable, memos, shares=rules.history.shared
        )


def _are_echoes(events: Sequence[Event]) -> bool:
    """Whether these may only repeat a review: GitHub tells of each of its inline comments once more."""
    return all(isinstance(event, InlineCommentEvent) for event in events)


@dataclass(frozen=True, slots=True)
class _ParsedDeliveries:
    """What a lane's deliveries say; one that can't be read holds up none of the others."""

    events: tuple[tuple[Event, datetime], ...]
    done: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, deliveries: Sequence[Delivery], parse: ParseDelivery) -> _ParsedDeliveries:
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
            if not isinstance(event, IgnoredEvent):
                events.append((event, delivery.received_at))
        return cls(tuple(events), tuple(done), tuple(unreadable))
