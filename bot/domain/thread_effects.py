"""What commands and the clock should make true on GitHub, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.model import Repository


class Where(StrEnum):
    """The kind of text that gave a command."""

    COMMENT = "comment"
    INLINE = "inline"
    REVIEW = "review"


class Face(StrEnum):
    """GitHub's names of the two reactions that we give."""

    EYES = "eyes"
    CONFUSED = "confused"


@dataclass(frozen=True, slots=True)
class React:
    """A text gets a reaction of ours."""

    repository: Repository
    where: Where
    id: int
    node_id: str
    face: Face

    @property
    def target(self) -> str:
        """One reaction of a kind a text."""
        return f"react:{self.where}:{self.id}:{self.face}"


@dataclass(frozen=True, slots=True)
class Reply:
    """A command gets its one answer: in the thread, or below the inline comment that gave it."""

    repository: Repository
    number: int
    key: str
    """The command that is answered: `comment:81/0`."""
    topic: str
    """What was asked: a later answer to the same folds this one away."""
    account_id: int
    at: datetime
    body: str
    inline: int | None = None
    """The first comment of the inline thread."""

    @property
    def target(self) -> str:
        """One answer a command."""
        return f"reply:{self.key}"


@dataclass(frozen=True, slots=True)
class MinimiseReply:
    """An answer that a newer one repeats is folded away."""

    repository: Repository
    node_id: str

    @property
    def target(self) -> str:
        """Each answer is its own target."""
        return f"minimise:{self.node_id}"


@dataclass(frozen=True, slots=True)
class ShowIssue:
    """The repository's one summary issue says `body`; a finished week also adds a comment."""

    repository: Repository
    week: str
    title: str
    labels: tuple[str, ...]
    body: str
    comment: str | None = None

    @property
    def target(self) -> str:
        """One issue a repository."""
        return "issue"


@dataclass(frozen=True, slots=True)
class WeekComment:
    """A finished week has its comment in the summary issue."""

    repository: Repository
    number: int
    week: str
    body: str

    @property
    def target(self) -> str:
        """One comment a week."""
        return f"week:{self.week}"
