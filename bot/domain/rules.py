"""The rules that hold in a repository.

One dataclass a section of `.github/whetstone.yml`; the defaults of the fields are the product's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.choices import CheckKind, ClaimType, Named, Permission, Tell, Weekday, When
from bot.domain.detection.rules import DetectionRules
from bot.domain.gates import Gates
from bot.domain.grounding import catalogue as claims
from bot.domain.phrases import names
from bot.domain.weights import SCORING, Scoring

__all__ = [
    "DEFAULTS",
    "AnnotationRule",
    "Authors",
    "Band",
    "Check",
    "CheckKind",
    "CheckRule",
    "ClaimType",
    "Comment",
    "Cue",
    "Detection",
    "Escalate",
    "Grounding",
    "History",
    "Iterations",
    "Named",
    "Overrides",
    "Permission",
    "Quality",
    "Rules",
    "SarifRule",
    "Tell",
    "Validators",
    "Weekday",
    "Weekly",
    "When",
]

_CLAIMS = tuple(ClaimType)


@dataclass(frozen=True, slots=True)
class AnnotationRule:
    """An annotation whose text has the phrase means the tag."""

    phrase: str
    tag: str


@dataclass(frozen=True, slots=True)
class CheckRule:
    """What a failed check or status of this name (or `/expression/`) means."""

    name: str
    tags: tuple[str, ...] = ()
    annotations: tuple[AnnotationRule, ...] = ()
    kind: CheckKind | None = None

    def covers(self, check: str) -> bool:
        """Whether the rule is about this check."""
        return names(self.name, check)


@dataclass(frozen=True, slots=True)
class SarifRule:
    """A SARIF result of this rule id (or `/expression/`) means the tag."""

    rule: str
    tag: str


@dataclass(frozen=True, slots=True)
class Validators:
    """Whose verdict counts, and what the checks' results mean."""

    permission: Permission = Permission.WRITE
    users: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    checks: tuple[CheckRule, ...] = ()
    sarif: tuple[SarifRule, ...] = ()

    def is_named(self, login: str, *, bot: bool) -> bool:
        """Whether the config names this account; GitHub's logins know no case."""
        named = self.apps if bot else self.users
        return login.lower().removesuffix("[bot]") in {each.lower().removesuffix("[bot]") for each in named}


@dataclass(frozen=True, slots=True)
class Authors:
    """Accounts of GitHub type User that are agents all the same."""

    agents: tuple[str, ...] = ()

    def is_agent(self, login: str, *, bot: bool) -> bool:
        """Whether the author is an agent: by GitHub's type, or named here."""
        return bot or login.lower() in {each.lower() for each in self.agents}


@dataclass(frozen=True, slots=True)
class Overrides:
    """Who may dismiss, reject and select."""

    by_author: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """The sticky comment, and what goes with it."""

    enabled: bool = True
    when: When = When.TAGGED
    suggestions: bool = False
    labels: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """The check run `whetstone/gates`."""

    enabled: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """What `/feedback-history` looks at."""

    periods: tuple[int, ...] = (7, 30, 90)
    minimum: int = 5
    dead_after_days: int = 14
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Weekly:
    """The weekly summary issue."""

    enabled: bool = True
    day: Weekday = Weekday.MONDAY
    time: str = "09:00"
    timezone: str = "UTC"
    authors: Named = Named.AGENTS


@dataclass(frozen=True, slots=True)
class Escalate:
    """When a person is asked to decide, and which team is mentioned."""

    enabled: bool = True
    repeats: int = 3
    window: int = 5
    mention: str | None = None


@dataclass(frozen=True, slots=True)
class Band:
    """How many changed lines are neither too few nor too many."""

    min: int = 1
    max: int = 400


@dataclass(frozen=True, slots=True)
class Iterations:
    """The budget of a pull request, and how its revisions are judged."""

    max: int = 5
    threshold: float = 0.70
    escalate: Escalate = Escalate()
    diff_size: Band = Band()


@dataclass(frozen=True, slots=True)
class Grounding:
    """Which claims are checked, and how the result is said."""

    enabled: bool = True
    reads: int = 5
    version: str = "1.0.0"
    mandatory: tuple[ClaimType, ...] = _CLAIMS[:10]
    recommended: tuple[ClaimType, ...] = _CLAIMS[10:14]
    not_required: tuple[ClaimType, ...] = _CLAIMS[14:]
    check_required: bool = True
    include_source: bool = True
    include_timestamp: bool = False
    format_template: str = "[Claim] (Source: [tool/observation])"
    allow_unverified_claim: bool = False
    catalogue: Mapping[ClaimType, claims.ClaimRule] = field(
        default_factory=lambda: claims.DEFAULTS, hash=False
    )
    """The product's own (`rules/grounding.yml`); no key of a config."""


@dataclass(frozen=True, slots=True)
class Quality:
    """What is said about feedback that can't be acted on."""

    tell: Tell = Tell.AGENTS
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase that speaks for one type of feedback in this repository."""

    type: str
    phrase: str
    reason: str | None = None
    example: str | None = None


@dataclass(frozen=True, slots=True)
class Detection:
    """How plain words are understood."""

    enabled: bool = True
    threshold: float = 0.6
    cues: tuple[Cue, ...] = ()
    max_refinement_iterations: int = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """All that holds in one repository: the gates in force and every section of its config."""

    gates: Gates = field(default_factory=Gates)
    version: int = 1
    extends: tuple[str, ...] = ("knowledge-base", "code-review")
    validators: Validators = Validators()
    authors: Authors = Authors()
    overrides: Overrides = Overrides()
    comment: Comment = Comment()
    check: Check = Check()
    history: History = History()
    weekly: Weekly = Weekly()
    iterations: Iterations = Iterations()
    grounding: Grounding = Grounding()
    quality: Quality = Quality()
    detection: Detection = Detection()
    scoring: Scoring = SCORING
    """The product's own (`rules/scoring.yml`); no section of a config."""
    understanding: DetectionRules | None = None
    """How plain words are understood (`rules/detection.yml`, the config's own cues); None: not loaded."""


DEFAULTS = Rules()
