"""Find slash commands in new comments and reviews."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot import regex
from bot.commands.catalogue import SLASH_COMMANDS, find_command
from bot.commands.model import (
    COMMAND_PREFIX,
    ArgumentError,
    CommandInvocation,
    CommandRequest,
    CommandText,
    InvalidCommand,
    split_arguments,
)
from bot.gates.model import nearest_word
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import mask_hidden
from bot.pull_request.effects import CommandSource
from bot.pull_request.events import CommentEvent, Event, InlineCommentEvent, ReviewEvent
from bot.verdicts.tags import comment_location

MAX_COMMANDS = 3
"""Commands of one comment that are answered."""

_SHARED_PREFIX = 5
"""Letters at the beginning by which a longer misspelling is recognised: `explane`, `selection`."""

_LINE = regex.Regex(rf"(?m)^ {{0,3}}{COMMAND_PREFIX}(-[a-z]+)?([^\r\n]*)", ignore_case=True)
_MASKED = (
    SpanKind.CODE,
    SpanKind.FENCE,
    SpanKind.QUOTE,
    SpanKind.COMMENT,
    SpanKind.HTML,
    SpanKind.LINK,
    SpanKind.IMAGE,
)


def parse_commands(body: str) -> tuple[CommandRequest | InvalidCommand, ...]:
    """Return the commands at the start of a line, outside quotes and code, each once, the first few.

    Only for text that was just created: an edit is not a new command.
    """
    if COMMAND_PREFIX not in body.lower():
        return ()
    commands: list[CommandRequest | InvalidCommand] = []
    for line in _LINE.finditer(mask_hidden(body, *_MASKED)):
        has_longer_name = regex.is_word(line[2][:1]) or line[2].startswith(("/", "-"))
        starts_line = body[line.start() :].lstrip(" ").lower().startswith(COMMAND_PREFIX)
        if has_longer_name or not starts_line:
            continue
        name = (line[1] or "").lower().removeprefix("-")
        command = _parse_command(name, body[line.start(2) : line.end(2)])
        if command and command not in commands:
            commands.append(command)
        if len(commands) == MAX_COMMANDS:
            break
    return tuple(commands)


def _parse_command(name: str, arguments: str) -> CommandRequest | InvalidCommand | None:
    command = find_command(name)
    if command is None:
        return _misspelt(name)
    try:
        return command.parse(split_arguments(arguments))
    except ArgumentError as error:
        return InvalidCommand(command, str(error))


def _misspelt(name: str) -> InvalidCommand | None:
    """Return the command that was most likely meant; a name unlike all of ours belongs to another bot."""
    names = [command.name for command in SLASH_COMMANDS if command.name]
    prefix = name[:_SHARED_PREFIX]
    alike = (other for other in names if len(other) > _SHARED_PREFIX and other[:_SHARED_PREFIX] == prefix)
    nearest = nearest_word(name, names) or next(alike, None)
    meant = find_command(nearest) if nearest else None
    return InvalidCommand(meant, f"there is no `{COMMAND_PREFIX}-{name}`") if meant else None


def find_invocations(events: Iterable[Event]) -> tuple[CommandInvocation, ...]:
    """Return the commands in new texts, in the order of the events, each once."""
    invocations = (
        CommandInvocation(text, index, command)
        for text in new_texts(events)
        for index, command in enumerate(parse_commands(text.body))
    )
    return tuple({invocation.key: invocation for invocation in invocations}.values())


def new_texts(events: Iterable[Event]) -> Iterator[CommandText]:
    """Yield the texts that were newly written; an edit gives no command."""
    for event in events:
        match event:
            case CommentEvent(action="created"):
                yield CommandText(
                    CommandSource.COMMENT,
                    event.comment_id,
                    event.author,
                    event.sender.id,
                    event.created_at,
                    event.body,
                    event.repository,
                    event.number,
                )
            case ReviewEvent(action="submitted", review=review, pull_request=snapshot):
                yield CommandText(
                    CommandSource.REVIEW,
                    review.id,
                    review.author,
                    review.author.id,
                    review.submitted_at,
                    review.body,
                    snapshot.repository,
                    snapshot.number,
                    node_id=review.node_id,
                )
            case InlineCommentEvent(action="created", comment=comment, pull_request=snapshot):
                yield CommandText(
                    CommandSource.INLINE,
                    comment.id,
                    comment.author,
                    comment.author.id,
                    comment.created_at,
                    comment.body,
                    snapshot.repository,
                    snapshot.number,
                    inline=comment.in_reply_to or comment.id,
                    place=comment_location(comment),
                )
            case _:
                pass
