"""How is somebody's name taken from what is counted?"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from sqlalchemy import select

from bot.adapters.store.memory_schema import forgotten
from bot.adapters.store.transaction import Transaction, moment
from bot.domain.memory import Record
from bot.domain.model import GHOST, PullRequest, Validator, Verdict

Known = TypeVar("Known", Record, PullRequest)


def forgotten_in(transaction: Transaction, repository_id: int) -> dict[int, datetime]:
    """Who asked to be forgotten in a repository, and when they last did."""
    rows = select(forgotten.c.account_id, forgotten.c.at).where(forgotten.c.repository_id == repository_id)
    return {row.account_id: moment(row.at) for row in transaction.execute(rows)}


def anonymous(known: Known, who: int, until: datetime) -> Known:
    """What is known, without the name of this account on anything that it did up to then."""
    is_theirs = known.author.id == who and known.created_at <= until
    # The same for one person in one thread, so that their last word stays their last; no other use.
    mark = hashlib.sha256(f"{known.number}:{known.created_at.isoformat()}:{who}".encode()).hexdigest()[:12]
    verdicts = tuple(
        _unsigned(verdict, f"forgotten:{mark}")
        if verdict.validator.key == f"user:{who}" and verdict.at <= until
        else verdict
        for verdict in known.verdicts
    )
    return replace(known, author=GHOST if is_theirs else known.author, verdicts=verdicts)


def _unsigned(verdict: Verdict, key: str) -> Verdict:
    return replace(verdict, validator=Validator(key, GHOST.login), url="", body_hash="")
