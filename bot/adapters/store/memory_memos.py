"""How is what a turn wants remembered or forgotten written down?"""

from __future__ import annotations

from typing import assert_never

from bot.adapters.store import memory, memory_homes, memory_people, memory_weeks
from bot.adapters.store.memory_schema import audit
from bot.adapters.store.transaction import Transaction
from bot.domain.memos import (
    Document,
    Forget,
    HistoryShared,
    InstallationGone,
    Memo,
    RepositoryDeleted,
    RepositoryGained,
    RepositoryLeft,
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
            memory_homes.see(transaction, memo.repository)
        case RepositoryGained():
            memory_homes.gain(transaction, memo.repository, transferred=memo.transferred)
        case RepositoryLeft():
            memory_homes.leave(transaction, memo.repository_id, memo.installation_id)
        case RepositoryDeleted():
            memory_homes.leave(transaction, memo.repository_id, memo.installation_id)
            memory_people.forget_repository(transaction, memo.repository_id)
        case HistoryShared():
            memory_homes.share(transaction, memo.repository_id, shared=memo.shared)
        case InstallationGone():
            memory_homes.leave_all(transaction, memo.installation_id)
        case _:
            assert_never(memo)


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
