"""How is what a turn wants remembered or forgotten written down?"""

from __future__ import annotations

from typing import assert_never

from bot.adapters.store import memory, memory_people, memory_weeks
from bot.adapters.store.memory_schema import audit
from bot.adapters.store.transaction import Transaction
from bot.domain.memos import (
    Document,
    Forget,
    InstallationGone,
    Memo,
    RepositoryGone,
    RepositorySeen,
    WeekRun,
)


def write(transaction: Transaction, lane: str, memo: Memo) -> None:
    """In the transaction of the turn that decided it."""
    match memo:
        case Document():
            memory.keep_document(transaction, lane, memo)
        case Forget():
            memory_people.forget(transaction, memo)
            _log(transaction, lane, memo)
        case WeekRun():
            memory_weeks.keep_run(transaction, memo)
        case RepositorySeen():
            memory.keep_repository(transaction, memo.repository)
            memory.move(transaction, memo.repository)
        case RepositoryGone():
            if not _is_elsewhere(transaction, memo):
                memory_people.forget_repository(transaction, memo.repository_id)
        case InstallationGone():
            memory_people.forget_installation(transaction, memo.installation_id)
        case _:
            assert_never(memo)


def _is_elsewhere(transaction: Transaction, gone: RepositoryGone) -> bool:
    """Whether another installation has the repository by now."""
    known = memory.find_repository(transaction, gone.repository_id)
    return (
        gone.installation_id is not None
        and known is not None
        and (known.installation_id != gone.installation_id)
    )


def _log(transaction: Transaction, lane: str, asked: Forget) -> None:
    """That somebody was forgotten is logged, without saying who."""
    values = {
        "key": asked.key,
        "act": "forget",
        "tag": "",
        "lane": lane,
        "repository_id": asked.repository_id,
        "account_id": 0,
        "login": "",
        "at": asked.at.timestamp(),
        "head": "",
        "reason": "",
    }
    transaction.execute(transaction.insert(audit).on_conflict_do_nothing(), values)
