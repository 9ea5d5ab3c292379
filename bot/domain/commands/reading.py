"""Which commands a new comment gives, and which it only quotes."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain import regex
from bot.domain.commands.asked import Asked, Mistake
from bot.domain.commands.catalogue import COMMANDS, command_named
from bot.domain.commands.command import PREFIX, Command
from bot.domain.gates import nearest
from bot.domain.prose import Kind, mask

MOST = 3
"""Commands of one comment that are answered."""

_SHARED = 5
"""Letters at the beginning by which a longer slip is still known: `explane`, `selection`."""

_LINE = regex.Pattern(rf"(?m)^ {{0,3}}{PREFIX}([a-z]+)([^\r\n]*)", ignore_case=True)
_NOT_OWN = (Kind.CODE, Kind.FENCE, Kind.QUOTE, Kind.COMMENT, Kind.HTML, Kind.LINK, Kind.IMAGE)


@dataclass(frozen=True, slots=True)
class Given:
    """A command as it was given."""

    command: Command
    asked: Asked


@dataclass(frozen=True, slots=True)
class WrongUse:
    """A command that was meant, and what is wrong with it."""

    command: Command
    what: str


def commands_in(body: str) -> tuple[Given | WrongUse, ...]:
    """The commands at the start of a line, outside quotes and code, each once, the first few.

    Only for text that was just created: an edit is not a new command.
    """
    if PREFIX not in body.lower():
        return ()
    found: list[Given | WrongUse] = []
    for line in _LINE.finditer(mask(body, *_NOT_OWN)):
        goes_on = regex.is_word(line[2][:1]) or line[2].startswith(("/", "-"))  # another, longer name
        starts_it = not body[line.start() : line.start(1)].strip(" ").lower().removeprefix(PREFIX)
        given = (
            _read(line[1].lower(), body[line.start(2) : line.end(2)]) if starts_it and not goes_on else None
        )
        if given and given not in found:
            found.append(given)
        if len(found) == MOST:
            break
    return tuple(found)


def _read(name: str, rest: str) -> Given | WrongUse | None:
    command = command_named(name)
    if command is None:
        return _misspelt(name)
    asked = command.read(rest)
    return WrongUse(command, asked.what) if isinstance(asked, Mistake) else Given(command, asked)


def _misspelt(name: str) -> WrongUse | None:
    """What was most likely meant; a word that is far from ours belongs to another bot."""
    names = [command.name for command in COMMANDS]
    alike = (known for known in names if len(known) > _SHARED and known[:_SHARED] == name[:_SHARED])
    meant = command_named(nearest(name, names) or next(alike, ""))
    return WrongUse(meant, f"there is no `{PREFIX}{name}`") if meant else None
