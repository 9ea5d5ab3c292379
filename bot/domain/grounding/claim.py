"""What does a sentence claim, and does it have to be looked up?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.choices import ClaimType
from bot.domain.rules import Grounding


class Requirement(StrEnum):
    """Whether a claim of a type has to be grounded in an observation."""

    MANDATORY = "mandatory"
    RECOMMENDED = "recommended"
    NOT_REQUIRED = "not_required"


class Form(StrEnum):
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
    form: Form = Form.STATED
    cited: bool = False
    """The text itself says where this was seen."""
    qualified: bool = False
    """It says more than one observation can show: how often, only there, in which case."""


def requirement(kind: ClaimType, rules: Grounding) -> Requirement:
    """What the repository asks of claims of this type; a type that no list names needs nothing."""
    if kind in rules.mandatory:
        return Requirement.MANDATORY
    return Requirement.RECOMMENDED if kind in rules.recommended else Requirement.NOT_REQUIRED
