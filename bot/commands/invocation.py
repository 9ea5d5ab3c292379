"""Find slash commands in new comments and reviews."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from bot import regex
from bot.commands.arguments import ArgumentError, CommandRequest
from bot.commands.catalogue import COMMAND_PREFIX, SLASH_COMMANDS, SlashCommand, find_command
from bot.gates.model import nearest_word
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import mask_hidden
from bot.pull_request.effects import CommandSource
from bot.pull_request.events import CommentEvent, Event, InlineCommentEvent, ReviewEvent
from bot.pull_request.model import hash_text
from bot.values import Account, Repository

MAX_COMMANDS = 3
"""Commands of one comment that are answered."""

_SHARED = 5
"""Letters at the beginning by which a longer slip is still known: `explane`, `selection`."""

_LINE = regex.Regex(rf"(?m)^ {{0,3}}{COMMAND_PREFIX}([a-z]+)([^\r\n]*)", ignore_case=True)
_NOT_OWN = (
    SpanKind.CODE,
    SpanKind.FENCE,
    SpanKind.QUOTE,
    SpanKind.COMMENT,
    SpanKind.HTML,
    SpanKind.LINK,
    SpanKind.IMAGE,
)


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command as it was given."""

    command: SlashCommand
    asked: CommandRequest


@dataclass(frozen=True, slots=True)
class InvalidCommand:
    """A command that was meant, and what is wrong with it."""

    command: SlashCommand
    what: str


def parse_commands(body: str) -> tuple[ParsedCommand | InvalidCommand, ...]:
    """The commands at the start of a line, outside quotes and code, each once, the first few.

    Only for text that was just created: an edit is not a new command.
    """
    if COMMAND_PREFIX not in body.lower():
        return ()
    found: list[ParsedCommand | InvalidCommand] = []
    for line in _LINE.finditer(mask_hidden(body, *_NOT_OWN)):
        goes_on = regex.is_word(line[2][:1]) or line[2].startswith(("/", "-"))  # another, longer name
        starts_it = not body[line.start() : line.start(1)].strip(" ").lower().removeprefix(COMMAND_PREFIX)
        given = (
            _read(line[1].lower(), body[line.start(2) : line.end(2)]) if starts_it and not goes_on else None
        )
        if given and given not in found:
            found.append(given)
        if len(found) == MAX_COMMANDS:
            break
    return tuple(found)


def _read(name: str, rest: str) -> ParsedCommand | InvalidCommand | None:
    command = find_command(name)
    if command is None:
        return _misspelt(name)
    asked = command.read(rest)
    return (
        InvalidCommand(command, asked.what)
        if isinstance(asked, ArgumentError)
        else ParsedCommand(command, asked)
    )


def _misspelt(name: str) -> InvalidCommand | None:
    """What was most likely meant; a word that is far from ours belongs to another bot."""
    names = [command.name for command in SLASH_COMMANDS]
    alike = (known for known in names if len(known) > _SHARED and known[:_SHARED] == name[:_SHARED])
    meant = find_command(nearest_word(name, names) or next(alike, ""))
    return InvalidCommand(meant, f"there is no `{COMMAND_PREFIX}{name}`") if meant else None


@dataclass(frozen=True, slots=True)
class CommandText:
    """Something new that somebody wrote."""

    where: CommandSource
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
class CommandInvocation:
    """A command, by whom and where it was given."""

    key: str
    """What makes it this command and no other: `comment:81/0`."""
    where: CommandSource
    id: int
    node_id: str
    account: Account
    sender_id: int
    at: datetime
    given: ParsedCommand | InvalidCommand
    inline: int | None = None
    body_hash: str = ""
    """Of the text that it stands in."""

    @property
    def text(self) -> str:
        """The text that it stands in: `comment:81`."""
        return invocation_text(self.key)

    @property
    def command(self) -> SlashCommand:
        """Which command was meant."""
        return self.given.command

    @property
    def topic(self) -> str:
        """What was asked, the same for the same question."""
        if isinstance(self.given, InvalidCommand):
            return f"{self.command.name}:wrong"
        # Stored with the reply, so the names of 0.1 stay: a reply from before an update is still found.
        asked = repr(self.given.asked).replace("Request(", "Asked(", 1)
        return f"{self.command.name}:{asked}"


def invocation_text(key: str) -> str:
    """The text in which the command of this key stands."""
    return key.rpartition("/")[0]


def find_invocations(events: Iterable[Event]) -> tuple[CommandInvocation, ...]:
    """The commands in what was newly written, in the order of the events, each once."""
    found = {order.key: order for text in new_texts(events) for order in _invocations(text)}
    return tuple(found.values())


def new_texts(events: Iterable[Event]) -> Iterator[CommandText]:
    """What was newly written; an edit gives no command."""
    for event in events:
        if text := _text(event):
            yield text


def _invocations(text: CommandText) -> Iterator[CommandInvocation]:
    for index, given in enumerate(parse_commands(text.body)):
        yield CommandInvocation(
            key=f"{text.where}:{text.id}/{index}",
            where=text.where,
            id=text.id,
            node_id=text.node_id,
            account=text.account,
            sender_id=text.sender_id,
            at=text.at,
            given=given,
            inline=text.inline,
            body_hash=hash_text(text.body),
        )


def _text(event: Event) -> CommandText | None:
    match event:
        case CommentEvent(action="created"):
            return CommandText(
                where=CommandSource.COMMENT,
                id=event.comment_id,
                node_id="",
                account=event.author,
                sender_id=event.sender.id,
                at=event.created_at,
                body=event.body,
                repository=event.repository,
                number=event.number,
            )
        case ReviewEvent(action="submitted", review=review, pull_request=seen):
            return CommandText(
                where=CommandSource.REVIEW,
                id=review.id,
                node_id=review.node_id,
                account=review.author,
                sender_id=review.author.id,
                at=review.submitted_at,
                body=review.body,
                repository=seen.repository,
                number=seen.number,
            )
        case InlineCommentEvent(action="created", comment=comment, pull_request=seen):
            return CommandText(
                where=CommandSource.INLINE,
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
