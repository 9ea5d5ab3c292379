"""Which writes to GitHub are still owed?"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.codec import decode_effect, encode_effect
from bot.adapters.store.database import Database, moment
from bot.adapters.store.schema import READY, SENDING, outbox
from bot.domain.effects import Effect, ShowComment, Withdraw
from bot.ports import Fenced, OutboxRow, RowState


async def owed(connection: AsyncConnection, lanes: Collection[str]) -> tuple[OutboxRow, ...]:
    """The rows of these lanes that GitHub has not been seen to take, oldest first."""
    rows = select(outbox).where(outbox.c.lane.in_(lanes)).order_by(outbox.c.lane, outbox.c.position)
    return tuple(_row(row) for row in await connection.execute(rows))


async def owe(database: Database, connection: AsyncConnection, lane: str, effects: Sequence[Effect]) -> None:
    """Add the effects to what the lane owes; a newer one replaces an unsent one of its target."""
    if not effects:
        return
    unsent = [row for row in await owed(connection, (lane,)) if row.state is RowState.READY]
    wanted, replaced = _settle(unsent, effects)
    if replaced:
        await connection.execute(delete(outbox).where(outbox.c.id.in_(replaced)))
    if wanted:
        last = select(func.coalesce(func.max(outbox.c.position), 0)).where(outbox.c.lane == lane)
        first = (await connection.execute(last)).scalar_one() + 1
        await connection.execute(
            insert(outbox).values(created_at=database.now, state=READY, lane=lane),
            [_values(position, effect) for position, effect in enumerate(wanted, first)],
        )


async def mark_sending(database: Database, connection: AsyncConnection, row: OutboxRow) -> OutboxRow:
    """The row as it is from now on: about to be sent."""
    return await _mark(connection, row, {"state": SENDING, "sending_at": database.now})


async def mark_ready(connection: AsyncConnection, row: OutboxRow) -> OutboxRow:
    """The row as it was before: GitHub certainly did not take it."""
    return await _mark(connection, row, {"state": READY, "sending_at": None})


async def forget(connection: AsyncConnection, row: OutboxRow) -> None:
    """The row is no longer owed."""
    await connection.execute(delete(outbox).where(outbox.c.id == row.id))


def _settle(unsent: Iterable[OutboxRow], effects: Iterable[Effect]) -> tuple[list[Effect], list[str]]:
    """What to owe anew, and the ids of the rows that this makes pointless."""
    pending: dict[str, Effect] = {row.effect.target: row.effect for row in unsent}
    ids = {row.effect.target: row.id for row in unsent}
    wanted: dict[str, Effect] = {}
    touched = dict.fromkeys(effect.target for effect in effects)
    for effect in effects:
        older = pending.pop(effect.target, None)
        wanted.pop(effect.target, None)  # so that it moves to the end
        if not isinstance(effect, Withdraw):
            pending[effect.target] = wanted[effect.target] = _carry(older, effect)
    return list(wanted.values()), [ids[target] for target in touched if target in ids]


def _carry(older: Effect | None, newer: Effect) -> Effect:
    """A comment that was to be posted anew never was: its successor is."""
    if isinstance(older, ShowComment) and isinstance(newer, ShowComment) and older.anew:
        return replace(newer, anew=True)
    return newer


async def _mark(connection: AsyncConnection, row: OutboxRow, values: dict[str, Any]) -> OutboxRow:
    marked = update(outbox).where(outbox.c.id == row.id).values(values).returning(outbox)
    found = (await connection.execute(marked)).first()
    if found is None:
        raise Fenced(f"{row.lane} no longer owes this write")
    return _row(found)


def _values(position: int, effect: Effect) -> dict[str, object]:
    return {
        "id": uuid.uuid4().hex,
        "position": position,
        "target": effect.target,
        "effect": encode_effect(effect),
    }


def _row(row: Row[Any]) -> OutboxRow:
    return OutboxRow(
        id=row.id,
        lane=row.lane,
        effect=decode_effect(row.effect),
        state=RowState(row.state),
        sending_at=None if row.sending_at is None else moment(row.sending_at),
    )
