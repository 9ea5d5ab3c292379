"""Which commands do the events of a turn give?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from bot.domain.commands.command import Command
from bot.domain.commands.reading import Given, WrongUse, commands_in
from bot.domain.events import CommentSeen, Event, InlineCommentSeen, ReviewSeen
from bot.domain.model import Account, Repository
from bot.domain.origin import hash_of
from bot.domain.thread_effects import Where


@dataclass(frozen=True, slots=True)
class Text:
    """Something new that somebody wrote."""

    where: Where
    id: int
    node_id: str
    account: Account
    sender_id: int
    at: datetime
    body: str
    repository: Repository
    number: int
    inline: int | None = None
    """The first comment of its inline thread."""


@dataclass(frozen=True, slots=True)
class Order:
    """A command, by whom and where it was given."""

    key: str
    """What makes it this command and no other: `comment:81/0`."""
    where: Where
    id: int
    node_id: str
    account: Account
    sender_id: int
    at: datetime
    given: Given | WrongUse
    inline: int | None = None
    body_hash: str = ""
    """Of the text that it stands in."""

    @property
    def text(self) -> str:
        """The text that it stands in: `comment:81`."""
        return text_of(self.key)

    @property
    def command(self) -> Command:
        """Which command was meant."""
        return self.given.command

    @property
    def topic(self) -> str:
        """What was asked, the same for the same question."""
        if isinstance(self.given, WrongUse):
            return f"{self.command.name}:wrong"
        return f"{self.command.name}:{self.given.asked!r}"


def text_of(key: str) -> str:
    """The text in which the command of this key stands."""
    return key.rpartition("/")[0]


def orders_in(events: Iterable[Event]) -> tuple[Order, ...]:
    """The commands in what was newly written, in the order of the events, each once."""
    found = {order.key: order for text in texts_in(events) for order in _orders(text)}
    return tuple(found.values())


def texts_in(events: Iterable[Event]) -> Iterator[Text]:
    """What was newly written; an edit gives no command."""
    for event in events:
        if text := _text(event):
            yield text


def _orders(text: Text) -> Iterator[Order]:
    for index, given in enumerate(commands_in(text.body)):
        yield Order(
            key=f"{text.where}:{text.id}/{index}",
            where=text.where,
            id=text.id,
            node_id=text.node_id,
            account=text.account,
            sender_id=text.sender_id,
            at=text.at,
            given=given,
            inline=text.inline,
            body_hash=hash_of(text.body),
        )


def _text(event: Event) -> Text | None:
    match event:
        case CommentSeen(action="created"):
            return Text(
                where=Where.COMMENT,
                id=event.comment_id,
                node_id="",
                account=event.author,
                sender_id=event.sender.id,
                at=event.created_at,
                body=event.body,
                repository=event.repository,
                number=event.number,
            )
        case ReviewSeen(action="submitted", review=review, pull_request=seen):
            return Text(
                where=Where.REVIEW,
                id=review.id,
                node_id=review.node_id,
                account=review.author,
                sender_id=review.author.id,
                at=review.submitted_at,
                body=review.body,
                repository=seen.repository,
                number=seen.number,
            )
        case InlineCommentSeen(action="created", comment=comment, pull_request=seen):
            return Text(
                where=Where.INLINE,
                id=comment.id,
                node_id="",
                account=comment.author,
                sender_id=comment.author.id,
                at=comment.created_at,
                body=comment.body,
                repository=seen.repository,
                number=seen.number,
                inline=comment.in_reply_to or comment.id,
            )
        case _:
            return None
