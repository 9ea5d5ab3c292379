"""Which lanes may be claimed now, and when is the next one due?"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Double,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    update,
)

from bot.adapters.store.memory_schema import repository
from bot.adapters.store.schema import installation, instance, lane, outbox, reconcile, refusal, spending
from bot.adapters.store.transaction import Transaction, Words, later

LONGEST_REST = 3600.0
"""Seconds for which a lane rests at most; one that is due later was written by a clock that was ahead."""
LONGEST_PAUSE = 86_400.0
"""Seconds for which an installation pauses at most."""
AHEAD = 1.0
"""Seconds that a time may lie ahead: of two instances, one reads the database's clock a little later."""

# Who asks: its name, the lanes that it is working on already, and how long after its last beat
# another instance counts as gone.
_OWN: BindParameter[str] = bindparam("own", type_=Text)
_IS_HELD = lane.c.key.in_(bindparam("held", expanding=True))
_LEASE = bindparam("lease", type_=Double)

_LANES = lane.outerjoin(installation, installation.c.id == lane.c.installation_id)


@cache
def due(words: Words) -> Select[Any]:
    """Up to `most` lanes, locked; every installation's oldest before anyone's second."""
    is_due = or_(lane.c.due_at <= words.now, lane.c.due_at > words.now + LONGEST_REST)
    ready = and_(is_due, _free(words))
    turn = func.row_number().over(partition_by=lane.c.installation_id, order_by=(lane.c.due_at, lane.c.key))
    ranked = (
        select(lane.c.key, lane.c.due_at, turn.label("turn"))
        .select_from(_LANES)
        .where(ready, words.now >= not_before(words.now))
        .subquery("ranked")
    )
    return (
        select(lane.c.key)
        .join(ranked, ranked.c.key == lane.c.key)
        # Asked again of the row that gets locked: a peer may just have changed it.
        .where(ready)
        .order_by(ranked.c.turn, ranked.c.due_at, ranked.c.key)
        .limit(bindparam("most", type_=Integer))
        .with_for_update(of=lane, skip_locked=True)
    )


@cache
def seconds_until(words: Words) -> Select[Any]:
    """The time until a lane can be claimed; nothing where none is waiting."""
    owner = and_(instance.c.id == lane.c.owner, instance.c.id != _OWN)
    lost = func.coalesce(instance.c.beat_at + _LEASE, 0.0)
    ready = later(due_at(words.now), lost)
    return (
        select(func.min(ready) - words.now)
        .select_from(_LANES.outerjoin(instance, owner))
        .where(lane.c.due_at.is_not(None), ~_IS_HELD)
    )


def due_at(now: ColumnElement[float]) -> ColumnElement[float]:
    """When a lane may be claimed, with its installation's pause; long ago where either time can't be."""
    return later(_possible(lane.c.due_at, now + LONGEST_REST), not_before(now))


def not_before(now: ColumnElement[float]) -> ColumnElement[float]:
    """Until when the lane's installation pauses; long ago where it does not."""
    return func.coalesce(_possible(installation.c.not_before, now + LONGEST_PAUSE), 0.0)


def follow_clock(transaction: Transaction) -> None:
    """Where the clock was ahead and was put back, put all times back that it had written.

    Every instance beats every few seconds, so the newest beat tells how far ahead the clock was.
    """
    ahead = transaction.execute(select(func.max(instance.c.beat_at) - transaction.now)).scalar()
    if ahead is None or ahead <= AHEAD:
        return
    for key, at in _WRITTEN:
        # What somebody else holds is written by them, by the new time.
        late = select(key).where(at > transaction.now).order_by(key).with_for_update(skip_locked=True)
        transaction.execute(update(key.table).where(key.in_(late)).values({at: at - ahead}))
    spent = update(spending).where(spending.c.at > transaction.now)
    transaction.execute(spent.values(at=spending.c.at - ahead))


_WRITTEN = (
    (lane.c.key, lane.c.due_at),
    (installation.c.id, installation.c.not_before),
    (instance.c.id, instance.c.beat_at),
    (outbox.c.id, outbox.c.sending_at),
    (refusal.c.key, refusal.c.at),
    (repository.c.id, repository.c.seen_at),
    (reconcile.c.id, reconcile.c.not_before),
)
"""The times that something waits for or is measured from, each with its table's key."""


def _possible(at: ColumnElement[float], latest: ColumnElement[float]) -> ColumnElement[float]:
    return case((at > latest, 0.0), else_=at)


def _free(words: Words) -> ColumnElement[bool]:
    """Nobody's, or its owner is gone, or it is ours but no turn of ours holds it any more."""
    alive = select(instance.c.id).where(instance.c.beat_at > words.now - _LEASE)
    unowned = or_(lane.c.owner.is_(None), lane.c.owner == _OWN, lane.c.owner.not_in(alive))
    return and_(unowned, ~_IS_HELD)
