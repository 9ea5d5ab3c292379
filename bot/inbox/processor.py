"""Process one claimed lane: read its deliveries, run its turn, apply the result, send what is owed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from bot.gates.rule_book import RuleBook
from bot.github.client import GitHub
from bot.history.forget import find_open_about
from bot.inbox.backfill import BACKFILL_PREFIX, Backfill, CheckBackfill, PastProcessor
from bot.inbox.internal_deliveries import refresh_delivery, revisit_delivery
from bot.inbox.maintenance import CommitProcessor, MaintenanceProcessor
from bot.inbox.ownership import event_for_owner, resolve_installation
from bot.inbox.parse import parse_delivery
from bot.inbox.retry import RetryLater
from bot.inbox.sender import Sender, posts_new_comment
from bot.markdown.links import LinkContext
from bot.metrics import Meter
from bot.pull_request.effects import ForgetPerson
from bot.pull_request.events import CheckBackfillEvent, Event, IgnoredEvent
from bot.pull_request.model import PullRequest
from bot.store.database import Transaction
from bot.store.model import Delivery, LaneClaim, RepositoryOwnership, RowState, TurnResult
from bot.store.pull_requests import decode_pull_request, load_pull_request
from bot.store.store import Store
from bot.turn.run import NO_CHANGE, TurnRunner
from bot.turn.store import apply_turn

logger = logging.getLogger("pipeline.feedback")


@dataclass(frozen=True, slots=True)
class LaneProcessor:
    """Processes one lane at a time, from its deliveries to what GitHub shows."""

    store: Store
    github: GitHub
    rule_book: RuleBook
    site: LinkContext
    clock: Callable[[], datetime]
    meter: Meter = field(default_factory=Meter)

    async def process(self, claim: LaneClaim) -> None:
        """Bring GitHub up to date with the lane's deliveries; raises if it must be tried again."""
        begun, outcome = time.perf_counter(), "done"
        try:
            await self._process(claim)
        except Exception as error:
            outcome = type(error).__name__
            raise
        else:
            for delivery in claim.deliveries:
                waited = (self.clock() - delivery.received_at).total_seconds()
                self.meter.latency.observe(max(0.0, waited))
        finally:
            self.meter.turns.labels(outcome).inc()
            self.meter.turn_seconds.observe(time.perf_counter() - begun)

    async def _process(self, claim: LaneClaim) -> None:
        if claim.ownership is None:
            stored = decode_pull_request(claim.stored)
        else:
            claim = await resolve_installation(claim, self.store)
            stored = await self.store.read(load_pull_request, claim.lane)
        sender = Sender(self.store, self.github, self.clock)
        # A row whose answer was lost is settled first: what it wrote decides whether we edit or post.
        unsettled = tuple(row for row in claim.outbox if row.state is RowState.SENDING)
        if unsettled:
            await sender.send(claim, unsettled, stored.sticky if stored else None)
            await self.store.write_notes(claim)
            stored = await self.store.read(load_pull_request, claim.lane)
        owed = tuple(row for row in claim.outbox if row.state is RowState.READY)
        if claim.deliveries:
            # A delivery about the past has a turn without others: it is not answered, those of today are.
            past = tuple(delivery for delivery in claim.deliveries if delivery.id.startswith(BACKFILL_PREFIX))
            batch = _Batch.parse(past or claim.deliveries, claim.ownership)
            result = await self._run_turn(claim, stored, batch, is_past=bool(past))
            result = replace(result, done=batch.done, parked=batch.unreadable)
            named = await self._find_named(result)
            stored = result.pull_request or stored
            is_post = partial(posts_new_comment, sticky=stored.sticky if stored else None)
            follow_ups = partial(_plan_revisits, result=result, named=named, now=self.clock())
            owed = await apply_turn(self.store, claim, result, is_post, follow_ups)
            if named or result.revisit_at:
                self.store.wakes.set()
        await sender.send(claim, owed, stored.sticky if stored else None)

    async def _find_named(self, result: TurnResult) -> dict[str, str]:
        """Find the open pull requests whose comments name a person to be forgotten, each with the command."""
        return {
            lane: f"forget:{command.key}"
            for command in result.store_commands
            if isinstance(command, ForgetPerson)
            for lane in await self.store.read(find_open_about, command)
        }

    async def _revisit(self, revisit_lane: str, events: Sequence[Event]) -> TurnResult:
        """Have a comment refreshed once the time has come; raises `RetryLater` before."""
        for event in events:
            if not isinstance(event, CheckBackfillEvent):
                continue
            if (early := (event.since - self.clock()).total_seconds()) > 0:
                raise RetryLater(early)
            snapshot = event.pull_request
            lane = f"pr:{snapshot.repository.id}:{snapshot.number}"
            if stored := await self.store.read(load_pull_request, lane):
                identity = f"{revisit_lane}:{stored.head}"
                await self.store.accept(refresh_delivery(stored, identity, self.clock()))
        return NO_CHANGE

    async def _run_turn(
        self, claim: LaneClaim, stored: PullRequest | None, batch: _Batch, *, is_past: bool
    ) -> TurnResult:
        check_backfill = CheckBackfill(self.store, self.github, self.rule_book, self.clock)
        match claim.lane.partition(":")[0]:
            case "backfill":
                return await Backfill(self.store, self.github, self.clock).process(batch.events)
            case "commit" | "config":
                commits = CommitProcessor(self.store, self.github, self.rule_book, check_backfill)
                return await commits.process(batch.parsed)
            case "weekly" | "repository" | "installation" | "parked":
                maintenance = MaintenanceProcessor(
                    self.store, self.github, self.rule_book, self.site, self.clock, check_backfill
                )
                return await maintenance.process(claim, batch.events)
            case "revisit":
                return await self._revisit(claim.lane, batch.events)
            case _ if is_past:
                past = PastProcessor(self.github, self.rule_book, self.clock)
                return await past.process(stored, batch.received)
            case _:
                turn = TurnRunner(self.store, self.github, self.rule_book, self.site, self.clock)
                return await turn.run(claim.lane, stored, batch.received)


def _plan_revisits(
    transaction: Transaction, *, result: TurnResult, named: Mapping[str, str], now: datetime
) -> tuple[Delivery, ...]:
    """Plan the edits that follow: of comments that name whom the turn forgot, and of its own one in time."""
    recorded = [(load_pull_request(transaction, lane), reason) for lane, reason in named.items()]
    revisits = [
        revisit_delivery(pull_request, now, now, reason) for pull_request, reason in recorded if pull_request
    ]
    if result.revisit_at and result.pull_request:
        revisits.append(revisit_delivery(result.pull_request, result.revisit_at, now))
    return tuple(revisits)


@dataclass(frozen=True, slots=True)
class _Batch:
    """The deliveries of one turn; one that can't be read holds up none of the others."""

    parsed: tuple[tuple[Delivery, Event], ...]
    done: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, deliveries: Sequence[Delivery], ownership: RepositoryOwnership | None) -> _Batch:
        parsed: list[tuple[Delivery, Event]] = []
        done: list[str] = []
        unreadable: list[tuple[str, str]] = []
        for delivery in deliveries:
            try:
                event = parse_delivery(delivery)
                if ownership:
                    event = event_for_owner(event, delivery, ownership)
            except Exception as error:
                # Parsing is deterministic: trying again helps only once the code is fixed.
                logger.exception("a delivery can't be parsed", extra={"delivery": delivery.id})
                unreadable.append((delivery.id, f"{type(error).__name__}: {error}"))
                continue
            done.append(delivery.id)
            if not isinstance(event, IgnoredEvent):
                parsed.append((delivery, event))
        return cls(tuple(parsed), tuple(done), tuple(unreadable))

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for _, event in self.parsed)

    @property
    def received(self) -> tuple[tuple[Event, datetime], ...]:
        """Each event with the time it was received."""
        return tuple((event, delivery.received_at) for delivery, event in self.parsed)
