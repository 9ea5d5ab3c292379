"""Store the weekly issue's number and which weeks were posted."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert

from bot.pull_request.effects import RecordWeeklyRun
from bot.store.database import Transaction
from bot.store.schema import weekly_issue_table, weekly_run_table


def load_issue_number(transaction: Transaction, repository_id: int) -> int | None:
    """Load the number of the weekly issue, None if none is known."""
    number: int | None = transaction.execute(
        select(weekly_issue_table.c.number).where(weekly_issue_table.c.repository_id == repository_id)
    ).scalar()
    return number


def save_issue_number(transaction: Transaction, repository_id: int, number: int) -> None:
    """Save the number of the weekly issue."""
    transaction.execute(delete(weekly_issue_table).where(weekly_issue_table.c.repository_id == repository_id))
    values = {"repository_id": repository_id, "number": number}
    transaction.execute(insert(weekly_issue_table), values)


def save_weekly_run(transaction: Transaction, run: RecordWeeklyRun) -> None:
    """Record that the scheduled run for this week is decided."""
    values = {
        "repository_id": run.repository_id,
        "week": run.week,
        "at": run.at.timestamp(),
        "told": run.is_published,
    }
    transaction.execute(insert(weekly_run_table).on_conflict_do_nothing(), values)


def has_weekly_run(transaction: Transaction, repository_id: int, week: str) -> bool:
    """Whether the scheduled run for this week is decided."""
    run = select(weekly_run_table.c.week).where(
        weekly_run_table.c.repository_id == repository_id, weekly_run_table.c.week == week
    )
    return transaction.execute(run).first() is not None
