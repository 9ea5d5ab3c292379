"""What is each type of claim looked up with, and what does its writer do to have it confirmed?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.choices import ClaimType
from bot.domain.grounding.result import Tool


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """One type of claim."""

    tools: tuple[Tool, ...]
    """What can show it; a claim of this type that was seen elsewhere goes beyond the observation."""
    verification: str
    would_verify: str
    mitigation: str = ""
    """What keeps the writer from claiming what nobody looked up."""


_READ = "Always Read before claiming content"
_TEST = "Run tests to verify behavior"
_FILES, _CHECKS = (Tool.CONTENTS,), (Tool.CHECKS,)

DEFAULTS: Mapping[ClaimType, ClaimRule] = {
    ClaimType.FILE_CONTENTS: ClaimRule(
        (Tool.CONTENTS, Tool.TREE),
        "The words are in the file at the head",
        "the words as they stand, with `path:line`",
        _READ,
    ),
    ClaimType.FILE_EXISTENCE: ClaimRule(
        (Tool.TREE, Tool.CONTENTS), "The path is in the tree at the head", "the full path from the top", _READ
    ),
    ClaimType.FILE_LOCATION: ClaimRule(
        (Tool.CONTENTS, Tool.TREE),
        "The thing stands on those lines at the head",
        "a comment on the line, or `path:line`",
        _READ,
    ),
    ClaimType.CODE_BEHAVIOR: ClaimRule(
        _CHECKS, "A failed check names the code and what it did", "a test that fails in a check run", _TEST
    ),
    ClaimType.TEST_RESULTS: ClaimRule(
        _CHECKS, "The check run at the head ended so", "a finished check run at this head", _TEST
    ),
    ClaimType.ERROR_MESSAGES: ClaimRule(
        _CHECKS,
        "A check run printed the message",
        "a check run or annotation that prints the message",
        "Check actual error messages",
    ),
    ClaimType.API_RESPONSES: ClaimRule(
        _CHECKS,
        "A check run printed the request and its answer",
        "a check run that prints request and answer",
        _TEST,
    ),
    ClaimType.CONFIGURATION_VALUES: ClaimRule(
        (Tool.CONTENTS, Tool.TREE),
        "The file gives the key that value",
        "the key's full name and its file",
        "Read config files directly",
    ),
    ClaimType.DEPENDENCY_VERSIONS: ClaimRule(
        (Tool.CONTENTS, Tool.TREE),
        "The manifest asks for that version",
        "the manifest and the version as it has it",
        "Read config files directly",
    ),
    ClaimType.GIT_STATE: ClaimRule(
        (Tool.PULL_REQUEST,),
        "GitHub shows the pull request so",
        "the state that GitHub shows on the pull request",
        "Run git status/diff/log",
    ),
    ClaimType.PERFORMANCE_CHARACTERISTICS: ClaimRule((), "", "a measurement in a check run"),
    ClaimType.CODE_PATTERNS: ClaimRule((), "", "the places where it occurs"),
    ClaimType.ARCHITECTURE_DECISIONS: ClaimRule((), "", "a link to where it was decided"),
    ClaimType.HISTORICAL_CHANGES: ClaimRule((), "", "the commit that changed it"),
    ClaimType.GENERAL_PROGRAMMING_KNOWLEDGE: ClaimRule((), "", "nothing has to"),
    ClaimType.LANGUAGE_SYNTAX: ClaimRule((), "", "nothing has to"),
    ClaimType.WELL_KNOWN_PATTERNS: ClaimRule((), "", "nothing has to"),
    ClaimType.MATHEMATICAL_FACTS: ClaimRule((), "", "nothing has to"),
}
"""What `rules/grounding.yml` says; a test keeps the two equal."""
