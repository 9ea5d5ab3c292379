"""Which files the rules come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bot.domain.check_runs import Conclusion
from bot.domain.choices import ClaimType
from bot.domain.config_check import ConfigReport
from bot.domain.detection import DetectionRules
from bot.domain.gates import Gates
from bot.domain.grounding.catalogue import ClaimRule
from bot.domain.lint import Lint
from bot.domain.model import Repository
from bot.domain.rules import Rules
from bot.domain.weights import Scoring
from bot.ports import ConfigMemory, GitHub
from bot.wiring.basics import CannotStart

if TYPE_CHECKING:
    # Named here for types only: a command such as `render` must not pay for what it does not use.
    from bot.adapters.rule_book import Broken, LiveRuleBook


def pack(name: str) -> Gates:
    """The gates of a pack, named as in `extends`, or given as a file."""
    from bot.adapters.rule_files import load_pack, rules_directory

    shipped = rules_directory() / f"{name}.yml"
    try:
        return load_pack(shipped if shipped.is_file() and "/" not in name else Path(name))
    except OSError as missing:
        raise CannotStart(
            f"{name}: {missing.strerror}; give a file, or a pack of {rules_directory()}"
        ) from missing


def check_rule_file(path: Path, organisation: Path | None) -> str:
    """What a rule file without mistakes is; raises with everything that is wrong in it."""
    from bot.adapters.rule_files import check_file

    return check_file(path, organisation)


def lint_feedback(data: bytes, name: str) -> tuple[Lint, ...]:
    """Everything that keeps a feedback document from being acted on."""
    from bot.adapters import feedback_files, feedback_lint

    return feedback_lint.lint(feedback_files.read(data, name))


def sarif_log(findings: Sequence[Lint], name: str) -> str:
    """The findings as other tools read them."""
    from bot.adapters import sarif

    return sarif.write(findings, name)


# What is shipped is read once a process, and shared: door and worker hold the same rules.


@cache
def detection_rules() -> DetectionRules:
    """How plain words are understood, as shipped."""
    from bot.adapters.detection_rules import shipped

    return shipped()


@cache
def default_rules() -> Rules:
    """The rules of a repository that configures nothing."""
    from bot.adapters.rule_files import merge

    rules = merge(_packs())
    grounding = replace(rules.grounding, catalogue=_claims())
    return replace(rules, scoring=_scoring(), grounding=grounding)


@cache
def _packs() -> Mapping[str, Gates]:
    """The gates of every pack, as shipped."""
    from bot.adapters.rule_files import load_packs, rules_directory

    return load_packs(rules_directory())


@cache
def _scoring() -> Scoring:
    """How a revision is scored, as shipped."""
    from bot.adapters.rule_files import rules_directory
    from bot.adapters.scoring_rules import load_scoring

    return load_scoring(rules_directory() / "scoring.yml")


@cache
def _claims() -> Mapping[ClaimType, ClaimRule]:
    """What each type of claim is looked up with, as shipped."""
    from bot.adapters.grounding_rules import load_grounding
    from bot.adapters.rule_files import rules_directory

    return load_grounding(rules_directory() / "grounding.yml")


class DefaultRules:
    """Every repository has the product's own rules."""

    def __init__(self) -> None:
        self._rules = replace(default_rules(), understanding=detection_rules())

    async def rules(self, repository: Repository, since: datetime | None = None) -> Rules:  # noqa: ARG002  the port names them
        """The same for every repository."""
        return self._rules

    async def report(self, repository: Repository, head: str) -> ConfigReport | None:  # noqa: ARG002  as above
        """Nothing: no config was read."""
        return None

    async def judged(self, repository: Repository) -> ConfigReport:  # noqa: ARG002  as above
        """Neither good nor bad: no config was read."""
        return ConfigReport("", Conclusion.NEUTRAL, 0)


def live_rule_book(
    github: GitHub, memory: ConfigMemory, teller: Broken, clock: Callable[[], datetime]
) -> LiveRuleBook:
    """The rules that each repository has on GitHub, over the product's own."""
    from bot.adapters.rule_book import LiveRuleBook

    book = LiveRuleBook(_packs(), github, memory, teller, clock)
    book.scoring = _scoring()
    book.claims = _claims()
    book.understanding = detection_rules()
    return book


async def kept_rules(memory: ConfigMemory, repository: Repository) -> Rules:
    """The rules as last read from GitHub, which is not asked here."""
    from bot.adapters.rule_files.config import load_config, merge

    packs = _packs()
    owner = await memory.config(f"owner:{repository.installation_id}:{repository.owner.lower()}")
    own = await memory.config(f"repository:{repository.id}")
    path = ".github/whetstone.yml"
    below = load_config(owner.good, path, packs) if owner and owner.good else None
    config = load_config(own.good, path, packs, below) if own and own.good else None
    rules = merge(packs, below, config)
    grounding = replace(rules.grounding, catalogue=_claims())
    return replace(rules, scoring=_scoring(), grounding=grounding)
