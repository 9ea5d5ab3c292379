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
    """The result of checking a version of a config without applying it."""

    path: str
    conclusion: Conclusion
    """Success: it is valid; failure: it is not; neutral: the file is gone."""
    gates: int
    problems: tuple[RuleFileProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredConfig:
    """What is stored of a config file."""

    good: bytes | None = None
    """The last valid text."""
    broken: str = ""
    """The hash of the broken version that was reported."""


class ConfigStore(Protocol):
    """Stores the last valid text of every config file."""

    async def config(self, key: str) -> StoredConfig | None:
        """Return what is stored of this file, or None."""
        ...

    async def keep_config(self, key: str, installation_id: int, kept: StoredConfig) -> None:
        """Store what is known of the file now."""
        ...


class RuleBook(Protocol):
    """Looks up the rules of a repository."""

    async def rules(self, repository: Repository, since: datetime | None = None) -> RepositoryRules:
        """Return the rules in force in this repository, read after `since` where that is given."""
        ...

    async def report(self, repository: Repository, head: str) -> ConfigReport | None:
        """Return the report on the config at this head; None where it equals the default branch's."""
        ...

    async def judged(self, repository: Repository) -> ConfigReport:
        """Return the report on the default branch's config."""
        ...
