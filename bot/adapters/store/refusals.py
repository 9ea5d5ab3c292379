"""Which kinds of writes does GitHub not take, and what waits until it does?"""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, delete, exists, func, or_, select, update

from bot.adapters.store.database import Database
from bot.adapters.store.memory_schema import repository
from bot.adapters.store.schema import READY, lane, outbox, refusal
from bot.adapters.store.transaction import Transaction
from bot.adapters.store.wakes import wake_others
from bot.domain.diagnosis import Waiting
from bot.ports import OutboxRow, Refusal

AGAIN = 3600.0
"""Seconds after which a kind of write that was refused is tried again, whoever told us of anything."""
KEPT = 30 * 86_400.0
"""Seconds after which a write that waited in vain is owed no longer."""


def known(transaction: Transaction, installation_id: int) -> tuple[Refusal, ...]:
    """What GitHub did not take of this installation, lately or some time ago."""
    recent = _is_recent(transaction).label("recent")
    rows = select(refusal, recent).where(refusal.c.installation_id == installation_id)
    return tuple(
        Refusal(row.installation_id, row.repository_id, row.kind, row.permission, recent=bool(row.recent))
        for row in transaction.execute(rows.order_by(refusal.c.key))
    )


def note(transaction: Transaction, refused: Refusal) -> None:
    """GitHub has just not taken this."""
    values = {"permission": refused.permission, "at": transaction.now}
    statement = transaction.insert(refusal).values(
        key=refused.key,
        installation_id=refused.installation_id,
        repository_id=refused.repository_id,
        kind=refused.kind,
        **values,
    )
    transaction.execute(statement.on_conflict_do_update(index_elements=[refusal.c.key], set_=values))


def withhold(transaction: Transaction, row: OutboxRow, refused: Refusal) -> None:
    """The row stays owed, but its lane is not due for it."""
    transaction.execute(
        update(outbox).where(outbox.c.id == row.id).values(refusal=refused.key, state=READY, sending_at=None)
    )


def let_again(transaction: Transaction, installation_id: int) -> None:
    """GitHub may take everything of this installation from now on."""
    transaction.execute(delete(refusal).where(refusal.c.installation_id == installation_id))
    _release(transaction, outbox.c.refusal.startswith(f"{installation_id}:", autoescape=True))


async def sweep(database: Database) -> None:
    """Try again what was refused a while ago, and forget what waited in vain."""
    await database.write(_forget)
    await database.write(_try_again)


def waiting(transaction: Transaction) -> tuple[Waiting, ...]:
    """What waits for which permission, by repository and kind."""
    number = func.count(outbox.c.id).label("number")
    rows = transaction.execute(
        select(refusal.c.kind, refusal.c.permission, repository.c.owner, repository.c.name, number)
        .join(outbox, outbox.c.refusal == refusal.c.key)
        .join(repository, repository.c.id == refusal.c.repository_id)
        .group_by(refusal.c.kind, refusal.c.permission, repository.c.owner, repository.c.name)
        .order_by(repository.c.owner, repository.c.name, refusal.c.kind)
    )
    return tuple(Waiting(f"{row.owner}/{row.name}", row.kind, row.permission, row.number) for row in rows)


def _is_recent(transaction: Transaction) -> ColumnElement[bool]:
    # A time far ahead was written by a clock that was put back since.
    return and_(refusal.c.at > transaction.now - AGAIN, refusal.c.at <= transaction.now + AGAIN)


def _try_again(transaction: Transaction) -> None:
    fresh = and_(refusal.c.key == outbox.c.refusal, _is_recent(transaction))
    _release(transaction, ~exists().where(fresh))


def _forget(transaction: Transaction) -> None:
    old = transaction.now - KEPT
    transaction.execute(delete(outbox).where(outbox.c.refusal.is_not(None), outbox.c.created_at < old))
    transaction.execute(delete(refusal).where(refusal.c.at < old))


def _release(transaction: Transaction, chosen: ColumnElement[bool]) -> None:
    waits = and_(outbox.c.refusal.is_not(None), chosen)
    theirs = lane.c.key.in_(select(outbox.c.lane).where(waits))
    # A lane that somebody holds is left to the next sweep: waiting for it here could hold up the door.
    locked = select(lane.c.key).where(theirs).order_by(lane.c.key).with_for_update(skip_locked=True)
    keys = transaction.execute(locked).scalars().all()
    if not keys:
        return
    transaction.execute(update(outbox).where(outbox.c.lane.in_(keys), waits).values(refusal=None))
    resting = or_(lane.c.due_at.is_(None), lane.c.due_at > transaction.now)
    transaction.execute(update(lane).where(lane.c.key.in_(keys), resting).values(due_at=transaction.now))
    wake_others(transaction)
