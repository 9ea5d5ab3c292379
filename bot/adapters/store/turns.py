"""What is read when a lane is claimed, and what is written when its turn is over?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TypeVar

from bot.adapters.store import (
    deliveries,
    lanes,
    memory,
    memory_homes,
    memory_memos,
    memory_names,
    memory_people,
    memory_replies,
    memory_weeks,
    outbox,
    records,
)
from bot.adapters.store.transaction import Transaction
from bot.domain.effects import Effect, Withdraw
from bot.domain.memos import Forget, RepositoryDeleted, RepositoryGained, RepositorySeen
from bot.domain.model import Sticky
from bot.domain.owing import not_shown
from bot.domain.thread_effects import Reply
from bot.ports import Claim, Delivery, OutboxRow, PostedComment, Turn

Row = TypeVar("Row", Delivery, OutboxRow)


def claim(transaction: Transaction, who: lanes.Claimant, limit: int) -> tuple[Claim, ...]:
    """Lanes that are due and now owned, each with its deliveries and what it owes."""
    taken = lanes.take(transaction, who, limit)
    if not taken:
        return ()
    keys = [row.key for row in taken]
    waiting = _by_lane(deliveries.waiting(transaction, keys))
    owed = _by_lane(outbox.owed(transaction, keys))
    came = {row.key: row.installation_id for row in taken}
    through = {(each.lane, each.installation_id) for rows in waiting.values() for each in rows}
    homes = memory_homes.homes(transaction, through | set(came.items()))
    return tuple(
        Claim(
            lane=row.key,
            installation_id=row.installation_id,
            fence=row.fence,
            arrivals=row.arrivals,
            attempt=row.attempt,
            deliveries=waiting.get(row.key, ()),
            outbox=owed.get(row.key, ()),
            home=homes.get(row.key),
            crashes=row.crashes,
        )
        for row in taken
    )


@dataclass(frozen=True, slots=True)
class Applied:
    """The rows that are owed after a turn, and whether bodies of deliveries were emptied."""

    owed: tuple[OutboxRow, ...]
    emptied: bool


def apply(transaction: Transaction, lane: str, turn: Turn) -> Applied:
    """Records, deliveries and outbox as the turn left them."""
    if turn.pull_request:
        # First: whoever moves a repository holds its row before those of its pull requests.
        known = memory_homes.at_home(transaction, turn.pull_request, shares=turn.shares)
        records.save(transaction, lane, memory_people.still_forgotten(transaction, known))
        if known.sticky:
            records.remember(transaction, lane, known.sticky)
        memory.keep(transaction, lane, known)
    elif turn.effects:
        memory_homes.not_moved(
            transaction, {each.repository for each in turn.effects if not isinstance(each, Withdraw)}
        )
    memory_replies.note(transaction, lane, turn.effects)
    for memo in turn.memos:
        memory_memos.write(transaction, lane, memo)
    # After the memos: one of them may be to forget somebody.
    where = memory_people.forgets_people(transaction, lane)
    deliveries.finish(transaction, lane, turn.done, empty=where is not None)
    deliveries.park(transaction, lane, turn.parked)
    if where is not None and turn.parked:
        for who, until in memory_names.forgotten_in(transaction, where).items():
            memory_people.delete_parked(transaction, where, who, until)
    return Applied(outbox.owe(transaction, lane, turn.effects), emptied=where is not None)


def told_of(turn: Turn) -> tuple[int, ...]:
    """The repositories of which the turn says where they are."""
    told = (memo for memo in turn.memos if isinstance(memo, RepositoryGained | RepositorySeen))
    return tuple(memo.repository.id for memo in told)


def erased_in(turn: Turn) -> tuple[int, ...]:
    """The repositories in which the turn deletes what was stored."""
    return tuple(memo.repository_id for memo in turn.memos if isinstance(memo, Forget | RepositoryDeleted))


def sent(transaction: Transaction, row: OutboxRow, sticky: Sticky | None, then: tuple[Effect, ...]) -> None:
    """GitHub has the row: what it left there is remembered, what follows from it is owed."""
    outbox.forget(transaction, row)
    if sticky:
        records.remember(transaction, row.lane, sticky)
    if then:
        outbox.owe(transaction, row.lane, then)


def given_up(transaction: Transaction, row: OutboxRow) -> None:
    """The row is owed no longer, and what it should have shown is not recorded as shown."""
    known = records.load(transaction, row.lane)
    if known is not None and (honest := not_shown(known, row.effect)) != known:
        records.save(transaction, row.lane, memory_people.still_forgotten(transaction, honest))
    outbox.forget(transaction, row)


def replied(
    transaction: Transaction, row: OutboxRow, posted: PostedComment, then: tuple[Effect, ...]
) -> None:
    """A command has its answer: where that stands is remembered, what follows from it is owed."""
    if isinstance(row.effect, Reply):
        memory_replies.posted(transaction, row.effect.key, posted.id, posted.node_id)
    sent(transaction, row, None, then)


def told(
    transaction: Transaction, row: OutboxRow, repository_id: int, number: int, then: tuple[Effect, ...]
) -> None:
    """A repository's week stands in this issue; what follows from it is owed."""
    memory_weeks.remember_issue(transaction, repository_id, number)
    sent(transaction, row, None, then)


def release(transaction: Transaction, owned: Claim, owner: str, rest: lanes.Rest) -> float | None:
    """The lane is nobody's; returns when it is due again."""
    due = lanes.give_back(transaction, owned, owner, rest)
    if rest.attempt > owned.attempt:
        deliveries.count_attempt(transaction, owned)
    return due


def _by_lane(rows: Iterable[Row]) -> dict[str, tuple[Row, ...]]:
    return {lane: tuple(group) for lane, group in groupby(rows, key=attrgetter("lane"))}
