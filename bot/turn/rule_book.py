"""Look up the rules of a repository: its config over its owner's over the shipped rules."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Protocol

from cachetools import LRUCache

from bot.gates.config import DEFAULT_CLAIM_RULES as CLAIMS
from bot.gates.config import (
    DEFAULT_SCORING,
    ClaimRule,
    ClaimType,
    RepositoryRules,
    ScoringRules,
)
from bot.gates.model import Gates
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.repository_config import RepositoryConfig, load_config, merge_rules
from bot.gates.rule_book import ConfigReport, ConfigStore, StoredConfig
from bot.github.client import GitHub
from bot.github.errors import Forbidden, GitHubUnavailable, NotFound, RateLimited, ValidationFailed
from bot.values import Conclusion, Repository

CONFIG_FILE = ".github/whetstone.yml"
OWNER_CONFIG_REPOSITORY = ".github"
"""The repository whose config holds for all of its owner's."""
CONFIG_MAX_AGE = timedelta(seconds=60)
COVERED_MAX_AGE = timedelta(minutes=10)
"""How long it is believed that the owner's repository is part of the installation."""

logger = logging.getLogger("whetstone.config")


class ConfigFiles(Protocol):
    """What is asked of GitHub here."""

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        """A file at a ref, or of the default branch; None where there is no such file."""
        ...

    async def covers(self, owner: str, name: str) -> bool:
        """Whether the App is installed in this repository."""
        ...


class BrokenConfigReporter(Protocol):
    """Who says to the maintainers that their file is broken."""

    async def tell(self, repository: Repository, version: str) -> None:
        """See to it that it is said, once for this version of the file."""
        ...


@dataclass(frozen=True, slots=True)
class _CachedConfig:
    at: datetime
    rules: RepositoryRules
    text: bytes | None


class LiveRuleBook:
    """`ports.RuleBook` from GitHub, with the last good file wherever the newest is broken."""

    def __init__(
        self,
        packs: Mapping[str, Gates],
        github: ConfigFiles,
        memory: ConfigStore,
        broken: BrokenConfigReporter,
        clock: Callable[[], datetime],
    ) -> None:
        self._packs = packs
        self._github = github
        self._memory = memory
        self._broken = broken
        self._clock = clock
        self.scoring = DEFAULT_SCORING
        self.claims: Mapping[ClaimType, ClaimRule] = CLAIMS
        self._held: LRUCache[int, _CachedConfig] = LRUCache(10_000)
        self._owners: LRUCache[tuple[int, str], tuple[datetime, RepositoryConfig | None]] = LRUCache(10_000)
        self._covered: LRUCache[str, datetime] = LRUCache(10_000)
        self._reading: dict[int, asyncio.Lock] = {}
        self._limited: dict[int, datetime] = {}

    async def rules(self, repository: Repository, since: datetime | None = None) -> RepositoryRules:
        """The rules in force in this repository now; where it is said since when, as read after then."""
        return (await self._current(repository, since)).rules

    async def report(self, repository: Repository, head: str) -> ConfigReport | None:
        """What is to be said of the config at this head; None where it is the default branch's own."""
        held = await self._current(repository)
        try:
            text = await self._github.file(repository, CONFIG_FILE, head)
        except Forbidden:
            return None
        except ValidationFailed as refusal:
            return _too_large(refusal)
        if text == held.text:
            return None
        return await self._judged(repository, text)

    async def judged(self, repository: Repository) -> ConfigReport:
        """What is to be said of the default branch's config."""
        try:
            text = await self._github.file(repository, CONFIG_FILE)
        except ValidationFailed as refusal:
            return _too_large(refusal)
        return await self._judged(repository, text)

    async def _judged(self, repository: Repository, text: bytes | None) -> ConfigReport:
        if text is None:
            return ConfigReport(CONFIG_FILE, Conclusion.NEUTRAL, 0)
        owners = await self._owners_config(repository)
        try:
            config = load_config(text, CONFIG_FILE, self._packs, owners)
            return ConfigReport(
                CONFIG_FILE, Conclusion.SUCCESS, len(merge_rules(self._packs, owners, config).gates)
            )
        except RuleFileError as error:
            return ConfigReport(CONFIG_FILE, Conclusion.FAILURE, 0, error.problems)

    async def _current(self, repository: Repository, since: datetime | None = None) -> _CachedConfig:
        held = self._held.get(repository.id)
        if held and self._is_fresh(held.at, since):
            return held
        # Of eight lanes of a repository that become due at once, one asks.
        lock = self._reading.setdefault(repository.id, asyncio.Lock())
        try:
            async with lock:
                held = self._held.get(repository.id)
                if held is None or not self._is_fresh(held.at, since):
                    held = self._held[repository.id] = await self._read(repository, held, since)
        finally:
            if not lock.locked():
                self._reading.pop(repository.id, None)
        return held

    def _is_fresh(self, at: datetime, since: datetime | None) -> bool:
        return self._clock() - at < CONFIG_MAX_AGE and (since is None or at >= since)

    async def _read(
        self, repository: Repository, before: _CachedConfig | None, since: datetime | None = None
    ) -> _CachedConfig:
        now = self._clock()
        if (until := self._limited.get(repository.installation_id, now)) > now:
            raise RateLimited(until)  # GitHub shuts out who asks all the same
        try:
            owners = await self._owners_config(repository, since)
            text = await self._text(repository)
        except RateLimited as limit:
            self._limited[repository.installation_id] = limit.until
            raise
        except GitHubUnavailable:
            if before is None or since is not None:
                raise
            return replace(before, at=now)  # GitHub will be asked again; until then nothing has changed
        config = await self._good(repository, f"repository:{repository.id}", text, owners)
        return _CachedConfig(now, self._merged(owners, config), text)

    async def _owners_config(
        self, repository: Repository, since: datetime | None = None
    ) -> RepositoryConfig | None:
        if repository.name == OWNER_CONFIG_REPOSITORY:
            return None
        key = (repository.installation_id, repository.owner.lower())
        known = self._owners.get(key)
        if known and self._is_fresh(known[0], since):
            return known[1]
        home = Repository(0, repository.owner, OWNER_CONFIG_REPOSITORY, repository.installation_id)
        text = await self._text(home)
        if text is not None and not await self._is_covered(home):
            text = None
        name = f"owner:{repository.installation_id}:{repository.owner.lower()}"
        config = await self._good(home, name, text, None)
        self._owners[key] = (self._clock(), config)
        return config

    async def _text(self, repository: Repository) -> bytes | None:
        try:
            return await self._github.file(repository, CONFIG_FILE)
        except (NotFound, Forbidden):
            return None
        except ValidationFailed:
            return b"\0"  # too large to be read: broken, like every other text that is no config

    async def _is_covered(self, home: Repository) -> bool:
        """Whether the owner's repository is part of an installation: anybody's public file can be read."""
        name = home.full_name.lower()
        since = self._covered.get(name)
        if since and self._clock() - since < COVERED_MAX_AGE:
            return True
        covered = await self._github.covers(home.owner, home.name)
        if covered:
            self._covered[name] = self._clock()
        return covered

    async def _good(
        self, repository: Repository, key: str, text: bytes | None, below: RepositoryConfig | None
    ) -> RepositoryConfig | None:
        """The config in the text, or the last good one where the text is broken."""
        if text is None:
            return None
        kept = await self._memory.config(key) or StoredConfig()
        try:
            config = load_config(text, CONFIG_FILE, self._packs, below)
        except RuleFileError as error:
            await self._tell(repository, key, text, kept, error)
            return self._kept(kept, below)
        if kept.good != text or kept.broken:
            await self._memory.keep_config(key, repository.installation_id, StoredConfig(good=text))
        return config

    async def _tell(
        self, repository: Repository, key: str, text: bytes, kept: StoredConfig, error: RuleFileError
    ) -> None:
        version = hashlib.sha256(text).hexdigest()
        if kept.broken == version:
            return
        logger.warning(
            "a config is broken: the last good one stays in force",
            extra={"repository": repository.full_name, "problems": list(map(str, error.problems[:3]))},
        )
        await self._broken.tell(repository, version)
        await self._memory.keep_config(key, repository.installation_id, replace(kept, broken=version))

    def _kept(self, kept: StoredConfig, below: RepositoryConfig | None) -> RepositoryConfig | None:
        if kept.good is None:
            return None
        try:
            return load_config(kept.good, CONFIG_FILE, self._packs, below)
        except RuleFileError:
            return None  # good for an older version of the product, or over another file of the owner's

    def _merged(self, owners: RepositoryConfig | None, config: RepositoryConfig | None) -> RepositoryRules:
        try:
            rules = merge_rules(self._packs, owners, config)
        except RuleFileError:
            rules = merge_rules(self._packs, owners)
        rules = replace(rules, grounding=replace(rules.grounding, catalogue=self.claims))
        return replace(rules, scoring=self.scoring)


class NullConfigStore:
    """For a rehearsal: keeps nothing and tells nobody."""

    async def config(self, key: str) -> StoredConfig | None:  # noqa: ARG002  the port names it
        """Nothing is kept."""
        return None

    async def keep_config(self, key: str, installation_id: int, kept: StoredConfig) -> None:
        """Keep nothing."""

    async def tell(self, repository: Repository, version: str) -> None:
        """Tell nobody."""


def _too_large(refusal: ValidationFailed) -> ConfigReport:
    problem = RuleFileProblem(CONFIG_FILE, 1, 1, str(refusal), "a config has at most 64 KB")
    return ConfigReport(CONFIG_FILE, Conclusion.FAILURE, 0, (problem,))


# What is shipped is read once a process, and shared: door and worker hold the same rules.


@cache
def default_rules() -> RepositoryRules:
    """The rules of a repository that configures nothing."""
    from bot.gates.repository_config import merge_rules

    rules = merge_rules(_packs())
    grounding = replace(rules.grounding, catalogue=_claims())
    return replace(rules, scoring=_scoring(), grounding=grounding)


@cache
def _packs() -> Mapping[str, Gates]:
    """The gates of every pack, as shipped."""
    from bot.gates.packs import load_packs, rules_directory

    return load_packs(rules_directory())


@cache
def _scoring() -> ScoringRules:
    """How a revision is scored, as shipped."""
    from bot.gates.packs import rules_directory
    from bot.gates.shipped_rules import load_scoring

    return load_scoring(rules_directory() / "scoring.yml")


@cache
def _claims() -> Mapping[ClaimType, ClaimRule]:
    """What each type of claim is looked up with, as shipped."""
    from bot.gates.packs import rules_directory
    from bot.gates.shipped_rules import load_grounding

    return load_grounding(rules_directory() / "grounding.yml")


class DefaultRules:
    """Every repository has the product's own rules."""

    async def rules(self, repository: Repository, since: datetime | None = None) -> RepositoryRules:  # noqa: ARG002  the port names them
        """The same for every repository."""
        return default_rules()

    async def report(self, repository: Repository, head: str) -> ConfigReport | None:  # noqa: ARG002  as above
        """Nothing: no config was read."""
        return None

    async def judged(self, repository: Repository) -> ConfigReport:  # noqa: ARG002  as above
        """Neither good nor bad: no config was read."""
        return ConfigReport("", Conclusion.NEUTRAL, 0)


def build_rule_book(
    github: GitHub, memory: ConfigStore, teller: BrokenConfigReporter, clock: Callable[[], datetime]
) -> LiveRuleBook:
    """The rules that each repository has on GitHub, over the product's own."""
    from bot.detection.load import shipped_detection_rules

    book = LiveRuleBook(_packs(), github, memory, teller, clock)
    book.scoring = _scoring()
    book.claims = _claims()
    shipped_detection_rules()  # loaded at start, not with the first review
    return book


async def stored_rules(memory: ConfigStore, repository: Repository) -> RepositoryRules:
    """The rules as last read from GitHub, which is not asked here."""
    from bot.gates.repository_config import load_config, merge_rules

    packs = _packs()
    owner = await memory.config(f"owner:{repository.installation_id}:{repository.owner.lower()}")
    own = await memory.config(f"repository:{repository.id}")
    path = ".github/whetstone.yml"
    below = load_config(owner.good, path, packs) if owner and owner.good else None
    config = load_config(own.good, path, packs, below) if own and own.good else None
    rules = merge_rules(packs, below, config)
    grounding = replace(rules.grounding, catalogue=_claims())
    return replace(rules, scoring=_scoring(), grounding=grounding)
