"""How good an iteration is against the author's other ones, in five dimensions, and what says so.

A score is rounded once, to four places, when it is computed; every comparison uses that number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.domain.check_result import CheckResult
from bot.domain.diff import Diff
from bot.domain.gates import Aspect, Gates
from bot.domain.iterations import Iteration
from bot.domain.model import Item
from bot.domain.rules import Band
from bot.domain.weights import Dimension, Weights

PLACES = 4
OWN_CHECK = "whetstone/gates"
"""Our own check only repeats the verdicts, so it never counts."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is kept of one iteration: its verdicts, how the checks ended, and every file by its hash."""

    iteration: Iteration
    checks: tuple[CheckResult, ...] = ()
    diff: Diff | None = None
    """Against the base that it grew from; None where it could not be read."""
    tree: str | None = None
    available: bool = True
    """False where GitHub no longer has the commit."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One dimension's value from 0 to 1, and the reasons."""

    dimension: Dimension
    value: float
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """The weighted sum of what was observed; it ranks an author's revisions and overrules nobody."""

    value: float
    measures: tuple[Measure, ...]
    unobserved: tuple[Dimension, ...] = ()
    decided: str = ""
    """What weighed most, in a few words of our own."""

    def of(self, dimension: Dimension) -> Measure | None:
        """The measure of this dimension, or None where nothing observed it."""
        return next((measure for measure in self.measures if measure.dimension is dimension), None)


def score(seen: Snapshot, gates: Gates, weights: Weights, band: Band) -> Score | None:
    """Return the score over the observed dimensions, weights renormalised; None where nothing was seen."""
    measures = _measures(seen, gates, weights, band)
    total = sum(weights.dimensions[measure.dimension] for measure in measures)
    if not total:
        return None
    value = sum(weights.dimensions[measure.dimension] * measure.value for measure in measures) / total
    observed = {measure.dimension for measure in measures}
    return Score(
        value=round(value, PLACES),
        measures=measures,
        unobserved=tuple(dimension for dimension in Dimension if dimension not in observed),
        decided=_decided(measures, weights),
    )


def counted_checks(checks: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """Return the completed checks of others, each name once: a repeated run replaces the one before."""
    latest = {check.name: check for check in checks if check.name != OWN_CHECK}
    return tuple(check for check in latest.values() if check.passed or check.failed)


def severity(item: Item, gates: Gates) -> str:
    """Return how much an item matters: what its document says, else what its gate says."""
    if item.severity is not None:
        return item.severity
    gate = gates.get(item.tag) if item.tag else None
    if gate is None or not gate.is_blocking or item.inferred is not None:
        return "minor"
    return "critical" if aspect(item, gates) is Aspect.SECURITY else "major"


def aspect(item: Item, gates: Gates) -> Aspect:
    """Return the side of quality that an item is about; correctness where nobody says."""
    gate = gates.get(item.tag) if item.tag else None
    if item.aspect in set(Aspect):
        return Aspect(item.aspect)
    return gate.aspect if gate else Aspect.CORRECTNESS


def distinct(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return each problem once: the same tag at the same place, or barely named beside a place, is one."""
    placed = {item.tag for item in items if item.place is not None}
    first: dict[tuple[object, ...], Item] = {}
    for item in items:
        if item.tag in placed and item.tag is not None and item.place is None and not item.words:
            continue
        first.setdefault(_identity(item), item)
    return tuple(first.values())


def _identity(item: Item) -> tuple[object, ...]:
    if item.tag is not None and item.place is not None:
        return item.tag, item.place
    return item.tag, item.aspect, item.place, item.words


def _measures(seen: Snapshot, gates: Gates, weights: Weights, band: Band) -> tuple[Measure, ...]:
    checks = counted_checks(seen.checks)
    failed_tests = tuple(check.name for check in checks if check.is_test and check.failed)
    judged = [Dimension.COMPLETENESS, Dimension.CORRECTNESS, Dimension.READABILITY]
    if not seen.iteration.standing:
        # A failed test says that it is not correct, even where no verdict stands.
        judged = [Dimension.CORRECTNESS] if failed_tests else []
    found = [_judged(dimension, seen.iteration, gates, weights) for dimension in judged]
    found = [_tested(measure, failed_tests) for measure in found]
    if checks:
        found.insert(0, _validation(checks))
    if seen.diff is not None:
        items = _judged(Dimension.EFFICIENCY, seen.iteration, gates, weights)
        found.append(_efficiency(items, seen.diff.lines, band))
    return tuple(found)


def _validation(checks: Sequence[CheckResult]) -> Measure:
    passed = sum(check.passed for check in checks)
    noun = "check" if len(checks) == 1 else "checks"
    text = f"{passed} of {len(checks)} {noun} passed"
    return Measure(Dimension.VALIDATION, round(passed / len(checks), PLACES), (text,))


def _judged(dimension: Dimension, iteration: Iteration, gates: Gates, weights: Weights) -> Measure:
    costs = [
        (item.tag or aspect(item, gates).value, severity(item, gates))
        for item in distinct(iteration.open_items)
        if weights.aspects[aspect(item, gates)] is dimension
    ]
    lost = sum(weights.severities.get(how, weights.severities["minor"]) for _, how in costs)
    because = tuple(f"{name} is {how}" for name, how in costs)
    return Measure(dimension, round(max(0.0, 1.0 - lost), PLACES), because or ("no open item",))


def _tested(measure: Measure, failed_tests: tuple[str, ...]) -> Measure:
    if measure.dimension is not Dimension.CORRECTNESS or not failed_tests:
        return measure
    because = tuple(f"the test check {name} failed" for name in failed_tests)
    return Measure(measure.dimension, 0.0, because)


def _efficiency(items: Measure, lines: int, band: Band) -> Measure:
    """Return the items' value, lowered in proportion where the diff is outside the band."""
    fit = min(1.0, lines / band.min if band.min else 1.0, band.max / lines if lines else 1.0)
    where = "within" if fit == 1.0 else "outside"
    size = f"{lines} changed lines, {where} {band.min} to {band.max}"
    because = (*(reason for reason in items.because if reason != "no open item"), size)
    return Measure(items.dimension, round(items.value * fit, PLACES), because)


def _decided(measures: Sequence[Measure], weights: Weights) -> str:
    """Return the dimension that cost most, beside the checks, which people look at first."""
    checks = [measure.because[0] for measure in measures if measure.dimension is Dimension.VALIDATION]
    others = [measure for measure in measures if measure.dimension is not Dimension.VALIDATION]
    worst = max(others, key=lambda measure: _cost(measure, weights), default=None)
    if worst is None:
        first = "no standing verdict"
    elif worst.value == 1.0:
        first = "no open item"
    else:
        first = f"{worst.dimension} {worst.value:.2f}"
    return ", ".join((first, *checks))


def _cost(measure: Measure, weights: Weights) -> float:
    return round(weights.dimensions[measure.dimension] * (1 - measure.value), PLACES)
