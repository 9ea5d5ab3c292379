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
    func,
    or_,
    select,
)

from bot.adapters.store.schema import installation, instance, lane
from bot.adapters.store.transaction import Words, later

# Who asks: its name, the lanes that it is working on already, and how long after its last beat
# another instance counts as gone.
_OWN: BindParameter[str] = bindparam("own", type_=Text)
_IS_HELD = lane.c.key.in_(bindparam("held", expanding=True))
_LEASE = bindparam("lease", type_=Double)

_NOT_BEFORE = func.coalesce(installation.c.not_before, 0.0)
_LANES = lane.outerjoin(installation, installation.c.id == lane.c.installation_id)


@cache
def due(words: Words) -> Select[Any]:
    """Up to `most` lanes, locked; every installation's oldest before anyone's second."""
    ready = and_(lane.c.due_at <= words.now, _free(words))
    turn = func.row_number().over(partition_by=lane.c.installation_id, order_by=(lane.c.due_at, lane.c.key))
    ranked = (
        select(lane.c.key, lane.c.due_at, turn.label("turn"))
        .select_from(_LANES)
        .where(ready, words.now >= _NOT_BEFORE)
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
    ready = later(later(lane.c.due_at, _NOT_BEFORE), lost)
    return (
        select(func.min(ready) - words.now)
        .select_from(_LANES.outerjoin(instance, owner))
        .where(lane.c.due_at.is_not(None), ~_IS_HELD)
    )


def _free(words: Words) -> ColumnElement[bool]:
    """Nobody's, or its owner is gone, or it is ours but no turn of ours holds it any more."""
    alive = select(instance.c.id).where(instance.c.beat_at > words.now - _LEASE)
    unowned = or_(lane.c.owner.is_(None), lane.c.owner == _OWN, lane.c.owner.not_in(alive))
    return and_(unowned, ~_IS_HELD)
