"""Whose turn is it, and who may work on it?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Row,
    Select,
    and_,
    case,
    cast,
    exists,
    func,
    null,
    or_,
    select,
    update,
)

from bot.adapters.store.schema import QUEUED, delivery, installation, instance, lane, outbox
from bot.adapters.store.transaction import Transaction, later
from bot.ports import Claim, Fenced

LEASE = 30.0
"""Seconds without a beat after which an instance's lanes are anybody's."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """How many deliveries came for a lane."""

    lane: str
    installation_id: int
    count: int


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who claims, and the lanes that it is working on already."""

    instance: str
    held: Collection[str]
    lease: float = LEASE


@dataclass(frozen=True, slots=True)
class Rest:
    """How long a lane rests after a turn (None: until it has work), and how often it has failed."""

    seconds: float | None
    attempt: int


def arrive(transaction: Transaction, arrivals: Sequence[Arrival]) -> None:
    """These lanes are due, unless a retry has them wait."""
    if not arrivals:
        return
    statement = transaction.insert(lane).values(
        due_at=transaction.now,
        # A lane that was swept away and came back must not repeat a fence.
        fence=cast(transaction.now * 1000, BigInteger),
        attempt=0,
    )
    statement = statement.on_conflict_do_update(
        index_elements=[lane.c.key],
        set_={
            "due_at": func.coalesce(lane.c.due_at, statement.excluded.due_at),
            "arrivals": lane.c.arrivals + statement.excluded.arrivals,
            "installation_id": statement.excluded.installation_id,
        },
    )
    # In ascending order: two instances that lock the same lanes would else deadlock.
    rows = sorted(arrivals, key=lambda one: one.lane)
    transaction.execute(
        statement,
        [{"key": one.lane, "installation_id": one.installation_id, "arrivals": one.count} for one in rows],
    )


def take(transaction: Transaction, who: Claimant, limit: int) -> Sequence[Row[Any]]:
    """Own up to `limit` lanes that are due; every installation's oldest before anyone's second."""
    keys = transaction.execute(_due(transaction, who, limit)).scalars().all()
    if not keys:
        return ()
    beat(transaction, who.instance)  # else a peer could think this owner dead
    taken = (
        update(lane)
        .where(lane.c.key.in_(keys))
        .values(owner=who.instance, fence=lane.c.fence + 1)
        .returning(lane.c.key, lane.c.installation_id, lane.c.fence, lane.c.arrivals, lane.c.attempt)
    )
    place = {key: index for index, key in enumerate(keys)}
    return sorted(transaction.execute(taken).all(), key=lambda row: place[row.key])


def hold(transaction: Transaction, claim: Claim, owner: str) -> None:
    """Lock the lane for this transaction; `Fenced` where somebody else owns it by now."""
    mine = select(lane.c.key).where(_is(claim, owner)).with_for_update()
    if transaction.execute(mine).first() is None:
        raise Fenced(claim.lane)


def give_back(transaction: Transaction, claim: Claim, owner: str, rest: Rest) -> float | None:
    """Nobody owns the lane; returns when it is due again."""
    free = (
        update(lane)
        .where(_is(claim, owner))
        .values(owner=None, attempt=rest.attempt, due_at=_due_again(transaction, claim, rest))
        .returning(lane.c.due_at)
    )
    row = transaction.execute(free).first()
    if row is None:
        raise Fenced(claim.lane)
    at: float | None = row.due_at
    return at


def beat(transaction: Transaction, name: str) -> None:
    """This instance is alive now."""
    statement = transaction.insert(instance).values(
        id=name, started_at=transaction.now, beat_at=transaction.now
    )
    transaction.execute(
        statement.on_conflict_do_update(
            index_elements=[instance.c.id], set_={"beat_at": statement.excluded.beat_at}
        )
    )


def beat_age(transaction: Transaction, name: str) -> float | None:
    """Seconds since the instance's last beat, None where it never beat."""
    age = select(transaction.now - instance.c.beat_at).where(instance.c.id == name)
    seconds: float | None = transaction.execute(age).scalar()
    return seconds


def free_all(transaction: Transaction) -> None:
    """Nobody owns a lane."""
    transaction.execute(update(lane).where(lane.c.owner.is_not(None)).values(owner=None))


def pause(transaction: Transaction, installation_id: int, until: float) -> None:
    """No lane of this installation is due before `until`; an earlier pause is never shortened."""
    statement = transaction.insert(installation).values(id=installation_id, not_before=until)
    longer = later(installation.c.not_before, statement.excluded.not_before)
    transaction.execute(
        statement.on_conflict_do_update(index_elements=[installation.c.id], set_={"not_before": longer})
    )


def rests_until(transaction: Transaction, key: str) -> float | None:
    """When a lane that has work is due, its installation's pause heard; None where it has none."""
    ready = later(lane.c.due_at, func.coalesce(installation.c.not_before, 0.0))
    joined = lane.outerjoin(installation, installation.c.id == lane.c.installation_id)
    at: float | None = transaction.execute(
        select(ready).select_from(joined).where(lane.c.key == key, lane.c.due_at.is_not(None))
    ).scalar()
    return at


def seconds_until_due(transaction: Transaction, who: Claimant) -> float | None:
    """How long until there is something to claim; None when nothing is waiting."""
    owner = and_(instance.c.id == lane.c.owner, instance.c.id != who.instance)
    ready = later(
        later(lane.c.due_at, func.coalesce(installation.c.not_before, 0.0)),
        func.coalesce(instance.c.beat_at + who.lease, 0.0),
    )
    soonest = (
        select(func.min(ready) - transaction.now)
        .select_from(
            lane.outerjoin(installation, installation.c.id == lane.c.installation_id).outerjoin(
                instance, owner
            )
        )
        .where(lane.c.due_at.is_not(None), lane.c.key.not_in(who.held))
    )
    seconds = transaction.execute(soonest).scalar()
    return None if seconds is None else max(0.0, float(seconds))


def _due(transaction: Transaction, who: Claimant, limit: int) -> Select[Any]:
    ready = and_(lane.c.due_at <= transaction.now, _free(transaction, who))
    ranked = (
        select(
            lane.c.key,
            lane.c.due_at,
            func.row_number()
            .over(partition_by=lane.c.installation_id, order_by=(lane.c.due_at, lane.c.key))
            .label("turn"),
        )
        .select_from(lane.outerjoin(installation, installation.c.id == lane.c.installation_id))
        .where(ready, func.coalesce(installation.c.not_before, 0.0) <= transaction.now)
        .subquery("ranked")
    )
    return (
        select(lane.c.key)
        .join(ranked, ranked.c.key == lane.c.key)
        # Asked again of the row that gets locked: a peer may just have changed it.
        .where(ready)
        .order_by(ranked.c.turn, ranked.c.due_at, ranked.c.key)
        .limit(limit)
        .with_for_update(of=lane, skip_locked=True)
    )


def _due_again(transaction: Transaction, claim: Claim, rest: Rest) -> ColumnElement[Any]:
    if rest.seconds is not None:
        return transaction.now + rest.seconds
    # New arrivals are seen by the count in this very row: a subquery would read deliveries as
    # they were when the statement began, before it waited for the one who wrote the row last.
    queued = exists().where(delivery.c.lane == claim.lane, delivery.c.state == QUEUED)
    owed = exists().where(outbox.c.lane == claim.lane)
    return case((or_(lane.c.arrivals != claim.arrivals, queued, owed), transaction.now), else_=null())


def _free(transaction: Transaction, who: Claimant) -> ColumnElement[bool]:
    """Nobody's, or its owner is gone, or it is ours but no turn of ours holds it any more."""
    alive = select(instance.c.id).where(instance.c.beat_at > transaction.now - who.lease)
    unowned = or_(lane.c.owner.is_(None), lane.c.owner == who.instance, lane.c.owner.not_in(alive))
    return and_(unowned, lane.c.key.not_in(who.held))


def _is(claim: Claim, owner: str) -> ColumnElement[bool]:
    return and_(lane.c.key == claim.lane, lane.c.owner == owner, lane.c.fence == claim.fence)
