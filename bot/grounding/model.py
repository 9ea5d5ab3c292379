"""Claims, and the result of verifying one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.gates.config import ClaimType, GroundingRules, GroundingTool


class Requirement(StrEnum):
    """Whether a claim of a type has to be grounded in an observation."""

    MANDATORY = "mandatory"
    RECOMMENDED = "recommended"
    NOT_REQUIRED = "not_required"


class ClaimForm(StrEnum):
    """How a claim is phrased, where one type can be claimed in several ways."""

    STATED = "stated"
    NAMED = "named"
    """A path or location that is only mentioned; that it exists is implied."""
    DEFINED = "defined"
    """A function, class or heading at a location."""
    CALLED = "called"
    IMPORTED = "imported"
    EMPTY = "empty"
    PLACE = "place"
    """The location of an inline comment."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a text about the code; a claim of absence has `holds` false."""

    type: ClaimType
    text: str
    path: str | None = None
    line: int | None = None
    end_line: int | None = None
    subject: str = ""
    """The text, name, key, package, check or state that it is about."""
    value: str = ""
    """What the subject is said to be: a value, a version, `pass` or `fail`, a count."""
    holds: bool = True
    form: ClaimForm = ClaimForm.STATED
    cited: bool = False
    """The text itself names its source."""
    qualified: bool = False
    """It says more than one observation can show: how often, only there, in which case."""


def claim_requirement(kind: ClaimType, rules: GroundingRules) -> Requirement:
    """Return the repository's requirement for a claim type; one that no list names is not required."""
    if kind in rules.mandatory:
        return Requirement.MANDATORY
    return Requirement.RECOMMENDED if kind in rules.recommended else Requirement.NOT_REQUIRED


class ClaimOutcome(StrEnum):
    """Whether the observations support a claim."""

    VERIFIED = "verified"
    CONTRADICTED = "contradicted"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The outcome of one claim."""

    outcome: ClaimOutcome
    tool: GroundingTool | None
    """None if nothing was read."""
    note: str = ""
    """What was seen instead, or why nothing was: the end of a sentence."""
    check: str = ""
    """The check run that showed it."""
    nearest: str | None = None
    path: str | None = None
    line: int | None = None
    end_line: int | None = None
    moved_from: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What was read to verify a claim, and the results that it leads to."""

    tool: GroundingTool | None = None
    path: str | None = None
    check: str = ""

    def verified(self, line: int | None = None, end: int | None = None) -> ClaimResult:
        """Return the result of a claim that holds, with where it was seen."""
        return self._result(ClaimOutcome.VERIFIED, line=line, end_line=end)

    def contradicted(self, note: str, nearest: str | None = None) -> ClaimResult:
        """Return the result of a claim that does not hold."""
        return self._result(ClaimOutcome.CONTRADICTED, note, nearest=nearest)

    def decided(self, is_true: bool, note: str) -> ClaimResult:  # noqa: FBT001  # the outcome itself
        """Return the result of a claim that was seen to be true or not; the note says what was seen."""
        return self.verified() if is_true else self.contradicted(note)

    def unverifiable(self, note: str) -> ClaimResult:
        """Return the result of a claim that the observations do not decide."""
        return self._result(ClaimOutcome.UNVERIFIABLE, note)

    def _result(self, outcome: ClaimOutcome, note: str = "", **more: Any) -> ClaimResult:
        return ClaimResult(outcome, self.tool, note, path=self.path, check=self.check, **more)


UNREAD, IN_CHECKS = Source(), Source(GroundingTool.CHECKS)
IN_PULL_REQUEST = Source(GroundingTool.PULL_REQUEST)


def in_file(path: str | None = None) -> Source:
    """Return the contents of a file as a source."""
    return Source(GroundingTool.CONTENTS, path)


def in_tree(path: str | None = None) -> Source:
    """Return the list of files as a source."""
    return Source(GroundingTool.TREE, path)
