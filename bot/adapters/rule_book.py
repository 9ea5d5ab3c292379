"""Which rules hold in a repository now? Its config over its owner's over ours, read at most once a minute."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from cachetools import LRUCache

from bot.adapters.payloads.derived import config_broken
from bot.adapters.rule_files.config import Config, load_config, merge
from bot.domain.check_runs import Conclusion
from bot.domain.choices import ClaimType
from bot.domain.config_check import ConfigReport
from bot.domain.detection import DetectionRules, FeedbackType, OwnCue
from bot.domain.gates import Gates
from bot.domain.grounding.catalogue import DEFAULTS as CLAIMS
from bot.domain.grounding.catalogue import ClaimRule
from bot.domain.model import Repository
from bot.domain.problems import Problem, RuleFileError
from bot.domain.rules import Detection, Rules
from bot.domain.weights import SCORING
from bot.ports import ConfigMemory, Forbidden, Gone, Inbox, KeptConfig, RateLimited, Refused, Unavailable

PATH = ".github/whetstone.yml"
OWNERS = ".github"
"""The repository whose config holds for all of its owner's."""
FRESH = timedelta(seconds=60)
COVERED = timedelta(minutes=10)
"""How long it is believed that the owner's repository is part of the installation."""

logger = logging.getLogger("whetstone.config")


class Files(Protocol):
    """What is asked of GitHub here."""

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        """A file at a ref, or of the default branch; None where there is no such file."""
        ...

    async def covers(self, owner: str, name: str) -> bool:
        """Whether the App is installed in this repository."""
        ...


class Broken(Protocol):
    """Who says to the maintainers that their file is broken."""

    async def tell(self, repository: Repository, version: str) -> None:
        """See to it that it is said, once for this version of the file."""
        ...


@dataclass(frozen=True, slots=True)
class _Held:
    at: datetime
    rules: Rules
    text: bytes | None


class LiveRuleBook:
    """`ports.RuleBook` from GitHub, with the last good file wherever the newest is broken."""

    def __init__(
        self,
        packs: Mapping[str, Gates],
        github: Files,
        memory: ConfigMemory,
        broken: Broken,
        clock: Callable[[], datetime],
    ) -> None:
        self._packs = packs
        self._github = github
        self._memory = memory
        self._broken = broken
        self._clock = clock
        self.scoring = SCORING
        self.understanding: DetectionRules | None = None
        """The product's own, unless somebody gives another."""
        self.claims: Mapping[ClaimType, ClaimRule] = CLAIMS
        self._held: LRUCache[int, _Held] = LRUCache(10_000)
        self._owners: LRUCache[tuple[int, str], tuple[datetime, Config | None]] = LRUCache(10_000)
        self._covered: LRUCache[str, datetime] = LRUCache(10_000)
        self._reading: dict[int, asyncio.Lock] = {}
        self._limited: dict[int, datetime] = {}

    async def rules(self, repository: Repository, since: datetime | None = None) -> Rules:
        """The rules in force in this repository now; where it is said since when, as read after then."""
        return (await self._current(repository, since)).rules

    async def report(self, repository: Repository, head: str) -> ConfigReport | None:
        """What is to be said of the config at this head; None where it is the default branch's own."""
        held = await self._current(repository)
        try:
            text = await self._github.file(repository, PATH, head)
        except Forbidden:
            return None
        except Refused as refusal:
            return _too_large(refusal)
        if text == held.text:
            return None
        return await self._judged(repository, text)

    async def judged(self, repository: Repository) -> ConfigReport:
        """What is to be said of the default branch's config."""
        try:
            text = await self._github.file(repository, PATH)
        except Refused as refusal:
            return _too_large(refusal)
        return await self._judged(repository, text)

    async def _judged(self, repository: Repository, text: bytes | None) -> ConfigReport:
        if text is None:
            return ConfigReport(PATH, Conclusion.NEUTRAL, 0)
        owners = await self._owners_config(repository)
        try:
            config = load_config(text, PATH, self._packs, owners)
            return ConfigReport(PATH, Conclusion.SUCCESS, len(merge(self._packs, owners, config).gates))
        except RuleFileError as error:
            return ConfigReport(PATH, Conclusion.FAILURE, 0, error.problems)

    async def _current(self, repository: Repository, since: datetime | None = None) -> _Held:
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
        return self._clock() - at < FRESH and (since is None or at >= since)

    async def _read(
        self, repository: Repository, before: _Held | None, since: datetime | None = None
    ) -> _Held:
        now = self._clock()
        if (until := self._limited.get(repository.installation_id, now)) > now:
            raise RateLimited(until)  # GitHub shuts out who asks all the same
        try:
            owners = await self._owners_config(repository, since)
            text = await self._text(repository)
        except RateLimited as limit:
            self._limited[repository.installation_id] = limit.until
            raise
        except Unavailable:
            if before is None or since is not None:
                raise
            return replace(before, at=now)  # GitHub will be asked again; until then nothing has changed
        config = await self._good(repository, f"repository:{repository.id}", text, owners)
        return _Held(now, self._merged(owners, config), text)

    async def _owners_config(self, repository: Repository, since: datetime | None = None) -> Config | None:
        if repository.name == OWNERS:
            return None
        key = (repository.installation_id, repository.owner.lower())
        known = self._owners.get(key)
        if known and self._is_fresh(known[0], since):
            return known[1]
        home = Repository(0, repository.owner, OWNERS, repository.installation_id)
        text = await self._text(home)
        if text is not None and not await self._is_covered(home):
            text = None
        name = f"owner:{repository.installation_id}:{repository.owner.lower()}"
        config = await self._good(home, name, text, None)
        self._owners[key] = (self._clock(), config)
        return config

    async def _text(self, repository: Repository) -> bytes | None:
        try:
            return await self._github.file(repository, PATH)
        except (Gone, Forbidden):
            return None
        except Refused:
            return b"\0"  # too large to be read: broken, like every other text that is no config

    async def _is_covered(self, home: Repository) -> bool:
        """Whether the owner's repository is part of an installation: anybody's public file can be read."""
        name = home.full_name.lower()
        since = self._covered.get(name)
        if since and self._clock() - since < COVERED:
            return True
        covered = await self._github.covers(home.owner, home.name)
        if covered:
            self._covered[name] = self._clock()
        return covered

    async def _good(
        self, repository: Repository, key: str, text: bytes | None, below: Config | None
    ) -> Config | None:
        """The config in the text, or the last good one where the text is broken."""
        if text is None:
            return None
        kept = await self._memory.config(key) or KeptConfig()
        try:
            config = load_config(text, PATH, self._packs, below)
        except RuleFileError as error:
            await self._tell(repository, key, text, kept, error)
            return self._kept(kept, below)
        if kept.good != text or kept.broken:
            await self._memory.keep_config(key, repository.installation_id, KeptConfig(good=text))
        return config

    async def _tell(
        self, repository: Repository, key: str, text: bytes, kept: KeptConfig, error: RuleFileError
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

    def _kept(self, kept: KeptConfig, below: Config | None) -> Config | None:
        if kept.good is None:
            return None
        try:
            return load_config(kept.good, PATH, self._packs, below)
        except RuleFileError:
            return None  # good for an older version of the product, or over another file of the owner's

    def _merged(self, owners: Config | None, config: Config | None) -> Rules:
        try:
            rules = merge(self._packs, owners, config)
        except RuleFileError:
            rules = merge(self._packs, owners)
        rules = replace(rules, grounding=replace(rules.grounding, catalogue=self.claims))
        return replace(rules, scoring=self.scoring, understanding=self._understood(rules.detection))

    def _understood(self, section: Detection) -> DetectionRules | None:
        """How plain words are understood here; compiled anew only where the config has cues of its own."""
        if self.understanding is None or section == Detection():
            return self.understanding
        cues = [OwnCue(FeedbackType(cue.type), cue.phrase) for cue in section.cues]
        return self.understanding.extended(
            cues, threshold=section.threshold, rounds=section.max_refinement_iterations
        )


@dataclass(frozen=True, slots=True)
class ByCheckRun:
    """Tells of a broken config through the inbox: a row of its own, whose id makes it happen once."""

    inbox: Inbox
    clock: Callable[[], datetime]

    async def tell(self, repository: Repository, version: str) -> None:
        """See to it that a check run on the default branch says so."""
        await self.inbox.accept(config_broken(repository, version, self.clock()))


class NoMemory:
    """For a rehearsal: keeps nothing and tells nobody."""

    async def config(self, key: str) -> KeptConfig | None:  # noqa: ARG002  the port names it
        """Nothing is kept."""
        return None

    async def keep_config(self, key: str, installation_id: int, kept: KeptConfig) -> None:
        """Keep nothing."""

    async def tell(self, repository: Repository, version: str) -> None:
        """Tell nobody."""


def _too_large(refusal: Refused) -> ConfigReport:
    problem = Problem(PATH, 1, 1, str(refusal), "a config has at most 64 KB")
    return ConfigReport(PATH, Conclusion.FAILURE, 0, (problem,))
