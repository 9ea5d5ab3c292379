"""The sections of `.github/whetstone.yml` as values with the product's defaults.

One dataclass a section of `.github/whetstone.yml`; the defaults of the fields are the product's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bot.gates.model import Aspect, Gates, matches_name


class Permission(StrEnum):
    """GitHub's roles in a repository, weakest first."""

    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"

    def is_at_least(self, least: Permission) -> bool:
        """Whether this role may do all that the other one may."""
        ranks = tuple(Permission)
        return ranks.index(self) >= ranks.index(least)


class CommentPolicy(StrEnum):
    """Whether a rejection without any tag is answered too."""

    TAGGED = "tagged"
    ALWAYS = "always"


class AuthorNaming(StrEnum):
    """Which authors the weekly summary names."""

    AGENTS = "agents"
    ALL = "all"
    NONE = "none"


class HintAudience(StrEnum):
    """To whom the line about vague feedback is shown."""

    AGENTS = "agents"
    ALL = "all"
    OFF = "off"


class Weekday(StrEnum):
    """The days, Monday first as in ISO weeks."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


class CheckKind(StrEnum):
    """What a check shows about the code."""

    TESTS = "tests"
    BUILD = "build"
    LINT = "lint"
    TYPES = "types"
    OTHER = "other"


class ClaimType(StrEnum):
    """What a sentence of a review claims something about."""

    FILE_CONTENTS = "file_contents"
    FILE_EXISTENCE = "file_existence"
    FILE_LOCATION = "file_location"
    CODE_BEHAVIOR = "code_behavior"
    TEST_RESULTS = "test_results"
    ERROR_MESSAGES = "error_messages"
    API_RESPONSES = "api_responses"
    CONFIGURATION_VALUES = "configuration_values"
    DEPENDENCY_VERSIONS = "dependency_versions"
    GIT_STATE = "git_state"
    PERFORMANCE_CHARACTERISTICS = "performance_characteristics"
    CODE_PATTERNS = "code_patterns"
    ARCHITECTURE_DECISIONS = "architecture_decisions"
    HISTORICAL_CHANGES = "historical_changes"
    GENERAL_PROGRAMMING_KNOWLEDGE = "general_programming_knowledge"
    LANGUAGE_SYNTAX = "language_syntax"
    WELL_KNOWN_PATTERNS = "well_known_patterns"
    MATHEMATICAL_FACTS = "mathematical_facts"


class RecordVisibility(StrEnum):
    """What an asker gets to see of an author's record."""

    SHOWN = "shown"
    ELSEWHERE = "elsewhere"
    """They may see it, but not in a thread that everybody reads."""
    REFUSED = "refused"


def record_visibility(
    role: Permission | None, *, own: bool, agent: bool, public_thread: bool
) -> RecordVisibility:
    """One's own record and an agent's with read access; another person's with `triage`, never in public.

    Over HTTP nothing is a public thread.
    """
    if own or agent:
        return RecordVisibility.SHOWN
    if role is None or not role.is_at_least(Permission.TRIAGE):
        return RecordVisibility.REFUSED
    return RecordVisibility.ELSEWHERE if public_thread else RecordVisibility.SHOWN


class GroundingTool(StrEnum):
    """What a claim was looked up with: a read of GitHub's API."""

    TREE = "tree"
    CONTENTS = "contents"
    CHECKS = "check runs"
    PULL_REQUEST = "pull request"


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """One type of claim."""

    tools: tuple[GroundingTool, ...]
    """What can show it; a claim of this type that was seen elsewhere goes beyond the observation."""
    would_verify: str


_FILES, _CHECKS = (GroundingTool.CONTENTS,), (GroundingTool.CHECKS,)

DEFAULT_CLAIM_RULES: Mapping[ClaimType, ClaimRule] = {
    ClaimType.FILE_CONTENTS: ClaimRule(
        (GroundingTool.CONTENTS, GroundingTool.TREE), "the words as they stand, with `path:line`"
    ),
    ClaimType.FILE_EXISTENCE: ClaimRule(
        (GroundingTool.TREE, GroundingTool.CONTENTS), "the full path from the top"
    ),
    ClaimType.FILE_LOCATION: ClaimRule(
        (GroundingTool.CONTENTS, GroundingTool.TREE), "a comment on the line, or `path:line`"
    ),
    ClaimType.CODE_BEHAVIOR: ClaimRule(_CHECKS, "a test that fails in a check run"),
    ClaimType.TEST_RESULTS: ClaimRule(_CHECKS, "a finished check run at this head"),
    ClaimType.ERROR_MESSAGES: ClaimRule(_CHECKS, "a check run or annotation that prints the message"),
    ClaimType.API_RESPONSES: ClaimRule(_CHECKS, "a check run that prints request and answer"),
    ClaimType.CONFIGURATION_VALUES: ClaimRule(
        (GroundingTool.CONTENTS, GroundingTool.TREE), "the key's full name and its file"
    ),
    ClaimType.DEPENDENCY_VERSIONS: ClaimRule(
        (GroundingTool.CONTENTS, GroundingTool.TREE), "the manifest and the version as it has it"
    ),
    ClaimType.GIT_STATE: ClaimRule(
        (GroundingTool.PULL_REQUEST,), "the state that GitHub shows on the pull request"
    ),
    ClaimType.PERFORMANCE_CHARACTERISTICS: ClaimRule((), "a measurement in a check run"),
    ClaimType.CODE_PATTERNS: ClaimRule((), "the places where it occurs"),
    ClaimType.ARCHITECTURE_DECISIONS: ClaimRule((), "a link to where it was decided"),
    ClaimType.HISTORICAL_CHANGES: ClaimRule((), "the commit that changed it"),
    ClaimType.GENERAL_PROGRAMMING_KNOWLEDGE: ClaimRule((), "nothing has to"),
    ClaimType.LANGUAGE_SYNTAX: ClaimRule((), "nothing has to"),
    ClaimType.WELL_KNOWN_PATTERNS: ClaimRule((), "nothing has to"),
    ClaimType.MATHEMATICAL_FACTS: ClaimRule((), "nothing has to"),
}
"""What `rules/grounding.yml` says; a test keeps the two equal."""


class QualityDimension(StrEnum):
    """The sides of quality that are weighed, heaviest first."""

    VALIDATION = "validation"
    COMPLETENESS = "completeness"
    CORRECTNESS = "correctness"
    READABILITY = "readability"
    EFFICIENCY = "efficiency"


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """How much each dimension and each open item weighs, and which aspect belongs where."""

    dimensions: Mapping[QualityDimension, float]
    severities: Mapping[str, float]
    aspects: Mapping[Aspect, QualityDimension]


@dataclass(frozen=True, slots=True)
class DegradationLimits:
    """From where on an iteration counts as degraded, and a cause as seen."""

    drop: float
    """A drop of more than this is flagged."""
    drops_in_a_row: int
    iterations_since_best: int
    growth: float
    """How many times the size of iteration 1."""
    growth_lines: int
    growth_files: int
    style_items: int
    lost_share: float
    lost_lines: int


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """All of it, as the product's rule file says."""

    weights: ScoreWeights
    limits: DegradationLimits


DEFAULT_SCORING = ScoringRules(
    ScoreWeights(
        dimensions={
            QualityDimension.VALIDATION: 0.30,
            QualityDimension.COMPLETENESS: 0.25,
            QualityDimension.CORRECTNESS: 0.25,
            QualityDimension.READABILITY: 0.10,
            QualityDimension.EFFICIENCY: 0.10,
        },
        severities={"critical": 1.0, "major": 0.4, "minor": 0.1, "suggestion": 0.05},
        aspects={
            Aspect.COMPLETENESS: QualityDimension.COMPLETENESS,
            Aspect.DOCUMENTATION: QualityDimension.COMPLETENESS,
            Aspect.TESTABILITY: QualityDimension.COMPLETENESS,
            Aspect.CORRECTNESS: QualityDimension.CORRECTNESS,
            Aspect.SECURITY: QualityDimension.CORRECTNESS,
            Aspect.CONSISTENCY: QualityDimension.CORRECTNESS,
            Aspect.CLARITY: QualityDimension.READABILITY,
            Aspect.STYLE: QualityDimension.READABILITY,
            Aspect.MAINTAINABILITY: QualityDimension.READABILITY,
            Aspect.EFFICIENCY: QualityDimension.EFFICIENCY,
        },
    ),
    DegradationLimits(
        drop=0.05,
        drops_in_a_row=2,
        iterations_since_best=2,
        growth=2.0,
        growth_lines=20,
        growth_files=2,
        style_items=1,
        lost_share=0.5,
        lost_lines=5,
    ),
)
"""What `rules/scoring.yml` ships with, for whoever has no file at hand; a test compares the two."""


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
        return matches_name(self.name, check)


@dataclass(frozen=True, slots=True)
class SarifRule:
    """A SARIF result of this rule id (or `/expression/`) means the tag."""

    rule: str
    tag: str


@dataclass(frozen=True, slots=True)
class ValidatorRules:
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
class AuthorRules:
    """Accounts of GitHub type User that are agents all the same."""

    agents: tuple[str, ...] = ()

    def is_agent(self, login: str, *, bot: bool) -> bool:
        """Whether the author is an agent: by GitHub's type, or named here."""
        return bot or login.lower() in {each.lower() for each in self.agents}


@dataclass(frozen=True, slots=True)
class OverrideRules:
    """Who may dismiss, reject and select."""

    by_author: bool = False


@dataclass(frozen=True, slots=True)
class CommentRules:
    """The sticky comment, and what goes with it."""

    enabled: bool = True
    when: CommentPolicy = CommentPolicy.TAGGED
    suggestions: bool = False
    labels: bool = False


@dataclass(frozen=True, slots=True)
class CheckRunRules:
    """The check run `whetstone/gates`."""

    enabled: bool = False


@dataclass(frozen=True, slots=True)
class HistoryRules:
    """What `/feedback-history` looks at."""

    periods: tuple[int, ...] = (7, 30, 90)
    minimum: int = 5
    dead_after_days: int = 14
    shared: bool = False


@dataclass(frozen=True, slots=True)
class WeeklyRules:
    """The weekly summary issue."""

    enabled: bool = True
    day: Weekday = Weekday.MONDAY
    time: str = "09:00"
    timezone: str = "UTC"
    authors: AuthorNaming = AuthorNaming.AGENTS


@dataclass(frozen=True, slots=True)
class EscalationRules:
    """When a person is asked to decide, and which team is mentioned."""

    enabled: bool = True
    repeats: int = 3
    window: int = 5
    mention: str | None = None


@dataclass(frozen=True, slots=True)
class DiffSizeBand:
    """How many changed lines are neither too few nor too many."""

    min: int = 1
    max: int = 400


@dataclass(frozen=True, slots=True)
class IterationRules:
    """The budget of a pull request, and how its revisions are judged."""

    max: int = 5
    threshold: float = 0.70
    escalate: EscalationRules = EscalationRules()
    diff_size: DiffSizeBand = DiffSizeBand()


@dataclass(frozen=True, slots=True)
class GroundingRules:
    """Which claims are checked, and how the result is said."""

    enabled: bool = True
    reads: int = 5
    mandatory: tuple[ClaimType, ...] = _CLAIMS[:10]
    recommended: tuple[ClaimType, ...] = _CLAIMS[10:14]
    not_required: tuple[ClaimType, ...] = _CLAIMS[14:]
    check_required: bool = True
    include_source: bool = True
    include_timestamp: bool = False
    format_template: str = "[Claim] (Source: [tool/observation])"
    allow_unverified_claim: bool = False
    catalogue: Mapping[ClaimType, ClaimRule] = field(default_factory=lambda: DEFAULT_CLAIM_RULES, hash=False)
    """The product's own (`rules/grounding.yml`); no key of a config."""


@dataclass(frozen=True, slots=True)
class QualityRules:
    """What is said about feedback that can't be acted on."""

    tell: HintAudience = HintAudience.AGENTS
    strict: bool = False


@dataclass(frozen=True, slots=True)
class CueRule:
    """A phrase that speaks for one type of feedback in this repository."""

    type: str
    phrase: str
    reason: str | None = None
    example: str | None = None


@dataclass(frozen=True, slots=True)
class DetectionConfig:
    """How plain words are understood."""

    enabled: bool = True
    threshold: float = 0.6
    cues: tuple[CueRule, ...] = ()
    max_refinement_iterations: int = 3


@dataclass(frozen=True, slots=True)
class RepositoryRules:
    """All that holds in one repository: the gates in force and every section of its config."""

    gates: Gates = field(default_factory=Gates)
    version: int = 1
    extends: tuple[str, ...] = ("knowledge-base", "code-review")
    validators: ValidatorRules = ValidatorRules()
    authors: AuthorRules = AuthorRules()
    overrides: OverrideRules = OverrideRules()
    comment: CommentRules = CommentRules()
    check: CheckRunRules = CheckRunRules()
    history: HistoryRules = HistoryRules()
    weekly: WeeklyRules = WeeklyRules()
    iterations: IterationRules = IterationRules()
    grounding: GroundingRules = GroundingRules()
    quality: QualityRules = QualityRules()
    detection: DetectionConfig = DetectionConfig()
    scoring: ScoringRules = DEFAULT_SCORING
    """The product's own (`rules/scoring.yml`); no section of a config."""


DEFAULT_RULES = RepositoryRules()
