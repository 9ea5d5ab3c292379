"""Elect the instance that fetches missed deliveries, and record what it requested."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from bot.store.database import NOW, Transaction, to_datetime
from bot.store.lanes import CLOCK_TOLERANCE, LONGEST_PAUSE
from bot.store.model import ReconcileOutcome
from bot.store.schema import delivery_table, instance_table, reconcile_table, redelivery_table

TAKEOVER_SECONDS = 10.0
"""Seconds until another instance takes over from a runner that is gone: it may be one that keeps crashing."""
IDS_PER_STATEMENT = 1000
"""Both databases have a limit."""

_ROW = 1


def begin_run(transaction: Transaction, name: str, every: float, lease: float) -> datetime | None:
    """Make this instance the runner; None if a run is not due yet, or is another instance's.

    Returns the newest attempt that an earlier run has handled, by GitHub's clock, or the beginning of time.
    """
    row = insert(reconcile_table).values(id=_ROW, runner="", started_at=0.0, found=0, resent=0)
    transaction.execute(row.on_conflict_do_nothing(index_elements=[reconcile_table.c.id]))
    # One statement: of two instances that ask at once, the second one sees what the first one wrote.
    run = transaction.execute(
        update(reconcile_table)
        .where(_is_due(every, lease))
        .values(runner=name, started_at=NOW)
        .returning(reconcile_table.c.scanned_until)
    ).first()
    return None if run is None else to_datetime(run.scanned_until or 0.0)


def record_missed(transaction: Transaction, ids: Sequence[str]) -> tuple[int, dict[str, int]]:
    """Record missed deliveries; return how many are new, and how often each was requested already."""
    new, requests = 0, dict[str, int]()
    for start in range(0, len(ids), IDS_PER_STATEMENT):
        batch = ids[start : start + IDS_PER_STATEMENT]
        received = set(
            transaction.execute(select(delivery_table.c.id).where(delivery_table.c.id.in_(batch))).scalars()
        )
        lost = [delivery_id for delivery_id in batch if delivery_id not in received]
        if not lost:
            continue
        rows = insert(redelivery_table).values(
            [{"id": delivery_id, "asked": 0, "at": NOW} for delivery_id in sorted(lost)]
        )
        rows = rows.on_conflict_do_nothing(index_elements=[redelivery_table.c.id])
        new += len(transaction.execute(rows.returning(redelivery_table.c.id)).all())
        earlier = select(redelivery_table.c.id, redelivery_table.c.asked).where(
            redelivery_table.c.id.in_(lost)
        )
        requests |= {row.id: row.asked for row in transaction.execute(earlier)}
    return new, requests


def record_redelivery(transaction: Transaction, delivery_id: str) -> None:
    """Record that GitHub was asked for this delivery once more."""
    once_more = update(redelivery_table).where(redelivery_table.c.id == delivery_id)
    transaction.execute(once_more.values(asked=redelivery_table.c.asked + 1, at=NOW))


def end_run(transaction: Transaction, name: str, outcome: ReconcileOutcome) -> None:
    """Record what a run found, unless another instance is the runner by now."""
    values: dict[str, Any] = {
        "found": reconcile_table.c.found + outcome.found,
        "resent": reconcile_table.c.resent + outcome.resent,
    }
    if outcome.not_before:
        values["not_before"] = outcome.not_before.timestamp()
    if outcome.is_complete:
        values["finished_at"] = NOW
    if outcome.scanned_until:
        values["scanned_until"] = outcome.scanned_until.timestamp()
    transaction.execute(update(reconcile_table).where(reconcile_table.c.runner == name).values(values))


def _is_due(every: float, lease: float) -> ColumnElement[bool]:
    alive = select(instance_table.c.id).where(instance_table.c.beat_at > NOW - lease)
    is_gone = reconcile_table.c.runner.not_in(alive)
    started = reconcile_table.c.started_at
    # A time ahead was written by a clock that was put back since.
    due = or_(
        started <= NOW - every,
        started > NOW + CLOCK_TOLERANCE,
        and_(is_gone, started <= NOW - TAKEOVER_SECONDS),
    )
    may_ask = or_(reconcile_table.c.not_before <= NOW, reconcile_table.c.not_before > NOW + LONGEST_PAUSE)
    return and_(due, may_ask)
