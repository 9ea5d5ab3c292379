"""Interfaces for looking up the rules of a repository and keeping its last valid config."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.gates.config import RepositoryRules
from bot.gates.problems import RuleFileProblem
from bot.values import Conclusion, Repository

CONFIG_FILE = ".github/whetstone.yml"
MISNAMED_CONFIG_FILE = ".github/whetstone.yaml"
"""What people call it by mistake; it is not read."""
OWNER_CONFIG_REPOSITORY = ".github"
"""The repository whose config applies to all repositories of its owner."""


@dataclass(frozen=True, slots=True)
class ConfigReport:
    """The result of checking a config without applying it."""

    path: str
    conclusion: Conclusion
    """Success: it is valid; failure: it is not; neutral: there is no such file any more."""
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
        """What is stored of this file; None if nothing is."""
        ...

    async def keep_config(self, key: str, installation_id: int, kept: StoredConfig) -> None:
        """Replace what is stored of this file."""
        ...


class RuleBook(Protocol):
    """Looks up the rules of a repository, and checks its config."""

    async def rules(self, repository: Repository, since: datetime | None = None) -> RepositoryRules:
        """The rules in force in this repository; with `since`, as read after that time."""
        ...

    async def check_head(self, repository: Repository, head: str) -> ConfigReport | None:
        """Check the config at this head; None if it is the same as the default branch's."""
        ...

    async def check_default(self, repository: Repository) -> ConfigReport:
        """Check the config of the default branch."""
        ...
