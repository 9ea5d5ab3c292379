"""The rules of a repository: one dataclass for each section of `.github/whetstone.yml`, with its defaults.

Scoring and the types of claims are no section: they come with the product (`rules/scoring.yml`,
`rules/grounding.yml`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

import msgspec

from bot.gates.model import Aspect, Gates, matches_name
from bot.gates.packs import load_rules
from bot.gates.problems import RuleFileProblem
from bot.gates.rule_files import RuleFile
from bot.gates.schemas import value_at


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
    """Which rejections are answered with a comment."""

    USEFUL = "useful"
    """Where the comment adds something that the review above it does not show."""
    ALWAYS = "always"
    TAGGED = "tagged"
    NEVER = "never"


class RepostPolicy(StrEnum):
    """Whose pull requests get a new comment when a new blocking issue appears at a later head."""

    AGENTS = "agents"
    ALWAYS = "always"
    NEVER = "never"


class DocumentPolicy(StrEnum):
    """Whose comments carry the JSON document."""

    ALWAYS = "always"
    AGENTS = "agents"
    NEVER = "never"


class CheckPolicy(StrEnum):
    """When the check run `whetstone/gates` is written."""

    INSTEAD = "instead"
    ALWAYS = "always"
    NEVER = "never"


class AuthorNaming(StrEnum):
    """Which authors the weekly summary names."""

    AGENTS = "agents"
    ALL = "all"
    NONE = "none"


class HintAudience(StrEnum):
    """The reviewers who see the line about vague feedback."""

    AGENTS = "agents"
    ALL = "all"
    OFF = "off"


class Weekday(StrEnum):
    """The days of the week, Monday first as in ISO weeks."""

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
    """What a claim in a review is about."""

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
    """How much of an author's record the requester may see."""

    SHOWN = "shown"
    ELSEWHERE = "elsewhere"
    """Visible to them, but not in a thread that everybody reads."""
    REFUSED = "refused"


def record_visibility(
    role: Permission | None, *, own: bool, agent: bool, public_thread: bool
) -> RecordVisibility:
    """Show one's own record and an agent's to readers, another person's to `triage`, but never in public.

    Over HTTP nothing is a public thread.
    """
    if own or agent:
        return RecordVisibility.SHOWN
    if role is None or not role.is_at_least(Permission.TRIAGE):
        return RecordVisibility.REFUSED
    return RecordVisibility.ELSEWHERE if public_thread else RecordVisibility.SHOWN


class GroundingTool(StrEnum):
    """The read of GitHub's API that a claim was looked up with."""

    TREE = "tree"
    CONTENTS = "contents"
    CHECKS = "check runs"
    PULL_REQUEST = "pull request"


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """One type of claim."""

    would_verify: str
    signs: tuple[str, ...] = ()
    """Regular expressions by which a sentence is known to make such a claim, where nothing is looked up."""
    tools: tuple[GroundingTool, ...] = ()
    """The reads that can show it; a claim seen with another one goes beyond the observation."""


class QualityDimension(StrEnum):
    """The dimensions of a score, heaviest first."""

    VALIDATION = "validation"
    COMPLETENESS = "completeness"
    CORRECTNESS = "correctness"
    READABILITY = "readability"
    EFFICIENCY = "efficiency"


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """The weights of dimensions and open items, and the dimension of each aspect."""

    dimensions: Mapping[QualityDimension, float]
    severities: Mapping[str, float]
    aspects: Mapping[Aspect, QualityDimension]


@dataclass(frozen=True, slots=True)
class DegradationLimits:
    """Thresholds from which an iteration counts as degraded, and from which a cause is named."""

    drop: float
    """A drop of more than this is flagged."""
    drops_in_a_row: int
    iterations_since_best: int
    growth: float
    """A multiple of the size of iteration 1."""
    growth_lines: int
    growth_files: int
    style_items: int
    lost_share: float
    lost_lines: int


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """How iterations are scored and compared."""

    weights: ScoreWeights
    limits: DegradationLimits


@cache
def shipped_scoring() -> ScoringRules:
    """Return how a revision is scored, as `rules/scoring.yml` says."""
    return scoring_rules(load_rules("scoring", find_wrong_sum))


def scoring_rules(values: Mapping[str, Any]) -> ScoringRules:
    """Return the rules that these values of a rule file are."""
    return ScoringRules(
        msgspec.convert(values, ScoreWeights),
        # Not strict, since 2.0 is an integer to JSON Schema.
        msgspec.convert(values["degradation"], DegradationLimits, strict=False),
    )


def find_wrong_sum(file: RuleFile) -> Iterator[RuleFileProblem]:
    """Find weights of dimensions that do not add up."""
    weights = value_at(file.values, "dimensions")
    shares = list(weights.values()) if isinstance(weights, dict) else []
    if len(shares) != len(QualityDimension) or not all(isinstance(share, int | float) for share in shares):
        return
    # What binary fractions add to a sum of hundredths is far below this.
    if all(0 <= share <= 1 for share in shares) and abs(sum(shares) - 1) > 1e-9:
        what = f"dimensions add up to {sum(shares):.4g}"
        allowed = "they are shares of one score and must add up to 1"
        yield file.key_problem(("dimensions",), what, allowed)


@cache
def shipped_claim_rules() -> Mapping[ClaimType, ClaimRule]:
    """Return what each type of claim is looked up with, as `rules/grounding.yml` says."""
    return msgspec.convert(load_rules("grounding")["claims"], dict[ClaimType, ClaimRule])


_CLAIMS = tuple(ClaimType)


@dataclass(frozen=True, slots=True)
class AnnotationRule:
    """The tag of annotations whose text has the phrase."""

    phrase: str
    tag: str


@dataclass(frozen=True, slots=True)
class CheckRule:
    """What a failed check or status of this name (or `/expression/`) means: its tags and kind."""

    name: str
    tags: tuple[str, ...] = ()
    annotations: tuple[AnnotationRule, ...] = ()
    kind: CheckKind | None = None

    def covers(self, check: str) -> bool:
        """Whether the rule applies to this check."""
        return matches_name(self.name, check)


class UnmappedResults(StrEnum):
    """What the results of a tool's report do whose rule has no tag."""

    WARN = "warn"
    BLOCK = "block"
    """Those that the tool calls errors block."""
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class ToolRule:
    """The tag of a tool's results of this rule id (or `/expression/`)."""

    rule: str
    tag: str


@dataclass(frozen=True, slots=True)
class ValidatorRules:
    """The accounts whose verdict counts, and what the results of checks mean."""

    permission: Permission = Permission.WRITE
    users: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    checks: tuple[CheckRule, ...] = ()
    rules: tuple[ToolRule, ...] = ()
    unmapped: UnmappedResults = UnmappedResults.WARN
    app_severities: Mapping[str, str] = field(default_factory=dict)
    """App → the severity from which its findings block, where the config says so."""

    def blocking_severity(self, login: str) -> str | None:
        """Return the severity from which this App's findings block; None for the default."""
        name = login.lower().removesuffix("[bot]")
        named = {app.lower().removesuffix("[bot]"): level for app, level in self.app_severities.items()}
        return named.get(name)

    def is_named(self, login: str, *, bot: bool) -> bool:
        """Whether the config names this account; GitHub ignores the case of logins."""
        logins = self.apps if bot else self.users
        return login.lower().removesuffix("[bot]") in {name.lower().removesuffix("[bot]") for name in logins}


@dataclass(frozen=True, slots=True)
class AuthorRules:
    """Accounts of GitHub's type User that are agents."""

    agents: tuple[str, ...] = ()

    def is_agent(self, login: str, *, bot: bool) -> bool:
        """Whether the author is an agent: by GitHub's type, or named here."""
        return bot or login.lower() in {agent.lower() for agent in self.agents}


@dataclass(frozen=True, slots=True)
class OverrideRules:
    """Whether the author may dismiss, reject and select."""

    by_author: bool = False


@dataclass(frozen=True, slots=True)
class CommentRules:
    """The sticky comment, suggestions and labels."""

    enabled: bool = True
    when: CommentPolicy = CommentPolicy.USEFUL
    repost: RepostPolicy = RepostPolicy.AGENTS
    suggestions: bool = False
    labels: bool = False
    document: DocumentPolicy = DocumentPolicy.ALWAYS


@dataclass(frozen=True, slots=True)
class CheckRunRules:
    """The check run `whetstone/gates`."""

    when: CheckPolicy = CheckPolicy.INSTEAD

    @property
    def is_on_every_head(self) -> bool:
        """Whether every head of an open pull request gets it."""
        return self.when is CheckPolicy.ALWAYS


@dataclass(frozen=True, slots=True)
class HistoryRules:
    """The periods and limits of `/feedback-history`."""

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
    """When a person is asked to decide, and the team that is mentioned."""

    enabled: bool = True
    repeats: int = 3
    window: int = 5
    mention: str | None = None


@dataclass(frozen=True, slots=True)
class DiffSizeBand:
    """The number of changed lines that is neither too small nor too large."""

    min: int = 1
    max: int = 400


@dataclass(frozen=True, slots=True)
class IterationRules:
    """The iteration budget of a pull request, and how its revisions are compared."""

    max: int = 5
    threshold: float = 0.70
    escalate: EscalationRules = EscalationRules()
    diff_size: DiffSizeBand = DiffSizeBand()


@dataclass(frozen=True, slots=True)
class GroundingRules:
    """The claims that are checked, and how the result is shown."""

    enabled: bool = True
    author: bool = True
    """Whether the claims in the description are checked like those of reviewers."""
    reads: int = 5
    mandatory: tuple[ClaimType, ...] = _CLAIMS[:10]
    recommended: tuple[ClaimType, ...] = _CLAIMS[10:14]
    not_required: tuple[ClaimType, ...] = _CLAIMS[14:]
    check_required: bool = True
    include_source: bool = True
    include_timestamp: bool = False
    format_template: str = "[Claim] (Source: [tool/observation])"
    allow_unverified_claim: bool = False
    catalogue: Mapping[ClaimType, ClaimRule] = field(default_factory=shipped_claim_rules, hash=False)
    """From `rules/grounding.yml`; no key of a config."""


@dataclass(frozen=True, slots=True)
class QualityRules:
    """How feedback that can't be acted on is reported."""

    tell: HintAudience = HintAudience.AGENTS
    strict: bool = False


@dataclass(frozen=True, slots=True)
class CueRule:
    """A phrase that means one type of feedback in this repository."""

    type: str
    phrase: str
    reason: str | None = None
    example: str | None = None


@dataclass(frozen=True, slots=True)
class DetectionConfig:
    """How plain words are detected."""

    enabled: bool = True
    threshold: float = 0.6
    cues: tuple[CueRule, ...] = ()
    max_refinement_iterations: int = 3


@dataclass(frozen=True, slots=True)
class RepositoryRules:
    """The gates in force in one repository, and every section of its config."""

    gates: Gates = field(default_factory=Gates)
    version: int = 1
    extends: tuple[str, ...] = ("knowledge-base", "code-review")
    inferring: tuple[str, ...] = ("code-review",)
    """The packs whose phrases infer tags; those of `extends` where a config has it."""
    validators: ValidatorRules = ValidatorRules()
    authors: AuthorRules = AuthorRules()
    overrides: OverrideRules = OverrideRules()
    comment: CommentRules = CommentRules()
    check: CheckRunRules = CheckRunRules()
    history: HistoryRules = HistoryRules()
    weekly: WeeklyRules = WeeklyRules()
    iterations: IterationRules = IterationRules()
    grounding: GroundingRules = field(default_factory=GroundingRules)
    quality: QualityRules = QualityRules()
    detection: DetectionConfig = DetectionConfig()
    scoring: ScoringRules = field(default_factory=shipped_scoring)
    """From `rules/scoring.yml`; no section of a config."""
    config_problem: str = ""
    """What is wrong with the config on the default branch, in one sentence; empty if nothing is."""
