"""Who knows which rules hold where."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.config_check import ConfigReport
from bot.domain.model import Repository
from bot.domain.rules import Rules


@dataclass(frozen=True, slots=True)
class KeptConfig:
    """What is remembered of a config file over a restart."""

    good: bytes | None = None
    """The last text without a mistake."""
    broken: str = ""
    """The broken version that was told about, by the hash of its text."""


class ConfigMemory(Protocol):
    """Where the last good text of every config file is kept."""

    async def config(self, key: str) -> KeptConfig | None:
        """What is kept of this file, None where nothing was ever."""
        ...

    async def keep_config(self, key: str, installation_id: int, kept: KeptConfig) -> None:
        """This is what is known of the file now."""
        ...


class RuleBook(Protocol):
    """Which rules hold where."""

    async def rules(self, repository: Repository, since: datetime | None = None) -> Rules:
        """The rules in force in this repository now; where it is said since when, as read after then."""
        ...

    async def report(self, repository: Repository, head: str) -> ConfigReport | None:
        """What is to be said of the config at this head; None where it is the default branch's own."""
        ...

    async def judged(self, repository: Repository) -> ConfigReport:
        """What is to be said of the default branch's config."""
        ...
