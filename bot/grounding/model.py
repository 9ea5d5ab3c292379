"""Claims, and the result of verifying one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.gates.config import ClaimType, GroundingRules, GroundingTool


class Requirement(StrEnum):
    """Whether a claim of a type has to be grounded in an observation."""

    MANDATORY = "mandatory"
    RECOMMENDED = "recommended"
    NOT_REQUIRED = "not_required"


class ClaimForm(StrEnum):
    """How a claim is put, where one type can be claimed in several ways."""

    STATED = "stated"
    NAMED = "named"
    """A path or place that is only mentioned; that it is there is implied."""
    DEFINED = "defined"
    """A function, class or heading that stands at a place."""
    CALLED = "called"
    IMPORTED = "imported"
    EMPTY = "empty"
    PLACE = "place"
    """Where an inline comment stands."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a text says is so; a claim of absence has `holds` false."""

    type: ClaimType
    text: str
    path: str | None = None
    line: int | None = None
    end_line: int | None = None
    subject: str = ""
    """The words, name, key, package, check or state that it is about."""
    value: str = ""
    """What the subject is said to be: a value, a version, `pass` or `fail`, a count."""
    holds: bool = True
    form: ClaimForm = ClaimForm.STATED
    cited: bool = False
    """The text itself says where this was seen."""
    qualified: bool = False
    """It says more than one observation can show: how often, only there, in which case."""


def claim_requirement(kind: ClaimType, rules: GroundingRules) -> Requirement:
    """What the repository asks of claims of this type; a type that no list names needs nothing."""
    if kind in rules.mandatory:
        return Requirement.MANDATORY
    return Requirement.RECOMMENDED if kind in rules.recommended else Requirement.NOT_REQUIRED


class ClaimOutcome(StrEnum):
    """Whether what was claimed is so."""

    VERIFIED = "verified"
    CONTRADICTED = "contradicted"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The outcome of one claim."""

    outcome: ClaimOutcome
    tool: GroundingTool | None
    """None where nothing was looked at."""
    note: str = ""
    """What was seen instead, or why nothing was: words that can end a sentence."""
    check: str = ""
    """The check run that showed it."""
    nearest: str | None = None
    path: str | None = None
    line: int | None = None
    end_line: int | None = None
    moved_from: int | None = None


def verified_result(
    tool: GroundingTool, path: str | None = None, line: int | None = None, end: int | None = None
) -> ClaimResult:
    """It is so, seen there."""
    return ClaimResult(ClaimOutcome.VERIFIED, tool, path=path, line=line, end_line=end)


def contradicted_result(
    tool: GroundingTool, note: str, nearest: str | None = None, path: str | None = None
) -> ClaimResult:
    """It is not so."""
    return ClaimResult(ClaimOutcome.CONTRADICTED, tool, note, nearest=nearest, path=path)


def unverifiable_result(note: str, tool: GroundingTool | None = None, path: str | None = None) -> ClaimResult:
    """Nobody can say from what was seen."""
    return ClaimResult(ClaimOutcome.UNVERIFIABLE, tool, note, path=path)
