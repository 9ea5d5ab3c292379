"""Writes owed to GitHub: outbox rows, permission blocks and the write budget."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
    Integer,
    Row,
    ScalarSelect,
    Update,
    and_,
    bindparam,
    delete,
    exists,
    func,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from bot.pull_request.effects import CancelWrite, Effect, ShowComment
from bot.pull_request.model import StickyComment
from bot.store.codec import decode_effect, encode_effect
from bot.store.database import NOW, Transaction, to_datetime, upsert
from bot.store.lanes import notify_workers
from bot.store.model import BlockedWrites, LaneFenced, OutboxRow, PermissionBlock, RowState
from bot.store.pull_requests import save_sticky
from bot.store.schema import (
    READY,
    SENDING,
    installation_table,
    lane_table,
    outbox_table,
    permission_block_table,
    repository_table,
    spending_table,
)


@dataclass(frozen=True, slots=True)
class RateWindow:
    """At most this many writes in this many seconds, whichever seconds are looked at."""

    seconds: float
    most: int


RATE_WINDOWS = (RateWindow(60.0, 80), RateWindow(3600.0, 500))
"""GitHub's limits for content an installation creates."""

CONCURRENT_SECONDS = 60.0
"""Seconds that a write of another instance at the same time may be recorded ahead of this one."""

PRIORITY_SHARES = (1.0, 0.8, 0.6)
"""How much of a window each priority may fill: rejections, replies, summaries."""


def spend_write(transaction: Transaction, installation_id: int, priority: int) -> float:
    """Count one content write (0 rejection, 1 reply, 2 summary): 0 to go ahead, else the seconds to wait."""
    now, _ = _lock(transaction, installation_id)
    return _spend(transaction, installation_id, priority, now)


def may_post(transaction: Transaction, installation_id: int) -> bool:
    """Count a write of a rejection that goes ahead now; False if it must wait, or any kind is refused."""
    now, is_blocked = _lock(transaction, installation_id)
    return not is_blocked and _spend(transaction, installation_id, 0, now) == 0


def _spend(transaction: Transaction, installation_id: int, priority: int, now: float) -> float:
    share = PRIORITY_SHARES[min(priority, len(PRIORITY_SHARES) - 1)]
    values: dict[str, float] = {"whose": installation_id, "until": now + CONCURRENT_SECONDS}
    for number, window in enumerate(RATE_WINDOWS):
        values[f"since_{number}"] = now - window.seconds
        values[f"newer_{number}"] = int(window.most * share) - 1
    full = transaction.execute(_FULL_SINCE, values).one()
    waits = (
        0.0 if at is None else at + window.seconds - now
        for at, window in zip(full, RATE_WINDOWS, strict=True)
    )
    wait = max(waits)
    if wait == 0:
        transaction.execute(_SPENDING, {"installation_id": installation_id, "at": now})
    return wait


def _lock(transaction: Transaction, installation_id: int) -> tuple[float, bool]:
    """Return the time, once no other instance spends for this installation, and whether it has blocks."""
    values = {"whose": installation_id}
    row = transaction.execute(_LOCKED, values).first()
    if row is None:
        transaction.execute(_FIRST, {"id": installation_id})
        row = transaction.execute(_LOCKED, values).one()
    return row.now, bool(row.is_blocked)


def _full_since(number: int) -> ScalarSelect[float]:
    """Select the oldest of the newest writes that fill a window; NULL if it has room."""
    at = spending_table.c.at
    newest = select(at).where(
        spending_table.c.installation_id == bindparam("whose"),
        at > bindparam(f"since_{number}", type_=Double),
        at <= bindparam("until", type_=Double),
    )
    newest = newest.order_by(at.desc()).limit(1).offset(bindparam(f"newer_{number}", type_=Integer))
    return newest.scalar_subquery()


_FULL_SINCE = select(*(_full_since(number).label(f"full_{number}") for number in range(len(RATE_WINDOWS))))
_SPENDING = insert(spending_table)

_IS_BLOCKED = exists().where(permission_block_table.c.installation_id == bindparam("whose"))
# The time is that of the question; a write that was counted meanwhile counts all the same.
_LOCKED = (
    select(NOW.label("now"), _IS_BLOCKED.label("is_blocked"))
    .select_from(installation_table)
    .where(installation_table.c.id == bindparam("whose"))
    .with_for_update()
)
_FIRST = insert(installation_table).values(not_before=0.0).on_conflict_do_nothing()

logger = logging.getLogger("whetstone.store")


def load_owed(transaction: Transaction, lanes: Collection[str]) -> tuple[OutboxRow, ...]:
    """The rows of these lanes that GitHub has not been seen to take, oldest first; not what has to wait."""
    rows = [row for row in _rows(transaction, lanes) if row.refusal is None]
    at = _read_at(transaction, rows)
    return tuple(_row(row, at) for row in rows)


def save_effects(
    transaction: Transaction,
    lane: str,
    effects: Sequence[Effect],
    may_start: Callable[[Effect], bool] = lambda _effect: False,
) -> tuple[OutboxRow, ...]:
    """Add these effects to what the lane owes; a newer one replaces an unsent one of its target.

    The first row is marked as sent by this turn if it may be started.
    """
    before = _rows(transaction, (lane,))
    wanted, replaced = _replace_unsent([_row(row) for row in before if row.state == READY], effects)
    if replaced:
        transaction.execute(_DELETE_ROWS, {"ids": replaced})
    at = _read_at(transaction, before)
    kept = tuple(_row(row, at) for row in before if row.id not in replaced and row.refusal is None)
    if kept and kept[0].state is RowState.READY and may_start(kept[0].effect):
        kept = (replace(mark_sending(transaction, kept[0]), state=RowState.STARTED), *kept[1:])
    added = [OutboxRow(uuid.uuid4().hex, lane, effect, RowState.READY) for effect in wanted]
    is_started = bool(added) and not kept and may_start(wanted[0])
    first = before[-1].position + 1 if before else 1
    values = [_values(position, row) for position, row in enumerate(added, first)]
    if is_started:
        added[0] = replace(added[0], state=RowState.STARTED)
        transaction.execute(_STARTED, values.pop(0))
    if values:
        transaction.execute(_OWED, values)
    return (*kept, *added)


def mark_sending(transaction: Transaction, row: OutboxRow) -> OutboxRow:
    """Mark a row as about to be sent, and return it."""
    return _mark(transaction, row, _SENDING)


def mark_ready(transaction: Transaction, row: OutboxRow) -> OutboxRow:
    """Mark a row as ready again that GitHub certainly did not take, and return it."""
    return _mark(transaction, row, _READY_AGAIN)


def mark_sent(
    transaction: Transaction,
    row: OutboxRow,
    sticky: StickyComment | None = None,
    then: tuple[Effect, ...] = (),
) -> None:
    """Delete a row that GitHub has, remember the sticky comment it left, and owe what follows from it."""
    delete_row(transaction, row)
    if sticky:
        save_sticky(transaction, row.lane, sticky)
    if then:
        save_effects(transaction, row.lane, then)


def delete_row(transaction: Transaction, row: OutboxRow) -> None:
    """Delete a row whose write is no longer needed."""
    transaction.execute(_DELETE_ROWS, {"ids": (row.id,)})


def _replace_unsent(unsent: Iterable[OutboxRow], effects: Iterable[Effect]) -> tuple[list[Effect], list[str]]:
    """Return the effects to add, and the ids of the rows that they replace."""
    pending: dict[str, Effect] = {row.effect.target: row.effect for row in unsent}
    ids = {row.effect.target: row.id for row in unsent}
    wanted: dict[str, Effect] = {}
    touched = dict.fromkeys(effect.target for effect in effects)
    for effect in effects:
        older = pending.pop(effect.target, None)
        wanted.pop(effect.target, None)  # so that it moves to the end
        if not isinstance(effect, CancelWrite):
            pending[effect.target] = wanted[effect.target] = _carry(older, effect)
    return list(wanted.values()), [ids[target] for target in touched if target in ids]


def _carry(older: Effect | None, newer: Effect) -> Effect:
    """Repost the newer comment where the older one was to be reposted and never was."""
    if isinstance(older, ShowComment) and isinstance(newer, ShowComment) and older.anew:
        return replace(newer, anew=True)
    return newer


def _mark(transaction: Transaction, row: OutboxRow, marked: Update) -> OutboxRow:
    updated = transaction.execute(marked, {"marked": row.id}).first()
    if updated is None:
        raise LaneFenced(f"{row.lane} no longer owes this write")
    at = None if updated.sending_at is None else to_datetime(updated.sending_at)
    return replace(row, state=RowState(updated.state), sending_at=at, read_at=None)


def _rows(transaction: Transaction, lanes: Collection[str]) -> Sequence[Row[Any]]:
    return transaction.execute(_ROWS, {"lanes": tuple(lanes)}).all()


def _read_at(transaction: Transaction, rows: Sequence[Row[Any]]) -> datetime | None:
    """Return the store's time, where it has to be compared with when a row was sent."""
    if all(row.sending_at is None for row in rows):
        return None
    return to_datetime(transaction.execute(select(NOW)).scalar_one())


_ROWS = (
    select(outbox_table)
    .where(outbox_table.c.lane.in_(bindparam("lanes", expanding=True)))
    .order_by(outbox_table.c.lane, outbox_table.c.position)
)
_DELETE_ROWS = delete(outbox_table).where(outbox_table.c.id.in_(bindparam("ids", expanding=True)))
_OWED = insert(outbox_table).values(created_at=NOW, state=READY)
_STARTED = insert(outbox_table).values(created_at=NOW, state=SENDING, sending_at=NOW)


def _marked(state: str, sending_at: ColumnElement[Any]) -> Update:
    chosen = update(outbox_table).where(outbox_table.c.id == bindparam("marked"))
    chosen = chosen.values(state=state, sending_at=sending_at)
    return chosen.returning(outbox_table.c.state, outbox_table.c.sending_at)


_SENDING = _marked(SENDING, NOW)
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
        sending_at=None if row.sending_at is None else to_datetime(row.sending_at),
        read_at=read_at,
    )


def _effect(row: Row[Any]) -> Effect:
    """Decode what to write; a no-op where another version of the bot stored what this one can't read."""
    try:
        return decode_effect(row.effect)
    except (LookupError, TypeError, ValueError):
        # One such row must not keep every lane that is claimed with it from its turn.
        logger.exception("dropping a malformed write", extra={"lane": row.lane, "target": row.target})
        return CancelWrite(row.target)


BLOCK_RETRY_SECONDS = 3600.0
"""Seconds after which a kind of write that was refused is tried again in any case."""
BLOCK_KEPT_SECONDS = 30 * 86_400.0
"""Seconds after which a write that is still blocked is owed no longer."""


def load_blocks(transaction: Transaction, installation_id: int) -> tuple[PermissionBlock, ...]:
    """Load the kinds of writes that GitHub refused to this installation, lately or some time ago."""
    return tuple(
        PermissionBlock(
            row.installation_id, row.repository_id, row.kind, row.permission, recent=bool(row.recent)
        )
        for row in transaction.execute(_BLOCKS, {"whose": installation_id})
    )


# A time far ahead was written by a clock that was put back since.
_IS_RECENT = and_(
    permission_block_table.c.at > NOW - BLOCK_RETRY_SECONDS,
    permission_block_table.c.at <= NOW + BLOCK_RETRY_SECONDS,
)
_BLOCKS = (
    select(permission_block_table, _IS_RECENT.label("recent"))
    .where(permission_block_table.c.installation_id == bindparam("whose"))
    .order_by(permission_block_table.c.key)
)


def record_block(transaction: Transaction, block: PermissionBlock) -> None:
    """Record that GitHub has just refused this kind of write."""
    values = {
        "key": block.key,
        "installation_id": block.installation_id,
        "repository_id": block.repository_id,
        "kind": block.kind,
        "permission": block.permission,
    }
    transaction.execute(_BLOCKED, values)


_BLOCKED = upsert(permission_block_table).values(at=NOW)


def block_row(transaction: Transaction, row: OutboxRow, block: PermissionBlock) -> None:
    """Block a row until GitHub may take its kind of write; a newer one of its target replaces it."""
    transaction.execute(
        update(outbox_table)
        .where(outbox_table.c.id == row.id)
        .values(refusal=block.key, state=READY, sending_at=None)
    )


def clear_blocks(transaction: Transaction, installation_id: int) -> None:
    """Delete the installation's blocks: what waited for a permission is due."""
    transaction.execute(
        delete(permission_block_table).where(permission_block_table.c.installation_id == installation_id)
    )
    _release(transaction, outbox_table.c.refusal.startswith(f"{installation_id}:", autoescape=True))


def load_blocked_writes(transaction: Transaction) -> tuple[BlockedWrites, ...]:
    """Load the writes that wait for a permission, by repository and kind."""
    repository, block = repository_table.c, permission_block_table.c
    kinds = (repository.owner, repository.name, block.kind, block.permission)
    rows = transaction.execute(
        select(*kinds, func.count(outbox_table.c.id).label("number"))
        .select_from(outbox_table)
        .join(permission_block_table, outbox_table.c.refusal == block.key)
        .join(repository_table, repository.id == block.repository_id)
        .group_by(*kinds)
        .order_by(*kinds)
    )
    return tuple(
        BlockedWrites(f"{row.owner}/{row.name}", row.kind, row.permission, row.number) for row in rows
    )


def retry_blocked(transaction: Transaction) -> None:
    """Let what was refused a while ago be tried again."""
    fresh = and_(permission_block_table.c.key == outbox_table.c.refusal, _IS_RECENT)
    _release(transaction, ~exists().where(fresh))


def delete_blocked(transaction: Transaction) -> None:
    """Delete what was blocked for too long."""
    old = NOW - BLOCK_KEPT_SECONDS
    transaction.execute(
        delete(outbox_table).where(outbox_table.c.refusal.is_not(None), outbox_table.c.created_at < old)
    )
    transaction.execute(delete(permission_block_table).where(permission_block_table.c.at < old))


def _release(transaction: Transaction, chosen: ColumnElement[bool]) -> None:
    waits = and_(outbox_table.c.refusal.is_not(None), chosen)
    theirs = lane_table.c.key.in_(select(outbox_table.c.lane).where(waits))
    # A lane that an instance holds is left to the next sweep: waiting for it here could hold up deliveries.
    locked = (
        select(lane_table.c.key).where(theirs).order_by(lane_table.c.key).with_for_update(skip_locked=True)
    )
    keys = transaction.execute(locked).scalars().all()
    if not keys:
        return
    transaction.execute(update(outbox_table).where(outbox_table.c.lane.in_(keys), waits).values(refusal=None))
    resting = or_(lane_table.c.due_at.is_(None), lane_table.c.due_at > NOW)
    transaction.execute(update(lane_table).where(lane_table.c.key.in_(keys), resting).values(due_at=NOW))
    notify_workers(transaction)
