"""What a slash command needs to exist: a use, a help, an example that works, and who may give it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.choices import Permission
from bot.domain.commands.arguments import Words, words
from bot.domain.commands.asked import Asked, Mistake

PREFIX = "/feedback-"
"""How every command begins."""


@dataclass(frozen=True, slots=True)
class Who:
    """Who may give a command."""

    least: Permission
    """The role in the repository from which on it is allowed."""
    author_too: bool = False
    """Whoever opened the pull request may, whatever their role."""
    not_author: bool = False
    """Whoever opened it may not, unless the repository allows it (`overrides.by_author`)."""
    bot_author: bool = False
    """A bot may where it opened the pull request; no other bot ever does."""

    def __str__(self) -> str:
        """Who, in words."""
        role = "anyone who can read" if self.least is Permission.READ else f"`{self.least.value}` or more"
        if self.bot_author:
            return role
        if self.author_too:
            return f"the author, or {role}, no bot"
        return f"{role}, not the author, no bot" if self.not_author else f"{role}, no bot"


@dataclass(frozen=True, slots=True)
class Command:
    """A command; it can't be made without help, permission and an example that it understands."""

    name: str
    usage: str
    """The words behind the name, as the help shows them; empty for none."""
    example: str
    """A whole line that works."""
    help: str
    who: Who
    parse: Callable[[Words], Asked | Mistake]

    def __post_init__(self) -> None:
        """Refuse a command that could not be explained to whoever uses it wrongly."""
        if not (self.help.strip() and self.example.startswith(self.line)):
            raise ValueError(f"{self.line} needs a help and an example of its own")
        understood = self.read(self.example.removeprefix(self.line))
        if isinstance(understood, Mistake):
            raise ValueError(f"{self.example}: {understood.what}")  # noqa: TRY004 - its text is wrong, not its type

    @property
    def line(self) -> str:
        """How it begins: `/feedback-history`."""
        return f"{PREFIX}{self.name}"

    @property
    def right_use(self) -> str:
        """The whole line with its words."""
        return f"{self.line} {self.usage}".rstrip()

    def read(self, text: str) -> Asked | Mistake:
        """What the words behind the name ask for."""
        return self.parse(words(text))
