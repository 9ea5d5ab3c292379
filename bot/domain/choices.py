"""The closed sets of words that a config may use."""

from __future__ import annotations

from enum import StrEnum


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
