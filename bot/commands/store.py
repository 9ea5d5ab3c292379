"""Store replies to slash commands."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select, update
from sqlalchemy.dialects.sqlite import insert

from bot.pull_request.effects import Effect, PostedReply, PostReply
from bot.store.database import Transaction, to_datetime
from bot.store.schema import reply_table


def save_replies(transaction: Transaction, lane: str, effects: Iterable[Effect]) -> None:
    """Record the replies that are owed; the same command is not answered twice."""
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
        if isinstance(effect, PostReply)
    ]
    if rows:
        transaction.execute(insert(reply_table).on_conflict_do_nothing(), rows)


def mark_reply_posted(transaction: Transaction, key: str, comment_id: int, node_id: str) -> None:
    """Record the comment that a reply was posted as."""
    reply = update(reply_table).where(reply_table.c.key == key)
    transaction.execute(reply.values(comment_id=comment_id, node_id=node_id))


def load_replies(transaction: Transaction, lane: str) -> tuple[PostedReply, ...]:
    """Load the replies to commands in a thread, oldest first."""
    rows = transaction.execute(
        select(reply_table).where(reply_table.c.lane == lane).order_by(reply_table.c.at)
    )
    return tuple(
        PostedReply(row.key, row.topic, row.account_id, to_datetime(row.at), row.comment_id, row.node_id)
        for row in rows
    )
