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
