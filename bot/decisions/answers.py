"""How many answers do somebody's commands get in a thread?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby

from bot.decisions.orders import Order, text_of
from bot.domain.commands import asked as asks
from bot.domain.commands.permits import may_answer
from bot.domain.commands.reading import Given
from bot.domain.replied import Replied, one_topic
from bot.domain.thread_effects import Reply

NOBODY = 0
"""Whom an answer to somebody forgotten was given to: it is counted, and says nothing of them."""
LONGEST = 60_000
"""Characters of one comment, with room for the mark below GitHub's 65,536."""


def may_be_answered(order: Order, before: Iterable[Replied | Reply], now: datetime) -> bool:
    """Whether one whose answers are counted gets another; the commands of one text are one question."""
    others = [one for one in before if text_of(one.key) != order.text]
    # What was said to somebody who was forgotten since is nobody's, and counts as everybody's: else
    # forgetting would begin the count anew. It is not put off by the question that comes before it.
    counted = {NOBODY} if is_forgetting(order) else {NOBODY, order.account.id}
    return may_answer([one.at for one in others if one.account_id in counted], now)


def is_forgetting(order: Order) -> bool:
    """Whether the command deletes what is stored about its giver."""
    given = order.given
    return isinstance(given, Given) and isinstance(given.asked, asks.ForgetAsked) and given.asked.confirmed


def joined(replies: Iterable[Reply]) -> tuple[Reply, ...]:
    """The answers to one text as one comment, since each comment is mailed, as long as it fits."""
    texts = groupby(replies, key=lambda one: text_of(one.key))
    return tuple(one for _, group in texts for one in _as_one(tuple(group)))


def _as_one(replies: Sequence[Reply]) -> tuple[Reply, ...]:
    body = "\n\n---\n\n".join(one.body.rstrip() for one in replies)
    if len(replies) == 1 or len(body) > LONGEST:
        return tuple(replies)
    return (
        replace(
            replies[0],
            topic=one_topic(one.topic for one in replies),
            account_id=min(one.account_id for one in replies),
            body=f"{body}\n",
        ),
    )
