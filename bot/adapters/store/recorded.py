"""Which pull requests are recorded, newest first?"""

from __future__ import annotations

from sqlalchemy import func, select

from bot.adapters.store.codec import decode
from bot.adapters.store.schema import pull_request as pull_requests
from bot.adapters.store.transaction import Transaction
from bot.domain.model import PullRequest


def recorded(
    transaction: Transaction, repository: tuple[str, str] | None, limit: int
) -> tuple[PullRequest, ...]:
    """The newest pull requests of one repository, or of all of them."""
    newest = select(pull_requests.c.record).order_by(pull_requests.c.updated_at.desc()).limit(limit)
    if repository:
        owner, name = repository
        newest = newest.where(
            func.lower(pull_requests.c.owner) == owner.lower(),
            func.lower(pull_requests.c.name) == name.lower(),
        )
    return tuple(decode(record, PullRequest) for record in transaction.execute(newest).scalars())
