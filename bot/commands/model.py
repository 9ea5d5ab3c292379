"""What a slash command is, who may use it, and the values that a command is decided on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import ClassVar, Self

from bot import regex
from bot.gates.config import Permission, RepositoryRules
from bot.history.model import StoredCounts
from bot.history.patterns import AuthorHistory
from bot.lessons.model import LessonReport
from bot.markdown.escape import code_span, one_line
from bot.markdown.links import LinkContext
from bot.pull_request.effects import (
    AddReaction,
    CommandSource,
    Effect,
    PostedReply,
    PostReply,
    ReactionKind,
    StoreCommand,
    join_topics,
)
from bot.pull_request.model import PullRequest, Ruling, RulingAction
from bot.values import Account, Location, Repository

COMMAND_PREFIX = "/feedback"
NO_ACCOUNT = 0
"""The account of a reply to somebody who was forgotten: it is counted, and says nothing of them."""
MAX_REPLY_LENGTH = 60_000
"""Characters of one comment, with room for the marker below GitHub's 65,536."""

_REASON = regex.Regex(r"(?:^|\s)reason:", ignore_case=True)
_LONGEST_REASON = 500
_WORD = regex.Regex(r"`([^`]+)`|([^\s,`]+)")


@dataclass(frozen=True, slots=True)
class CommandPermission:
    """Who may use a command."""

    minimum: Permission
    """The lowest role in the repository that is allowed."""
    or_author: bool = False
    """The author of the pull request may, whatever their role."""
    except_author: bool = False
    """The author may not, unless the repository allows it (`overrides.by_author`)."""
    or_bot_author: bool = False
    """A bot may where it opened the pull request; no other bot ever does."""

    def __str__(self) -> str:
        """Describe who may use the command, for the help."""
        is_public = self.minimum is Permission.READ
        role = "anyone who can read" if is_public else f"`{self.minimum.value}` or more"
        if self.or_bot_author:
            return f"the author, or {role}" if self.or_author else role
        if self.or_author:
            return f"the author, or {role}, not bots"
        return f"{role}, not the author, not bots" if self.except_author else f"{role}, not bots"


@dataclass(frozen=True, slots=True)
class CommandArguments:
    """The words before `reason:`, and the reason."""

    words: tuple[str, ...]
    reason: str | None


def split_arguments(text: str) -> CommandArguments:
    """Split the line after a command's name; backticks and commas around words are dropped."""
    keyword = _REASON.search(text)
    before, after = (text[: keyword.start()], text[keyword.end() :]) if keyword else (text, "")
    reason = one_line(after)[:_LONGEST_REASON]
    return CommandArguments(tuple(word[1] or word[2] for word in _WORD.finditer(before)), reason or None)


class ArgumentError(Exception):
    """What is wrong with a command's arguments, as a sentence without its full stop."""


def reject_words(words: Sequence[str]) -> None:
    """Raise `ArgumentError` if there are words left that are not understood."""
    if words:
        raise ArgumentError(f"{code_span(words[0], 60)} is not understood")


class CommandRequest(ABC):
    """A slash command, with its help, and its arguments as one person gave them.

    A request's `repr` is stored with the reply (`topic`): its fields keep their names.
    """

    __slots__ = ()

    name: ClassVar[str]
    """What follows `/feedback-`; `/feedback` itself has no name."""
    usage: ClassVar[str] = ""
    """The arguments as the help shows them."""
    example: ClassVar[str]
    """A whole line that works."""
    help: ClassVar[str]
    who: ClassVar[CommandPermission]
    needs_fresh_role: ClassVar[bool] = False
    """The giver's role is read from GitHub again, not from the cache: the command overrides a verdict."""

    @classmethod
    def line(cls) -> str:
        """Return how the command begins: `/feedback-history`."""
        return f"{COMMAND_PREFIX}-{cls.name}" if cls.name else COMMAND_PREFIX

    @classmethod
    def synopsis(cls) -> str:
        """Return the whole line with its arguments."""
        return f"{cls.line()} {cls.usage}".rstrip()

    @classmethod
    def parse(cls, arguments: CommandArguments) -> Self:
        """Read the arguments, of which most commands have none; raise `ArgumentError`."""
        reject_words(arguments.words)
        return cls()

    @abstractmethod
    def decide(self, context: CommandContext) -> CommandOutcome:
        """Carry the command out; its giver's permission was checked before."""

    @property
    def topic(self) -> str:
        """The question, equal for equal questions."""
        # Stored with the reply, so the names of 0.1 stay: a reply from before an update is still found.
        return f"{self.name}:{repr(self).replace('Request(', 'Asked(', 1)}"


@dataclass(frozen=True, slots=True)
class InvalidCommand:
    """The intended command, and what is wrong with it."""

    command: type[CommandRequest]
    message: str

    @property
    def topic(self) -> str:
        """The question, equal for every wrong use of the command."""
        return f"{self.command.name}:wrong"


@dataclass(frozen=True, slots=True)
class CommandText:
    """A new comment or review."""

    where: CommandSource
    id: int
    account: Account
    sender_id: int
    at: datetime
    body: str
    repository: Repository
    number: int
    node_id: str = ""
    inline: int | None = None
    """The first comment of its inline thread."""
    place: Location | None = None
    """The lines that an inline comment is at."""

    @property
    def key(self) -> str:
        """Identifies the text: `comment:81`."""
        return f"{self.where}:{self.id}"


@dataclass(frozen=True, slots=True)
class CommandInvocation:
    """A command in the text that it was found in."""

    text: CommandText
    index: int
    """How many others are before it in the text."""
    parsed: CommandRequest | InvalidCommand

    @property
    def key(self) -> str:
        """Identifies this invocation: `comment:81/0`."""
        return f"{self.text.key}/{self.index}"

    @property
    def command(self) -> type[CommandRequest]:
        """The intended command."""
        return self.parsed.command if isinstance(self.parsed, InvalidCommand) else type(self.parsed)


def invocation_text_key(key: str) -> str:
    """Return the text in which the command with this key was found."""
    return key.rpartition("/")[0]


class Permit(StrEnum):
    """Whether a command is carried out."""

    YES = "yes"
    NO = "no"
    """The commenter may not: a confused reaction, and no reply."""
    IGNORED = "ignored"
    """No reaction either, so that nobody can keep the bot busy."""


@dataclass(frozen=True, slots=True)
class CommandGiver:
    """Who gave a command, as far as permissions depend on it."""

    role: Permission | None
    is_author: bool = False
    is_bot: bool = False
    is_agent: bool = False
    """A bot, or a user whom the repository calls an agent."""
    is_bot_itself: bool = False
    is_text_author: bool = True
    """The sender of the event is the author of the text."""


def check_permission(
    command: type[CommandRequest], giver: CommandGiver, *, by_author: bool = False
) -> Permit:
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
    has_role = giver.role is not None and giver.role.is_at_least(who.minimum)
    return Permit.YES if has_role or (giver.is_bot and who.minimum is Permission.READ) else Permit.NO


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """What was read for one command."""

    me: Account
    now: datetime
    role: str | None = None
    replies: tuple[PostedReply, ...] = ()
    """Replies in this thread from earlier turns."""
    new_replies: tuple[PostReply, ...] = ()
    """Replies in this thread from this turn."""
    subject: Account | None = None
    """Whose history is asked for."""
    history: AuthorHistory | None = None
    stored: StoredCounts = field(default_factory=StoredCounts)
    lessons: LessonReport | None = None


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The pull request after a command, and the effects of the command."""

    pull_request: PullRequest
    reactions: tuple[Effect, ...] = ()
    replies: tuple[PostReply, ...] = ()
    store_commands: tuple[StoreCommand, ...] = ()

    def after(self, other: CommandOutcome) -> CommandOutcome:
        """Combine both outcomes, the other one first."""
        return CommandOutcome(
            self.pull_request,
            (*other.reactions, *self.reactions),
            join_replies((*other.replies, *self.replies)),
            (*other.store_commands, *self.store_commands),
        )


def join_replies(replies: Iterable[PostReply]) -> tuple[PostReply, ...]:
    """Join the replies to one text into one comment where it fits, since each comment is mailed."""
    by_text = groupby(replies, key=lambda reply: invocation_text_key(reply.key))
    return tuple(reply for _, group in by_text for reply in _joined(tuple(group)))


def _joined(replies: Sequence[PostReply]) -> tuple[PostReply, ...]:
    body = "\n\n---\n\n".join(reply.body.rstrip() for reply in replies)
    if len(replies) == 1 or len(body) > MAX_REPLY_LENGTH:
        return tuple(replies)
    return (
        replace(
            replies[0],
            topic=join_topics(reply.topic for reply in replies),
            account_id=min(reply.account_id for reply in replies),
            body=f"{body}\n",
        ),
    )


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Everything that a command is decided on, and the outcomes that commands share."""

    invocation: CommandInvocation
    pull_request: PullRequest
    facts: CommandFacts
    rules: RepositoryRules
    site: LinkContext

    @property
    def role(self) -> Permission | None:
        """The giver's role; everybody may read a public repository."""
        role = self.facts.role
        if role is None or role not in set(Permission):
            return None if self.pull_request.repository.private else Permission.READ
        return Permission(role)

    @property
    def giver(self) -> CommandGiver:
        """Who gave the command."""
        text, author = self.invocation.text, self.pull_request.author
        return CommandGiver(
            role=self.role,
            is_author=text.account.id == author.id,
            is_bot=text.account.bot,
            is_agent=self.rules.authors.is_agent(text.account.login, bot=text.account.bot),
            is_bot_itself=text.account.id == self.facts.me.id,
            is_text_author=text.sender_id == text.account.id,
        )

    @property
    def head_seen(self) -> str:
        """The head when the command was written: a comment's payload does not say it."""
        return self.pull_request.head_at(self.invocation.text.at)

    def ruling(self, action: RulingAction, tag: str, reason: str) -> Ruling:
        """Build the giver's ruling on a tag."""
        account, at = self.invocation.text.account, self.invocation.text.at
        return Ruling(action, tag, account.id, account.login, at, self.head_seen, reason, self.invocation.key)

    def refuse(self) -> CommandOutcome:
        """React with confusion, and reply nothing."""
        return self.react(ReactionKind.CONFUSED)

    def react(self, kind: ReactionKind) -> CommandOutcome:
        """React, and leave an answer to the comment."""
        text = self.invocation.text
        where = self.pull_request.repository, text.where, text.id, text.node_id
        return CommandOutcome(self.pull_request, (AddReaction(*where, kind),))

    def reply(self, body: str, *rulings: Ruling, anonymous: bool = False) -> CommandOutcome:
        """React and reply; the rulings are recorded in the pull request."""
        invocation, pull_request = self.invocation, self.pull_request
        reply = PostReply(
            repository=pull_request.repository,
            number=pull_request.number,
            key=invocation.key,
            topic=invocation.parsed.topic,
            account_id=NO_ACCOUNT if anonymous else invocation.text.account.id,
            at=self.facts.now,
            body=body,
            inline=invocation.text.inline,
        )
        if rulings:
            pull_request = replace(pull_request, rulings=(*pull_request.rulings, *rulings))
        return replace(self.react(ReactionKind.EYES), pull_request=pull_request, replies=(reply,))
