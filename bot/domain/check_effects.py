"""What should be true of our check runs and suggestions on GitHub?"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.check_runs import CheckText
from bot.domain.model import Repository
from bot.domain.suggestions import Suggestion


@dataclass(frozen=True, slots=True)
class ShowCheck:
    """The newest run of this name on this head says so; other places than before need a new run."""

    repository: Repository
    said: CheckText
    links: bool = False
    """Its summary ends with a link to the sticky comment, once there is one."""
    counted: bool = False
    """It has its part of GitHub's budget already, taken when nobody else wanted it."""

    @property
    def target(self) -> str:
        """One check run a name and head."""
        return f"check:{self.said.name}:{self.said.head}"


@dataclass(frozen=True, slots=True)
class Suggest:
    """One review of ours on this head offers these lines, each to be committed with one click."""

    repository: Repository
    number: int
    head: str
    body: str
    suggestions: tuple[Suggestion, ...]

    @property
    def target(self) -> str:
        """One review a head."""
        return f"suggestions:{self.head}"
