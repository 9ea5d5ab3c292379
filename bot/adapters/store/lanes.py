"""Whose turn is it, and who may work on it?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Insert,
    Row,
    Text,
    Update,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    update,
)

from bot.adapters.store.due import LONGEST_PAUSE, LONGEST_REST, due, due_at, not_before, seconds_until
from bot.adapters.store.schema import IS_QUEUED, delivery, installation, instance, lane, outbox
from bot.adapters.store.transaction import Transaction, Words, earlier, later
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
    """How long a lane rests after a turn (None: until it has work), and how often it has failed.

    It rests for an hour at most; a longer rate limit is its installation's pause.
    """

    seconds: float | None
    attempt: int


def arrive(transaction: Transaction, arrivals: Sequence[Arrival]) -> None:
    """These lanes are due, unless a retry has them wait."""
    if not arrivals:
        return
    told = transaction.told
    # In ascending order: two instances that lock the same lanes would else deadlock.
    rows = sorted(arrivals, key=lambda one: one.lane)
    transaction.execute(
        _arrived(transaction.words),
        [
            {"key": one.lane, "installation_id": one.installation_id, "arrivals": one.count, **told}
            for one in rows
        ],
    )


def take(transaction: Transaction, who: Claimant, limit: int) -> Sequence[Row[Any]]:
    """Own up to `limit` lanes that are due; every installation's oldest before anyone's second."""
    asked = {"most": limit, "own": who.instance, "held": who.held, "lease": who.lease, **transaction.told}
    keys = transaction.execute(due(transaction.words), asked).scalars().all()
    if not keys:
        return ()
    beat(transaction, who.instance)  # else a peer could think this owner dead
    place = {key: index for index, key in enumerate(keys)}
    taken = transaction.execute(_TAKEN, {"keys": keys, "taker": who.instance}).all()
    crashed = {row.key: row.isolated for row in taken if row.isolated is not None}
    if crashed:
        _count_crashes(transaction, crashed)
    return sorted(taken, key=lambda row: place[row.key])


def isolate(transaction: Transaction, claim: Claim) -> None:
    """From now on a crash of the lane's owner is counted on the claim's first delivery."""
    first = claim.deliveries[0].id if claim.deliveries else None
    transaction.execute(update(lane).where(lane.c.key == claim.lane).values(isolated=first))


def _count_crashes(transaction: Transaction, isolated: Mapping[str, str]) -> None:
    """Each of these lanes was claimed for one delivery, and its process ended while handling it."""
    transaction.execute(
        update(delivery)
        .where(delivery.c.id.in_(isolated.values()), IS_QUEUED)
        .values(crashes=delivery.c.crashes + 1)
    )
    transaction.execute(update(lane).where(lane.c.key.in_(isolated)).values(isolated=None))


def hold(transaction: Transaction, claim: Claim, owner: str) -> None:
    """Lock the lane for this transaction; `Fenced` where somebody else owns it by now."""
    if transaction.execute(_HELD, _held(claim, owner)).first() is None:
        raise Fenced(claim.lane)


def give_back(transaction: Transaction, claim: Claim, owner: str, rest: Rest) -> float | None:
    """Nobody owns the lane; returns when it is due again."""
    values = {**_held(claim, owner), **transaction.told, "attempts": rest.attempt}
    # A lane that is done is innocent of earlier crashes; one that is due again is not proven so.
    values["crashes_before"] = 0 if rest.seconds is None else claim.crashes
    if rest.seconds is None:
        free = _free_until_more(transaction.words)
        values["seen"] = claim.arrivals
    else:
        free = _free_for(transaction.words)
        values["seconds"] = min(rest.seconds, LONGEST_REST)
    row = transaction.execute(free, values).first()
    if row is None:
        raise Fenced(claim.lane)
    at: float | None = row.due_at
    return at


def beat(transaction: Transaction, name: str) -> None:
    """This instance is alive now."""
    transaction.execute(_beaten(transaction.words), {"id": name, **transaction.told})


def leave(transaction: Transaction, name: str) -> None:
    """This instance is gone."""
    transaction.execute(delete(instance).where(instance.c.id == name))


def beat_age(transaction: Transaction, name: str) -> float | None:
    """Seconds since the instance's last beat, None where it never beat."""
    age = select(transaction.now - instance.c.beat_at).where(instance.c.id == name)
    seconds: float | None = transaction.execute(age).scalar()
    return seconds


def free_all(transaction: Transaction) -> None:
    """Nobody owns a lane; one that had an owner was not released by a process that is gone: a crash."""
    transaction.execute(delete(instance))
    owned = update(lane).where(lane.c.owner.is_not(None))
    transaction.execute(owned.values(owner=None, crashes=lane.c.crashes + 1))


def pause(transaction: Transaction, installation_id: int, until: float) -> None:
    """No lane of this installation is due before `until`; an earlier pause is never shortened."""
    latest = transaction.now + LONGEST_PAUSE
    statement = transaction.insert(installation).values(
        id=installation_id, not_before=earlier(literal(until, Double), latest)
    )
    longer = later(not_before(transaction.now), statement.excluded.not_before)
    transaction.execute(
        statement.on_conflict_do_update(index_elements=[installation.c.id], set_={"not_before": longer})
    )


def paused_until(transaction: Transaction, installation_id: int) -> float | None:
    """Until when this installation pauses; None where it does not."""
    paused = and_(installation.c.id == installation_id, not_before(transaction.now) > transaction.now)
    at: float | None = transaction.execute(select(installation.c.not_before).where(paused)).scalar()
    return at


def rests_until(transaction: Transaction, key: str) -> float | None:
    """When a lane that has work is due, its installation's pause heard; None where it has none."""
    joined = lane.outerjoin(installation, installation.c.id == lane.c.installation_id)
    due = select(due_at(transaction.now)).select_from(joined)
    at: float | None = transaction.execute(due.where(lane.c.key == key, lane.c.due_at.is_not(None))).scalar()
    return at


def seconds_until_due(transaction: Transaction, who: Claimant) -> float | None:
    """How long until there is something to claim; None when nothing is waiting."""
    asked = {"own": who.instance, "held": who.held, "lease": who.lease, **transaction.told}
    seconds = transaction.execute(seconds_until(transaction.words), asked).scalar()
    return None if seconds is None else max(0.0, float(seconds))


@cache
def _arrived(words: Words) -> Insert:
    statement = words.insert(lane).values(
        due_at=words.now,
        # A lane that was swept away and came back must not repeat a fence.
        fence=cast(words.now * 1000, BigInteger),
        attempt=0,
    )
    return statement.on_conflict_do_update(
        index_elements=[lane.c.key],
        set_={
            "due_at": func.coalesce(lane.c.due_at, statement.excluded.due_at),
            "arrivals": lane.c.arrivals + statement.excluded.arrivals,
            "installation_id": statement.excluded.installation_id,
        },
    )


@cache
def _beaten(words: Words) -> Insert:
    statement = words.insert(instance).values(started_at=words.now, beat_at=words.now)
    return statement.on_conflict_do_update(
        index_elements=[instance.c.id], set_={"beat_at": statement.excluded.beat_at}
    )


_TAKER = bindparam("taker", type_=Text)
_TAKEN = (
    update(lane)
    .where(lane.c.key.in_(bindparam("keys", expanding=True)))
    .values(
        owner=_TAKER,
        fence=lane.c.fence + 1,
        # A living owner takes its own lane again where it could not release it: that is no crash.
        crashes=case((lane.c.owner != _TAKER, lane.c.crashes + 1), else_=lane.c.crashes),
        isolated=case((lane.c.owner == _TAKER, null()), else_=lane.c.isolated),
    )
    .returning(
        lane.c.key,
        lane.c.installation_id,
        lane.c.fence,
        lane.c.arrivals,
        lane.c.attempt,
        lane.c.crashes,
        lane.c.isolated,
    )
)

_IS_HELD = and_(
    lane.c.key == bindparam("held_key"),
    lane.c.owner == bindparam("holder"),
    lane.c.fence == bindparam("held_fence"),
)
_HELD = select(lane.c.key).where(_IS_HELD).with_for_update()


def _held(claim: Claim, owner: str) -> dict[str, Any]:
    """Whose lane `_IS_HELD` asks for."""
    return {"held_key": claim.lane, "holder": owner, "held_fence": claim.fence}


@cache
def _free_for(words: Words) -> Update:
    return _free(words.now + bindparam("seconds", type_=Double))


@cache
def _free_until_more(words: Words) -> Update:
    # New arrivals are seen by the count in this very row: a subquery would read deliveries as
    # they were when the statement began, before it waited for the one who wrote the row last.
    queued = exists().where(delivery.c.lane == bindparam("held_key"), IS_QUEUED)
    owed = exists().where(outbox.c.lane == bindparam("held_key"), outbox.c.refusal.is_(None))
    more = or_(lane.c.arrivals != bindparam("seen"), queued, owed)
    return _free(case((more, words.now), else_=null()))


def _free(due_at: ColumnElement[Any]) -> Update:
    return (
        update(lane)
        .where(_IS_HELD)
        .values(
            owner=None,
            attempt=bindparam("attempts"),
            due_at=due_at,
            crashes=bindparam("crashes_before"),
            isolated=None,
        )
        .returning(lane.c.due_at)
    )
