"""Values that every package shares: accounts, repositories, locations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Account:
    """A GitHub account; the id stays when the login changes."""

    id: int
    login: str
    bot: bool = False


GHOST = Account(0, "ghost")
"""What GitHub shows in place of a deleted account."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as the installation sees it."""

    id: int
    owner: str
    name: str
    installation_id: int
    private: bool = False
    default_branch: str = "main"

    @property
    def full_name(self) -> str:
        """`owner/name`, as people write it."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class Location:
    """A file, or lines of it, at the reviewed revision."""

    path: str
    line: int | None = None
    end_line: int | None = None

    def __str__(self) -> str:
        """`path`, `path:5` or `path:5-9`."""
        if self.line is None:
            return self.path
        if self.end_line is None or self.end_line == self.line:
            return f"{self.path}:{self.line}"
        return f"{self.path}:{self.line}-{self.end_line}"


class Conclusion(StrEnum):
    """The conclusion of a check run, in GitHub's terms."""

    SUCCESS = "success"
    NEUTRAL = "neutral"
    FAILURE = "failure"
    ACTION_REQUIRED = "action_required"
