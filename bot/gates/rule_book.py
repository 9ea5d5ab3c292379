"""Interfaces for looking up the rules of a repository and keeping its last valid config."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.gates.config import RepositoryRules
from bot.gates.problems import RuleFileProblem
from bot.values import Conclusion, Repository


@dataclass(frozen=True, slots=True)
class ConfigReport:
    """A version of a config, judged without being applied."""

    path: str
    conclusion: Conclusion
    """Success: it can be used; failure: it can't; neutral: there is no such file any more."""
    gates: int
    problems: tuple[RuleFileProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredConfig:
    """What is remembered of a config file over a restart."""

    good: bytes | None = None
    """The last text without a mistake."""
    broken: str = ""
    """The broken version that was told about, by the hash of its text."""


class ConfigStore(Protocol):
    """Where the last good text of every config file is kept."""

    async def config(self, key: str) -> StoredConfig | None:
        """What is kept of this file, None where nothing was ever."""
        ...

    async def keep_config(self, key: str, installation_id: int, kept: StoredConfig) -> None:
        """This is what is known of the file now."""
        ...


class RuleBook(Protocol):
    """Which rules hold where."""

    async def rules(self, repository: Repository, since: datetime | None = None) -> RepositoryRules:
        """The rules in force in this repository now; where it is said since when, as read after then."""
        ...

    async def report(self, repository: Repository, head: str) -> ConfigReport | None:
        """What is to be said of the config at this head; None where it is the default branch's own."""
        ...

    async def judged(self, repository: Repository) -> ConfigReport:
        """What is to be said of the default branch's config."""
        ...
