"""Which commands were answered, and where do the answers stand?"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select, update

from bot.adapters.store.memory_schema import reply
from bot.adapters.store.transaction import Transaction, moment
from bot.domain.effects import Effect
from bot.domain.replied import Replied
from bot.domain.thread_effects import Reply


def note(transaction: Transaction, lane: str, effects: Iterable[Effect]) -> None:
    """These answers are owed; the same command is not answered twice."""
    rows = [
        {
            "key": effect.key,
            "lane": lane,
            "repository_id": effect.repository.id,
            "account_id": effect.account_id,
            "topic": effect.topic,
            "at": effect.at.timestamp(),
        }
        for effect in effects
        if isinstance(effect, Reply)
    ]
    if rows:
        transaction.execute(transaction.insert(reply).on_conflict_do_nothing(), rows)


def posted(transaction: Transaction, key: str, comment_id: int, node_id: str) -> None:
    """The answer stands there now."""
    where = update(reply).where(reply.c.key == key)
    transaction.execute(where.values(comment_id=comment_id, node_id=node_id))


def replies_of(transaction: Transaction, lane: str) -> tuple[Replied, ...]:
    """The answers in a thread, oldest first."""
    rows = transaction.execute(select(reply).where(reply.c.lane == lane).order_by(reply.c.at))
    return tuple(
        Replied(row.key, row.topic, row.account_id, moment(row.at), row.comment_id, row.node_id)
        for row in rows
    )
