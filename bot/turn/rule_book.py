"""Look up the rules of a repository: its config over its owner's over the shipped rules."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Protocol

from cachetools import LRUCache, TTLCache

from bot.gates.config import RepositoryRules, shipped_claim_rules, shipped_scoring
from bot.gates.model import Gates
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.repository_config import load_config, merge_rules
from bot.gates.rule_book import (
    CONFIG_FILE,
    MISNAMED_CONFIG_FILE,
    OWNER_CONFIG_REPOSITORY,
    ConfigReport,
    ConfigStore,
    StoredConfig,
)
from bot.gates.rule_files import RuleFile
from bot.github.errors import Forbidden, GitHubUnavailable, NotFound, RateLimited, ValidationFailed
from bot.markdown.escape import code_span
from bot.values import Conclusion, Repository

if TYPE_CHECKING:
    # Loading the client takes longer than `whetstone render` runs.
    from bot.github.client import GitHub

MISNAMED_MAX_AGE = timedelta(hours=1)
"""How long the answer holds whether a repository has a config under the wrong name."""
CONFIG_MAX_AGE = timedelta(seconds=60)
COVERED_MAX_AGE = timedelta(minutes=10)
"""How long the owner's repository is assumed to stay part of the installation."""

logger = logging.getLogger("whetstone.config")


class BrokenConfigReporter(Protocol):
    """Reports a broken config to the maintainers."""

    async def report(self, repository: Repository, version: str) -> None:
        """Report this version of the file, once."""
        ...


@dataclass(frozen=True, slots=True)
class _CachedConfig:
    at: datetime
    rules: RepositoryRules
    text: bytes | None


class LiveRuleBook:
    """Reads configs from GitHub; while the newest is broken, the last valid one stays in force."""

    def __init__(
        self,
        packs: Mapping[str, Gates],
        github: GitHub,
        configs: ConfigStore,
        reporter: BrokenConfigReporter,
        clock: Callable[[], datetime],
    ) -> None:
        self._packs = packs
        self._github = github
        self._configs = configs
        self._reporter = reporter
        self._clock = clock
        self._cache: LRUCache[int, _CachedConfig] = LRUCache(10_000)
        self._owner_cache: LRUCache[tuple[int, str], tuple[datetime, RuleFile | None]] = LRUCache(10_000)
        self._covered: TTLCache[str, bool] = TTLCache(
            10_000, COVERED_MAX_AGE.total_seconds(), timer=lambda: clock().timestamp()
        )
        self._locks: dict[int, asyncio.Lock] = {}
        self._limited: dict[int, datetime] = {}
        self._misnamed: TTLCache[int, bool] = TTLCache(10_000, MISNAMED_MAX_AGE.total_seconds())

    async def rules(self, repository: Repository, since: datetime | None = None) -> RepositoryRules:
        """The rules in force in this repository; with `since`, as read after that time."""
        return (await self._current(repository, since)).rules

    async def check_head(self, repository: Repository, head: str) -> ConfigReport | None:
        """Check the config at this head; None if it is the same as the default branch's."""
        current = await self._current(repository)
        try:
            text = await self._github.file(repository, CONFIG_FILE, head)
        except Forbidden:
            return None
        except ValidationFailed as error:
            return _too_large(error)
        return None if text == current.text else await self._check(repository, text)

    async def check_default(self, repository: Repository) -> ConfigReport:
        """Check the config of the default branch."""
        try:
            text = await self._github.file(repository, CONFIG_FILE)
        except ValidationFailed as error:
            return _too_large(error)
        return await self._check(repository, text)

    async def _check(self, repository: Repository, text: bytes | None) -> ConfigReport:
        if text is None:
            return ConfigReport(CONFIG_FILE, Conclusion.NEUTRAL, 0)
        owner_config = await self._owner_config(repository)
        try:
            config = load_config(text, CONFIG_FILE, self._packs, owner_config)
            gates = merge_rules(self._packs, owner_config, config).gates
            return ConfigReport(CONFIG_FILE, Conclusion.SUCCESS, len(gates))
        except RuleFileError as error:
            return ConfigReport(CONFIG_FILE, Conclusion.FAILURE, 0, error.problems)

    async def _current(self, repository: Repository, since: datetime | None = None) -> _CachedConfig:
        cached = self._cache.get(repository.id)
        if cached and self._is_fresh(cached.at, since):
            return cached
        # Of many lanes of a repository that become due at once, one reads.
        lock = self._locks.setdefault(repository.id, asyncio.Lock())
        try:
            async with lock:
                cached = self._cache.get(repository.id)
                if cached is None or not self._is_fresh(cached.at, since):
                    cached = self._cache[repository.id] = await self._read(repository, cached, since)
        finally:
            if not lock.locked():
                self._locks.pop(repository.id, None)
        return cached

    def _is_fresh(self, at: datetime, since: datetime | None) -> bool:
        return self._clock() - at < CONFIG_MAX_AGE and (since is None or at >= since)

    async def _read(
        self, repository: Repository, before: _CachedConfig | None, since: datetime | None = None
    ) -> _CachedConfig:
        now = self._clock()
        if (until := self._limited.get(repository.installation_id, now)) > now:
            raise RateLimited(until)  # GitHub blocks an App that keeps asking
        try:
            owner_config = await self._owner_config(repository, since)
            text = await self._text(repository)
        except RateLimited as limit:
            self._limited[repository.installation_id] = limit.until
            raise
        except GitHubUnavailable:
            if before is None or since is not None:
                raise
            return replace(before, at=now)  # GitHub will be asked again; until then nothing has changed
        key = _repository_key(repository)
        config, problem = await self._load(repository, key, text, owner_config)
        if text is None:
            problem = await self._misnamed_problem(repository)
        rules = replace(self._merge(owner_config, config), config_problem=problem)
        return _CachedConfig(now, rules, text)

    async def _misnamed_problem(self, repository: Repository) -> str:
        """Say that a config under the wrong name is not read; looked for once an hour."""
        if repository.id not in self._misnamed:
            try:
                found = await self._github.file(repository, MISNAMED_CONFIG_FILE)
            except (NotFound, Forbidden, ValidationFailed):
                found = None
            self._misnamed[repository.id] = found is not None
        if not self._misnamed[repository.id]:
            return ""
        return f"`{MISNAMED_CONFIG_FILE}` is ignored: rename it to `{CONFIG_FILE}`."

    async def _owner_config(self, repository: Repository, since: datetime | None = None) -> RuleFile | None:
        if repository.name == OWNER_CONFIG_REPOSITORY:
            return None
        key = (repository.installation_id, repository.owner.lower())
        cached = self._owner_cache.get(key)
        if cached and self._is_fresh(cached[0], since):
            return cached[1]
        owner_repository = Repository(
            0, repository.owner, OWNER_CONFIG_REPOSITORY, repository.installation_id
        )
        text = await self._text(owner_repository)
        if text is not None and not await self._is_covered(owner_repository):
            text = None
        config, _ = await self._load(owner_repository, _owner_key(repository), text, None)
        self._owner_cache[key] = (self._clock(), config)
        return config

    async def _text(self, repository: Repository) -> bytes | None:
        try:
            return await self._github.file(repository, CONFIG_FILE)
        except (NotFound, Forbidden):
            return None
        except ValidationFailed:
            return b"\0"  # too large to be read: broken, like any other invalid text

    async def _is_covered(self, owner_repository: Repository) -> bool:
        """Whether the owner's repository is part of an installation: anybody's public file can be read."""
        name = owner_repository.full_name.lower()
        if name not in self._covered and await self._github.covers(
            owner_repository.owner, owner_repository.name
        ):
            self._covered[name] = True
        return name in self._covered

    async def _load(
        self, repository: Repository, key: str, text: bytes | None, owner_config: RuleFile | None
    ) -> tuple[RuleFile | None, str]:
        """The config in the text; if that is broken, the last valid one, and a line that says so."""
        if text is None:
            return None, ""
        stored = await self._configs.config(key) or StoredConfig()
        try:
            config = load_config(text, CONFIG_FILE, self._packs, owner_config)
        except RuleFileError as error:
            await self._report(repository, key, text, stored, error)
            problem = code_span(str(error.problems[0]), 200)
            note = f"The config is broken, so its last valid version applies: {problem}."
            return self._load_stored(stored, owner_config), note
        if stored.good != text or stored.broken:
            await self._configs.keep_config(key, repository.installation_id, StoredConfig(good=text))
        return config, ""

    async def _report(
        self, repository: Repository, key: str, text: bytes, stored: StoredConfig, error: RuleFileError
    ) -> None:
        version = hashlib.sha256(text).hexdigest()
        if stored.broken == version:
            return
        logger.warning(
            "a config is broken: the last valid one stays in force",
            extra={"repository": repository.full_name, "problems": list(map(str, error.problems[:3]))},
        )
        await self._reporter.report(repository, version)
        await self._configs.keep_config(key, repository.installation_id, replace(stored, broken=version))

    def _load_stored(self, stored: StoredConfig, owner_config: RuleFile | None) -> RuleFile | None:
        if stored.good is None:
            return None
        try:
            return load_config(stored.good, CONFIG_FILE, self._packs, owner_config)
        except RuleFileError:
            return None  # valid for an older version of the product, or over another owner's file

    def _merge(self, owner_config: RuleFile | None, config: RuleFile | None) -> RepositoryRules:
        try:
            return merge_rules(self._packs, owner_config, config)
        except RuleFileError:
            return merge_rules(self._packs, owner_config)


class NullConfigStore:
    """Stores and reports nothing, for a dry run."""

    async def config(self, key: str) -> StoredConfig | None:  # noqa: ARG002  as in the protocol
        """Nothing is stored."""
        return None

    async def keep_config(self, key: str, installation_id: int, kept: StoredConfig) -> None:
        """Store nothing."""

    async def report(self, repository: Repository, version: str) -> None:
        """Report nothing."""


def _repository_key(repository: Repository) -> str:
    return f"repository:{repository.id}"


def _owner_key(repository: Repository) -> str:
    return f"owner:{repository.installation_id}:{repository.owner.lower()}"


def _too_large(error: ValidationFailed) -> ConfigReport:
    problem = RuleFileProblem(CONFIG_FILE, 1, 1, str(error), "a config can have at most 64 KB")
    return ConfigReport(CONFIG_FILE, Conclusion.FAILURE, 0, (problem,))


# Shipped rules are read once per process: web server and worker share them.


@cache
def default_rules() -> RepositoryRules:
    """The rules of a repository that configures nothing."""
    return merge_rules(_packs())


@cache
def _packs() -> Mapping[str, Gates]:
    """The gates of every shipped pack."""
    from bot.gates.packs import load_packs, rules_directory

    return load_packs(rules_directory())


class DefaultRules:
    """Gives every repository the shipped rules."""

    async def rules(self, repository: Repository, since: datetime | None = None) -> RepositoryRules:  # noqa: ARG002  as in the protocol
        """The same for every repository."""
        return default_rules()

    async def check_head(self, repository: Repository, head: str) -> ConfigReport | None:  # noqa: ARG002  as above
        """None: no config is read."""
        return None

    async def check_default(self, repository: Repository) -> ConfigReport:  # noqa: ARG002  as above
        """Neutral: no config is read."""
        return ConfigReport("", Conclusion.NEUTRAL, 0)


def build_rule_book(
    github: GitHub, configs: ConfigStore, reporter: BrokenConfigReporter, clock: Callable[[], datetime]
) -> LiveRuleBook:
    """A rule book of the configs on GitHub over the shipped rules."""
    # Loaded at start, not with the first review: a broken file stops the start, not a turn. The detector's
    # rules come with the first comment in plain words, which many processes never see.
    shipped_scoring(), shipped_claim_rules()
    return LiveRuleBook(_packs(), github, configs, reporter, clock)


async def stored_rules(configs: ConfigStore, repository: Repository) -> RepositoryRules:
    """The rules as last read from GitHub; nothing is read now."""
    packs = _packs()
    owner = await configs.config(_owner_key(repository))
    own = await configs.config(_repository_key(repository))
    owner_config = load_config(owner.good, CONFIG_FILE, packs) if owner and owner.good else None
    config = load_config(own.good, CONFIG_FILE, packs, owner_config) if own and own.good else None
    return merge_rules(packs, owner_config, config)
