"""Load what the status page shows: queue, parked deliveries, write budgets, the last reconcile run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, case, func, select

from bot.store.database import NOW, Transaction, load_server_version, to_datetime
from bot.store.deliveries import load_parked
from bot.store.lanes import NOT_BEFORE
from bot.store.model import ParkedDelivery
from bot.store.outbox import RATE_WINDOWS
from bot.store.schema import (
    IS_PARKED,
    IS_QUEUED,
    delivery_table,
    installation_table,
    lane_table,
    outbox_table,
    reconcile_table,
    spending_table,
)

MAX_ROWS = 20
"""Parked deliveries and installations that are shown."""


@dataclass(frozen=True, slots=True)
class WriteBudget:
    """The content that an installation created lately, and until when it pauses."""

    installation_id: int
    last_minute: int
    last_hour: int
    paused_until: datetime | None


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """The state of the store at one moment."""

    postgres_version: int | None
    """None on SQLite."""
    queued: int
    lanes_due: int
    owed_writes: int
    oldest_waiting: datetime | None
    """When the oldest queued delivery was received."""
    last_delivery: datetime | None
    parked: tuple[ParkedDelivery, ...]
    """The newest of them."""
    parked_count: int
    budgets: tuple[WriteBudget, ...]
    """Of the installations that wrote most in the last hour, or that pause."""
    reconciled_at: datetime | None


def load_status(transaction: Transaction) -> StoreStatus:
    """Load everything that the status page shows; every statement reads few rows, or an index."""
    received, finished = delivery_table.c.received_at, delivery_table.c.finished_at
    extremes = (
        func.count().label("number"),
        func.min(received).label("first"),
        func.max(received).label("last"),
    )
    waiting = transaction.execute(select(*extremes).where(IS_QUEUED)).one()
    last = select(received).where(finished.is_not(None)).order_by(finished.desc()).limit(1)
    newest = [time for time in (waiting.last, transaction.execute(last).scalar()) if time is not None]
    reconciled = transaction.execute(select(reconcile_table.c.finished_at)).scalar()
    due = select(func.count()).select_from(lane_table).where(lane_table.c.due_at <= NOW)
    return StoreStatus(
        postgres_version=load_server_version(transaction),
        queued=waiting.number,
        lanes_due=transaction.execute(due).scalar_one(),
        owed_writes=transaction.execute(select(func.count()).select_from(outbox_table)).scalar_one(),
        oldest_waiting=_time(waiting.first),
        last_delivery=_time(max(newest, default=None)),
        parked=load_parked(transaction, MAX_ROWS),
        parked_count=transaction.execute(
            select(func.count()).select_from(delivery_table).where(IS_PARKED)
        ).scalar_one(),
        budgets=_load_budgets(transaction),
        reconciled_at=_time(reconciled),
    )


def _load_budgets(transaction: Transaction) -> tuple[WriteBudget, ...]:
    minute, hour = (window.seconds for window in RATE_WINDOWS)
    in_last_minute = func.sum(case((spending_table.c.at > NOW - minute, 1), else_=0)).label("last_minute")
    spent = (
        select(spending_table.c.installation_id.label("id"), in_last_minute, func.count().label("last_hour"))
        .where(spending_table.c.at > NOW - hour)
        .group_by(spending_table.c.installation_id)
        .order_by(func.count().desc())
        .limit(MAX_ROWS)
    )
    paused: Select[tuple[int, float]] = (
        select(installation_table.c.id, installation_table.c.not_before)
        .where(installation_table.c.not_before > NOW, NOT_BEFORE > NOW)
        .order_by(installation_table.c.id)
        .limit(MAX_ROWS)
    )
    pauses = {row.id: to_datetime(row.not_before) for row in transaction.execute(paused)}
    writes = {row.id: (row.last_minute, row.last_hour) for row in transaction.execute(spent)}
    return tuple(
        WriteBudget(identity, *writes.get(identity, (0, 0)), pauses.get(identity))
        for identity in sorted({*writes, *pauses})
    )


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else to_datetime(seconds)
