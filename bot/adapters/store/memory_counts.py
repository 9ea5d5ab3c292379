"""What an operator counts: deliveries, lanes, writes that are owed, and which gates are broken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, func, select

from bot.adapters.store import memory
from bot.adapters.store.memory_homes import left
from bot.adapters.store.memory_schema import record, repository
from bot.adapters.store.schema import IS_PARKED, delivery, lane, outbox, reconcile
from bot.adapters.store.transaction import Transaction
from bot.domain.advice import fates
from bot.domain.follow_rates import tracked_in
from bot.domain.memory import Record, Window
from bot.domain.reviewing import Reviewing, reviewing
from bot.domain.tracked import Observation

WITHHELD = "withheld"
"""The state of a write that waits for a permission."""

MOST_CRASHED = 50
"""Parked deliveries that are counted one by one, the newest: each is a series of its own."""

Broken = tuple[str, str, str]
"""Repository, author, tag."""


Unheard = tuple[str, str, str]
"""Repository, account, stance."""


@dataclass(frozen=True, slots=True)
class Heeded:
    """One item of feedback and whether it was followed, by whom it was said, and to whom."""

    repository: str
    author: str
    reviewer: str
    tag: str
    placed: bool
    followed: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """The state of the queue."""

    deliveries: dict[tuple[str, str], int]
    """(event, state) → how many."""
    lanes: int
    due: int
    longest_due: float
    """Seconds for which the oldest due lane has waited."""
    outbox: dict[str, int]
    """State → rows that are owed."""
    lanes_crashed: int
    """Lanes whose last claim ended without release."""
    parked_crashes: dict[tuple[str, str], int]
    """(delivery id, event) → how often the process ended while handling this parked delivery alone."""
    reconciled_at: float | None = None
    """When the last run that looked for missed deliveries had dealt with all of them."""
    missed: int = 0
    resent: int = 0


def counts(transaction: Transaction) -> Counts:
    """The queue as it is now."""
    number = func.count().label("number")
    by_state = select(delivery.c.event, delivery.c.state, number).group_by(delivery.c.event, delivery.c.state)
    longest = func.max(transaction.now - lane.c.due_at).label("longest")
    due = select(number, longest).where(lane.c.due_at <= transaction.now)
    state = case((outbox.c.refusal.is_not(None), WITHHELD), else_=outbox.c.state).label("state")
    owed = select(state, number).group_by(state)
    waiting = transaction.execute(due).one()
    crashed = select(delivery.c.id, delivery.c.event, delivery.c.crashes).where(
        IS_PARKED, delivery.c.crashes > 0
    )
    crashed = crashed.order_by(delivery.c.finished_at.desc()).limit(MOST_CRASHED)
    looked = transaction.execute(select(reconcile)).first()
    return Counts(
        deliveries={(row.event, row.state): row.number for row in transaction.execute(by_state)},
        lanes=transaction.execute(select(func.count()).select_from(lane)).scalar_one(),
        due=waiting.number,
        longest_due=float(waiting.longest or 0.0),
        outbox={row.state: row.number for row in transaction.execute(owed)},
        lanes_crashed=transaction.execute(
            select(func.count()).select_from(lane).where(lane.c.crashes > 0)
        ).scalar_one(),
        parked_crashes={(row.id, row.event): row.crashes for row in transaction.execute(crashed)},
        reconciled_at=looked.finished_at if looked else None,
        missed=looked.found if looked else 0,
        resent=looked.resent if looked else 0,
    )


def broken(transaction: Transaction, since: datetime) -> Counter[Broken]:
    """In how many pull requests each tag was named since then, a tag once a pull request."""
    rows = transaction.execute(
        select(record.c.record, record.c.login, repository.c.folded)
        .join(repository, repository.c.id == record.c.repository_id)
        .where(~left, record.c.last_active >= since.timestamp())
    )
    found: Counter[Broken] = Counter()
    for row in rows:
        known = memory.decoded(row.record)
        said = (verdict for verdict in known.verdicts if verdict.counted and verdict.at >= since)
        found.update({(row.folded, row.login, item.tag) for one in said for item in one.items if item.tag})
    return found


def unheard(transaction: Transaction, since: datetime) -> Counter[Unheard]:
    """The verdicts since then whose givers are no validators: shown nowhere, counted here."""
    rows = transaction.execute(
        select(record.c.record, repository.c.folded)
        .join(repository, repository.c.id == record.c.repository_id)
        .where(~left, record.c.last_active >= since.timestamp(), record.c.record.like('%"counted":false%'))
    )
    return Counter(
        (row.folded, verdict.validator.name, verdict.stance.value)
        for row in rows
        for verdict in memory.decoded(row.record).verdicts
        if not verdict.counted and verdict.at >= since
    )


def heeded(transaction: Transaction, window: Window) -> Counter[Heeded]:
    """How many items named in the window were followed, of those whose fate is known."""
    rows = transaction.execute(
        select(record.c.record, record.c.login, repository.c.folded)
        .join(repository, repository.c.id == record.c.repository_id)
        .where(~left, record.c.last_active >= window.start.timestamp())
    )
    return Counter(
        Heeded(
            row.folded,
            row.login,
            fate.verdict.validator.name,
            fate.item.tag or "",
            fate.item.place is not None,
            fate.followed,
        )
        for row in rows
        for fate in fates(memory.decoded(row.record), window)
    )


def observed(transaction: Transaction, window: Window) -> tuple[Observation, ...]:
    """What came of the items that an iteration in the window could tell about."""
    rows = transaction.execute(
        select(record.c.record)
        .join(repository, repository.c.id == record.c.repository_id)
        .where(~left, record.c.last_active >= window.start.timestamp())
    ).scalars()
    return tracked_in(map(memory.decoded, rows), window)


def reviewed(transaction: Transaction, window: Window) -> dict[str, tuple[Reviewing, ...]]:
    """What became of the validators' claims in the window, by repository."""
    rows = transaction.execute(
        select(record.c.record, repository.c.folded)
        .join(repository, repository.c.id == record.c.repository_id)
        .where(~left, record.c.last_active >= window.start.timestamp())
    )
    known: dict[str, list[Record]] = {}
    for row in rows:
        known.setdefault(row.folded, []).append(memory.decoded(row.record))
    return {where: reviewing(records, window) for where, records in known.items()}
