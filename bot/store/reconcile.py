"""Elect the instance that fetches missed deliveries, and remember what it asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select, update

from bot.store.database import Transaction, to_datetime
from bot.store.lanes import AHEAD, LONGEST_PAUSE
from bot.store.model import ReconcileOutcome, ReconcileRun
from bot.store.schema import delivery_table, instance_table, reconcile_table, redelivery_table

BETWEEN_RUNNERS = 10.0
"""Seconds until another instance takes over from a runner that is gone: it may be one that keeps crashing."""
AT_ONCE = 1000
"""Ids in one statement; both databases have a limit."""

_ROW = 1


def begin_run(transaction: Transaction, name: str, every: float, lease: float) -> ReconcileRun | None:
    """Make this instance the runner; None where a run is not due yet, or is another instance's."""
    row = transaction.insert(reconcile_table).values(id=_ROW, runner="", started_at=0.0, found=0, resent=0)
    transaction.execute(row.on_conflict_do_nothing(index_elements=[reconcile_table.c.id]))
    # One statement: of two instances that ask at once, the second one sees what the first one wrote.
    taken = transaction.execute(
        update(reconcile_table)
        .where(_is_due(transaction.now, every, lease))
        .values(runner=name, started_at=transaction.now)
        .returning(reconcile_table.c.scanned_until)
    ).first()
    if taken is None:
        return None
    return ReconcileRun(None if taken.scanned_until is None else to_datetime(taken.scanned_until))


def record_missed(transaction: Transaction, ids: Sequence[str]) -> tuple[int, dict[str, int]]:
    """How many of these were never missed before; how often each that never came was asked for."""
    fresh, asked = 0, dict[str, int]()
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        received = set(
            transaction.execute(select(delivery_table.c.id).where(delivery_table.c.id.in_(some))).scalars()
        )
        lost = [one for one in some if one not in received]
        if not lost:
            continue
        rows = transaction.insert(redelivery_table).values(
            [{"id": one, "asked": 0, "at": transaction.now} for one in sorted(lost)]
        )
        rows = rows.on_conflict_do_nothing(index_elements=[redelivery_table.c.id])
        fresh += len(transaction.execute(rows.returning(redelivery_table.c.id)).all())
        known = select(redelivery_table.c.id, redelivery_table.c.asked).where(redelivery_table.c.id.in_(lost))
        asked |= {row.id: row.asked for row in transaction.execute(known)}
    return fresh, asked


def record_redelivery(transaction: Transaction, delivery_id: str) -> None:
    """GitHub was asked for this delivery once more."""
    once_more = update(redelivery_table).where(redelivery_table.c.id == delivery_id)
    transaction.execute(once_more.values(asked=redelivery_table.c.asked + 1, at=transaction.now))


def end_run(transaction: Transaction, name: str, outcome: ReconcileOutcome) -> None:
    """Note what a run found, unless another instance is the runner by now."""
    values: dict[str, Any] = {
        "found": reconcile_table.c.found + outcome.found,
        "resent": reconcile_table.c.resent + outcome.resent,
    }
    if outcome.not_before:
        values["not_before"] = outcome.not_before.timestamp()
    if outcome.is_complete:
        values["finished_at"] = transaction.now
    if outcome.scanned_until:
        values["scanned_until"] = outcome.scanned_until.timestamp()
    transaction.execute(update(reconcile_table).where(reconcile_table.c.runner == name).values(values))


def _is_due(now: ColumnElement[float], every: float, lease: float) -> ColumnElement[bool]:
    alive = select(instance_table.c.id).where(instance_table.c.beat_at > now - lease)
    is_gone = reconcile_table.c.runner.not_in(alive)
    started = reconcile_table.c.started_at
    # A time ahead was written by a clock that was put back since.
    due = or_(started <= now - every, started > now + AHEAD, and_(is_gone, started <= now - BETWEEN_RUNNERS))
    may_ask = or_(reconcile_table.c.not_before <= now, reconcile_table.c.not_before > now + LONGEST_PAUSE)
    return and_(due, may_ask)
