"""What counts for how much when iterations are weighed against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.gates import Aspect


class Dimension(StrEnum):
    """The sides of quality that are weighed, heaviest first."""

    VALIDATION = "validation"
    COMPLETENESS = "completeness"
    CORRECTNESS = "correctness"
    READABILITY = "readability"
    EFFICIENCY = "efficiency"


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each dimension and each open item weighs, and which aspect belongs where."""

    dimensions: Mapping[Dimension, float]
    severities: Mapping[str, float]
    aspects: Mapping[Aspect, Dimension]


@dataclass(frozen=True, slots=True)
class Limits:
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
class Scoring:
    """All of it, as the product's rule file says."""

    weights: Weights
    limits: Limits


SCORING = Scoring(
    Weights(
        dimensions={
            Dimension.VALIDATION: 0.30,
            Dimension.COMPLETENESS: 0.25,
            Dimension.CORRECTNESS: 0.25,
            Dimension.READABILITY: 0.10,
            Dimension.EFFICIENCY: 0.10,
        },
        severities={"critical": 1.0, "major": 0.4, "minor": 0.1, "suggestion": 0.05},
        aspects={
            Aspect.COMPLETENESS: Dimension.COMPLETENESS,
            Aspect.DOCUMENTATION: Dimension.COMPLETENESS,
            Aspect.TESTABILITY: Dimension.COMPLETENESS,
            Aspect.CORRECTNESS: Dimension.CORRECTNESS,
            Aspect.SECURITY: Dimension.CORRECTNESS,
            Aspect.CONSISTENCY: Dimension.CORRECTNESS,
            Aspect.CLARITY: Dimension.READABILITY,
            Aspect.STYLE: Dimension.READABILITY,
            Aspect.MAINTAINABILITY: Dimension.READABILITY,
            Aspect.EFFICIENCY: Dimension.EFFICIENCY,
        },
    ),
    Limits(
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
