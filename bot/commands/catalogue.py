"""All slash commands: usage, help, and who may use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.commands import arguments
from bot.commands.arguments import ArgumentError, ArgumentText, CommandRequest, split_arguments
from bot.gates.config import Permission

COMMAND_PREFIX = "/feedback-"
"""How every command begins."""


@dataclass(frozen=True, slots=True)
class CommandPermission:
    """Who may give a command."""

    least: Permission
    """The role in the repository from which on it is allowed."""
    or_author: bool = False
    """Whoever opened the pull request may, whatever their role."""
    except_author: bool = False
    """Whoever opened it may not, unless the repository allows it (`overrides.by_author`)."""
    or_bot_author: bool = False
    """A bot may where it opened the pull request; no other bot ever does."""

    def __str__(self) -> str:
        """Who, in words."""
        role = "anyone who can read" if self.least is Permission.READ else f"`{self.least.value}` or more"
        if self.or_bot_author:
            return role
        if self.or_author:
            return f"the author, or {role}, no bot"
        return f"{role}, not the author, no bot" if self.except_author else f"{role}, no bot"


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command; it can't be made without help, permission and an example that it understands."""

    name: str
    usage: str
    """The words behind the name, as the help shows them; empty for none."""
    example: str
    """A whole line that works."""
    help: str
    who: CommandPermission
    parse: Callable[[ArgumentText], CommandRequest | ArgumentError]

    def __post_init__(self) -> None:
        """Refuse a command that could not be explained to whoever uses it wrongly."""
        if not (self.help.strip() and self.example.startswith(self.line)):
            raise ValueError(f"{self.line} needs a help and an example of its own")
        understood = self.read(self.example.removeprefix(self.line))
        if isinstance(understood, ArgumentError):
            raise ValueError(f"{self.example}: {understood.what}")  # noqa: TRY004 - its text is wrong, not its type

    @property
    def line(self) -> str:
        """How it begins: `/feedback-history`."""
        return f"{COMMAND_PREFIX}{self.name}"

    @property
    def right_use(self) -> str:
        """The whole line with its words."""
        return f"{self.line} {self.usage}".rstrip()

    def read(self, text: str) -> CommandRequest | ArgumentError:
        """What the words behind the name ask for."""
        return self.parse(split_arguments(text))


ANYONE = CommandPermission(Permission.READ)
ANYONE_AND_BOT = CommandPermission(Permission.READ, or_bot_author=True)
OVERRIDES = CommandPermission(Permission.WRITE, except_author=True)
APPEALS = CommandPermission(Permission.WRITE, or_author=True)

SLASH_COMMANDS = (
    SlashCommand(
        name="history",
        usage="[@login] [30d|24h|…] [tag]",
        example="/feedback-history @rio-agent[bot] 30d date_errors",
        help="Which gates an author breaks, how often, and what fixed them last time.",
        who=ANYONE_AND_BOT,
        parse=arguments.parse_history,
    ),
    SlashCommand(
        name="explain",
        usage="TAG",
        example="/feedback-explain date_errors",
        help="What a gate wants, with examples.",
        who=ANYONE_AND_BOT,
        parse=arguments.parse_explain,
    ),
    SlashCommand(
        name="appeal",
        usage="TAG reason: …",
        example="/feedback-appeal date_errors reason: the source gives no other date",
        help="Say that a tag is wrong; it is shown at its gate until a maintainer decides.",
        who=APPEALS,
        parse=arguments.parse_appeal,
    ),
    SlashCommand(
        name="reject",
        usage="TAG… [path:line] [reason: …]",
        example="/feedback-reject date_errors claims/x.md:5 reason: month 13",
        help="Reject this revision for these tags, or refuse an appeal.",
        who=OVERRIDES,
        parse=arguments.parse_reject,
    ),
    SlashCommand(
        name="dismiss",
        usage="TAG reason: …",
        example="/feedback-dismiss date_errors reason: the date is right",
        help="Lift a tag at this revision, or uphold an appeal.",
        who=OVERRIDES,
        parse=arguments.parse_dismiss,
    ),
    SlashCommand(
        name="select",
        usage="best|final|N reason: …",
        example="/feedback-select best reason: the last push broke the links",
        help="Say which iteration is the result.",
        who=OVERRIDES,
        parse=arguments.parse_select,
    ),
    SlashCommand(
        name="export",
        usage="",
        example="/feedback-export",
        help="Where to get all that is stored about you.",
        who=ANYONE,
        parse=arguments.parse_export,
    ),
    SlashCommand(
        name="forget",
        usage="[confirm]",
        example="/feedback-forget confirm",
        help="Delete what is stored about you; without `confirm` only say what would go.",
        who=ANYONE,
        parse=arguments.parse_forget,
    ),
    SlashCommand(
        name="help",
        usage="",
        example="/feedback-help",
        help="This list.",
        who=ANYONE_AND_BOT,
        parse=arguments.parse_help,
    ),
)

_BY_NAME = {command.name: command for command in SLASH_COMMANDS}


def find_command(name: str) -> SlashCommand | None:
    """The command of this name, in any case."""
    return _BY_NAME.get(name.lower())


REPLY_PAUSE = timedelta(minutes=1)
"""Between two answers in a thread to one whose answers are counted."""
MAX_REPLIES_PER_DAY = 10
"""Answers in a thread to one whose answers are counted."""


class Permit(StrEnum):
    """What becomes of a command."""

    YES = "yes"
    NO = "no"
    """The commenter may not: a puzzled face, and no reply."""
    IGNORED = "ignored"
    """No reaction either, so that nobody can keep the bot busy."""


@dataclass(frozen=True, slots=True)
class CommandGiver:
    """Who gave a command, as far as it decides."""

    role: Permission | None
    is_author: bool = False
    """They opened the pull request."""
    is_bot: bool = False
    """GitHub says that the account is a bot."""
    is_agent: bool = False
    """A bot, or a user whom the repository calls an agent."""
    is_bot_itself: bool = False
    is_text_author: bool = True
    """The sender of the event is the author of the text."""


def check_permission(command: SlashCommand, giver: CommandGiver, *, by_author: bool = False) -> Permit:
    """Decide by who gave the command; `by_author` is the repository's `overrides.by_author`."""
    who = command.who
    if giver.is_bot_itself or not giver.is_text_author:
        return Permit.IGNORED
    if giver.is_bot and not (giver.is_author and who.or_bot_author):
        return Permit.IGNORED
    if who.except_author and (giver.is_agent or (giver.is_author and not by_author)):
        return Permit.NO
    if who.or_author and giver.is_author:
        return Permit.YES
    may = giver.role is not None and giver.role.is_at_least(who.least)
    return Permit.YES if may or (giver.is_bot and who.least is Permission.READ) else Permit.NO


def is_rate_limited(giver: CommandGiver) -> bool:
    """Whether the answers are counted: a bot's, and those of people who only look on."""
    looks_on = giver.role is None or not giver.role.is_at_least(Permission.TRIAGE)
    return giver.is_bot or (looks_on and not giver.is_author)


def can_answer(answers: Sequence[datetime], now: datetime) -> bool:
    """Whether there is another answer in this thread, after those that there were."""
    today = [answer for answer in answers if answer > now - timedelta(days=1)]
    return len(today) < MAX_REPLIES_PER_DAY and all(answer <= now - REPLY_PAUSE for answer in today)
