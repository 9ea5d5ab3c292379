"""Which writes to GitHub are still owed?"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Insert, Row, Update, bindparam, delete, insert, null, select, update

from bot.adapters.store.codec import decode_effect, encode_effect
from bot.adapters.store.schema import READY, SENDING, outbox
from bot.adapters.store.transaction import Transaction, Words, moment
from bot.domain.effects import Effect, ShowComment, Withdraw
from bot.ports import Fenced, OutboxRow, RowState

logger = logging.getLogger("whetstone.store")


def owed(transaction: Transaction, lanes: Collection[str]) -> tuple[OutboxRow, ...]:
    """The rows of these lanes that GitHub has not been seen to take, oldest first; not what has to wait."""
    rows = [row for row in _rows(transaction, lanes) if row.refusal is None]
    at = _read_at(transaction, rows)
    return tuple(_row(row, at) for row in rows)


def owe(transaction: Transaction, lane: str, effects: Sequence[Effect]) -> tuple[OutboxRow, ...]:
    """All that the lane owes with these effects; a newer one replaces an unsent one of its target."""
    before = _rows(transaction, (lane,))
    wanted, replaced = _settle([_row(row) for row in before if row.state == READY], effects)
    if replaced:
        transaction.execute(_FORGOTTEN, {"ids": replaced})
    at = _read_at(transaction, before)
    kept = tuple(_row(row, at) for row in before if row.id not in replaced and row.refusal is None)
    if not wanted:
        return kept
    first = before[-1].position + 1 if before else 1
    added = [OutboxRow(uuid.uuid4().hex, lane, effect, RowState.READY) for effect in wanted]
    told = transaction.told
    transaction.execute(
        _owed(transaction.words), [_values(position, row) | told for position, row in enumerate(added, first)]
    )
    return (*kept, *added)


def mark_sending(transaction: Transaction, row: OutboxRow) -> OutboxRow:
    """The row as it is from now on: about to be sent."""
    return _mark(transaction, row, _sending(transaction.words))


def mark_ready(transaction: Transaction, row: OutboxRow) -> OutboxRow:
    """The row as it was before: GitHub certainly did not take it."""
    return _mark(transaction, row, _READY_AGAIN)


def forget(transaction: Transaction, row: OutboxRow) -> None:
    """The row is no longer owed."""
    transaction.execute(_FORGOTTEN, {"ids": (row.id,)})


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


def _mark(transaction: Transaction, row: OutboxRow, marked: Update) -> OutboxRow:
    found = transaction.execute(marked, {"marked": row.id, **transaction.told}).first()
    if found is None:
        raise Fenced(f"{row.lane} no longer owes this write")
    return _row(found)


def _rows(transaction: Transaction, lanes: Collection[str]) -> Sequence[Row[Any]]:
    return transaction.execute(_ROWS, {"lanes": tuple(lanes)}).all()


def _read_at(transaction: Transaction, rows: Sequence[Row[Any]]) -> datetime | None:
    """The store's own time, where it has to be compared with when a row was sent."""
    if all(row.sending_at is None for row in rows):
        return None
    return moment(transaction.execute(select(transaction.now)).scalar_one())


_ROWS = (
    select(outbox)
    .where(outbox.c.lane.in_(bindparam("lanes", expanding=True)))
    .order_by(outbox.c.lane, outbox.c.position)
)
_FORGOTTEN = delete(outbox).where(outbox.c.id.in_(bindparam("ids", expanding=True)))


@cache
def _owed(words: Words) -> Insert:
    return insert(outbox).values(created_at=words.now, state=READY)


@cache
def _sending(words: Words) -> Update:
    return _marked(SENDING, words.now)


def _marked(state: str, sending_at: ColumnElement[Any]) -> Update:
    chosen = update(outbox).where(outbox.c.id == bindparam("marked"))
    return chosen.values(state=state, sending_at=sending_at).returning(outbox)


_READY_AGAIN = _marked(READY, null())


def _values(position: int, row: OutboxRow) -> dict[str, object]:
    return {
        "id": row.id,
        "lane": row.lane,
        "position": position,
        "target": row.target,
        "effect": encode_effect(row.effect),
    }


def _row(row: Row[Any], read_at: datetime | None = None) -> OutboxRow:
    return OutboxRow(
        id=row.id,
        lane=row.lane,
        effect=_effect(row),
        state=RowState(row.state),
        sending_at=None if row.sending_at is None else moment(row.sending_at),
        read_at=read_at,
    )


def _effect(row: Row[Any]) -> Effect:
    """What to write; nothing where another version of the bot wanted what this one can't read."""
    try:
        return decode_effect(row.effect)
    except (LookupError, TypeError, ValueError):
        # One such row must not keep every lane that is claimed with it from its turn.
        logger.exception(
            "a write can't be read and is dropped", extra={"lane": row.lane, "target": row.target}
        )
        return Withdraw(row.target)
