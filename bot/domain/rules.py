"""The rules that hold in a repository.

One dataclass a section of `.github/whetstone.yml`; the defaults of the fields are the product's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from bot.domain.gates import Gates
from bot.domain.phrases import names


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


class When(StrEnum):
    """Whether a rejection without any tag is answered too."""

    TAGGED = "tagged"
    ALWAYS = "always"


class Named(StrEnum):
    """Which authors the weekly summary names."""

    AGENTS = "agents"
    ALL = "all"
    NONE = "none"


class Tell(StrEnum):
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


@dataclass(frozen=True, slots=True)
class Authors:
    """Accounts of GitHub type User that are agents all the same."""

    agents: tuple[str, ...] = ()


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

    least: int = 1
    most: int = 400


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


DEFAULTS = Rules()


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one place of a rule file, and what is allowed there."""

    file: str
    line: int
    column: int
    what: str
    allowed: str

    def __str__(self) -> str:
        """Say it in one line that editors and CI can jump to."""
        return f"{self.file}:{self.line}:{self.column}: {self.what}; {self.allowed}"


class RuleFileError(Exception):
    """A rule file that can't be used, with everything that is wrong in it."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems
