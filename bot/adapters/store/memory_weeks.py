"""Which issue tells a repository's weeks, and which weeks were told?"""

from __future__ import annotations

from sqlalchemy import delete, select

from bot.adapters.store.memory_schema import weekly_issue, weekly_run
from bot.adapters.store.transaction import Transaction
from bot.domain.memos import WeekRun


def issue_of(transaction: Transaction, repository_id: int) -> int | None:
    """The number of the summary issue, None where none is known."""
    number: int | None = transaction.execute(
        select(weekly_issue.c.number).where(weekly_issue.c.repository_id == repository_id)
    ).scalar()
    return number


def remember_issue(transaction: Transaction, repository_id: int, number: int | None) -> None:
    """This is the summary issue from now on; None: it is gone."""
    transaction.execute(delete(weekly_issue).where(weekly_issue.c.repository_id == repository_id))
    if number is not None:
        values = {"repository_id": repository_id, "number": number}
        transaction.execute(transaction.insert(weekly_issue), values)


def keep_run(transaction: Transaction, run: WeekRun) -> None:
    """The clock's run for this week is decided."""
    values = {
        "repository_id": run.repository_id,
        "week": run.week,
        "at": run.at.timestamp(),
        "told": run.told,
    }
    transaction.execute(transaction.insert(weekly_run).on_conflict_do_nothing(), values)


def was_run(transaction: Transaction, repository_id: int, week: str) -> bool:
    """Whether the clock's run for this week is decided."""
    found = select(weekly_run.c.week).where(
        weekly_run.c.repository_id == repository_id, weekly_run.c.week == week
    )
    return transaction.execute(found).first() is not None
