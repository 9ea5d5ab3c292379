"""Whether a command is carried out, refused or not even looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.choices import Permission
from bot.domain.commands.command import Command

PAUSE = timedelta(minutes=1)
"""Between two answers in a thread to one whose answers are counted."""
A_DAY = 10
"""Answers in a thread to one whose answers are counted."""


class Permit(StrEnum):
    """What becomes of a command."""

    YES = "yes"
    NO = "no"
    """The commenter may not: a puzzled face, and no reply."""
    IGNORED = "ignored"
    """No reaction either, so that nobody can keep the bot busy."""


@dataclass(frozen=True, slots=True)
class Giver:
    """Who gave a command, as far as it decides."""

    role: Permission | None
    is_author: bool = False
    """They opened the pull request."""
    is_bot: bool = False
    """GitHub says that the account is a bot."""
    is_agent: bool = False
    """A bot, or a user whom the repository calls an agent."""
    is_us: bool = False
    wrote_it: bool = True
    """The sender of the event is the author of the text."""


class Sight(StrEnum):
    """What an asker gets to see of an author's record."""

    SHOWN = "shown"
    ELSEWHERE = "elsewhere"
    """They may see it, but not in a thread that everybody reads."""
    REFUSED = "refused"


def permit(command: Command, giver: Giver, *, by_author: bool = False) -> Permit:
    """Decide by who gave the command; `by_author` is the repository's `overrides.by_author`."""
    who = command.who
    if giver.is_us or not giver.wrote_it:
        return Permit.IGNORED
    if giver.is_bot and not (giver.is_author and who.bot_author):
        return Permit.IGNORED
    if who.not_author and (giver.is_agent or (giver.is_author and not by_author)):
        return Permit.NO
    if who.author_too and giver.is_author:
        return Permit.YES
    may = giver.role is not None and giver.role.is_at_least(who.least)
    return Permit.YES if may or (giver.is_bot and who.least is Permission.READ) else Permit.NO


def is_counted(giver: Giver) -> bool:
    """Whether the answers are counted: a bot's, and those of people who only look on."""
    looks_on = giver.role is None or not giver.role.is_at_least(Permission.TRIAGE)
    return giver.is_bot or (looks_on and not giver.is_author)


def may_answer(answers: Sequence[datetime], now: datetime) -> bool:
    """Whether there is another answer in this thread, after those that there were."""
    today = [answer for answer in answers if answer > now - timedelta(days=1)]
    return len(today) < A_DAY and all(answer <= now - PAUSE for answer in today)


def sight(role: Permission | None, *, own: bool, agent: bool, public_thread: bool) -> Sight:
    """One's own record and an agent's with read access; another person's with `triage`, never in public.

    Over HTTP nothing is a public thread.
    """
    if own or agent:
        return Sight.SHOWN
    if role is None or not role.is_at_least(Permission.TRIAGE):
        return Sight.REFUSED
    return Sight.ELSEWHERE if public_thread else Sight.SHOWN
