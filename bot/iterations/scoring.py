"""Score each iteration in five dimensions, and find the best one.

A score is rounded once, to four places, when it is computed; every comparison uses that number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.findings.model import is_blocking
from bot.gates.config import DiffSizeBand, QualityDimension, ScoreWeights
from bot.gates.model import Aspect, Gates
from bot.iterations.model import Iteration
from bot.pull_request.checks import GATES_CHECK_NAME, CheckResult
from bot.pull_request.diff import Diff
from bot.pull_request.model import Item

SCORE_DECIMALS = 4
MIN_DIMENSIONS = 2
"""Dimensions that must have been observed for a score."""
MAX_WHILE_BLOCKED = 0.69
"""The highest score while a blocking finding is open."""


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """One dimension's value from 0 to 1, and the reasons."""

    dimension: QualityDimension
    value: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """The weighted sum of what was observed; it ranks an author's revisions and overrules nobody."""

    value: float
    measures: tuple[DimensionScore, ...]
    unobserved: tuple[QualityDimension, ...] = ()
    decided: str = ""
    """What weighed most, in a few words."""


@dataclass(frozen=True, slots=True)
class ScoredIteration:
    """An iteration with the check results, every file by its hash, and the score."""

    iteration: Iteration
    score: Score | None = None
    """None if nothing observed it."""
    checks: tuple[CheckResult, ...] = ()
    diff: Diff | None = None
    """Against its merge base; None if it could not be read."""
    base: str | None = None
    """The merge base."""
    tree: str | None = None
    available: bool = True
    """False where GitHub no longer has the commit."""

    @property
    def number(self) -> int:
        """The iteration's number."""
        return self.iteration.number

    @property
    def head(self) -> str:
        """The reviewed commit."""
        return self.iteration.head

    @property
    def quality(self) -> float | None:
        """The score's value."""
        return None if self.score is None else self.score.value

    @property
    def failed_checks(self) -> int:
        """Number of failed checks."""
        return sum(check.has_failed for check in counted_checks(self.checks))


def score_iteration(
    scored: ScoredIteration, gates: Gates, weights: ScoreWeights, band: DiffSizeBand
) -> Score | None:
    """Return the score over the observed dimensions, weights renormalised; None if too few were.

    While something blocks it stays below the acceptance threshold, whatever else is good.
    """
    measures = _measures(scored, gates, weights, band)
    total = sum(weights.dimensions[measure.dimension] for measure in measures)
    if not total or len(measures) < MIN_DIMENSIONS:
        return None
    value = sum(weights.dimensions[measure.dimension] * measure.value for measure in measures) / total
    if any(is_blocking(item, gates) for item in scored.iteration.open_items):
        value = min(value, MAX_WHILE_BLOCKED)
    observed = {measure.dimension for measure in measures}
    return Score(
        value=round(value, SCORE_DECIMALS),
        measures=measures,
        unobserved=tuple(dimension for dimension in QualityDimension if dimension not in observed),
        decided=_deciding_text(measures, weights),
    )


def counted_checks(checks: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """Return the completed checks of others, each check of an App once, by its newest run."""
    # Our own check only repeats the verdicts, so it never counts.
    others = (check for check in checks if check.name != GATES_CHECK_NAME)
    latest = {check.validator_key: check for check in sorted(others, key=lambda check: check.run_id)}
    return tuple(check for check in latest.values() if check.has_passed or check.has_failed)


def item_severity(item: Item, gates: Gates) -> str:
    """Return the severity of an item: from its document, else from its gate."""
    if item.severity is not None:
        return item.severity
    if not is_blocking(item, gates):
        return "minor"
    return "critical" if item_aspect(item, gates) is Aspect.SECURITY else "major"


def item_aspect(item: Item, gates: Gates) -> Aspect:
    """Return the aspect of an item; correctness where nothing states it."""
    gate = gates.get(item.tag) if item.tag else None
    if item.aspect in set(Aspect):
        return Aspect(item.aspect)
    return gate.aspect if gate else Aspect.CORRECTNESS


def distinct_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return each item once: the same tag at the same location, or named without one beside it, is one."""
    placed = {item.tag for item in items if item.place is not None}
    first: dict[tuple[object, ...], Item] = {}
    for item in items:
        if item.tag in placed and item.tag is not None and item.place is None and not item.words:
            continue
        words = () if item.tag is not None and item.place is not None else (item.aspect, item.words)
        first.setdefault((item.tag, item.place, *words), item)
    return tuple(first.values())


def _measures(
    scored: ScoredIteration, gates: Gates, weights: ScoreWeights, band: DiffSizeBand
) -> tuple[DimensionScore, ...]:
    checks = counted_checks(scored.checks)
    failed_tests = tuple(check.name for check in checks if check.is_test and check.has_failed)
    dimensions = [QualityDimension.COMPLETENESS, QualityDimension.CORRECTNESS, QualityDimension.READABILITY]
    if not scored.iteration.standing:
        # A failed test says that it is not correct, even where no verdict stands.
        dimensions = [QualityDimension.CORRECTNESS] if failed_tests else []
    scores = [_verdict_dimension(dimension, scored.iteration, gates, weights) for dimension in dimensions]
    scores = [_apply_failed_tests(measure, failed_tests) for measure in scores]
    if checks:
        scores.insert(0, _validation(checks))
    if scored.diff is not None:
        items = _verdict_dimension(QualityDimension.EFFICIENCY, scored.iteration, gates, weights)
        scores.append(_efficiency(items, scored.diff.lines, band))
    return tuple(scores)


def _validation(checks: Sequence[CheckResult]) -> DimensionScore:
    passed = sum(check.has_passed for check in checks)
    noun = "check" if len(checks) == 1 else "checks"
    text = f"{passed} of {len(checks)} {noun} passed"
    return DimensionScore(QualityDimension.VALIDATION, round(passed / len(checks), SCORE_DECIMALS), (text,))


def _verdict_dimension(
    dimension: QualityDimension, iteration: Iteration, gates: Gates, weights: ScoreWeights
) -> DimensionScore:
    costs = [
        (item.tag or item_aspect(item, gates).value, item_severity(item, gates))
        for item in distinct_items(iteration.open_items)
        if weights.aspects[item_aspect(item, gates)] is dimension
    ]
    lost = sum(weights.severities.get(severity, weights.severities["minor"]) for _, severity in costs)
    reasons = tuple(f"{name} is {severity}" for name, severity in costs)
    return DimensionScore(
        dimension, round(max(0.0, 1.0 - lost), SCORE_DECIMALS), reasons or ("no open item",)
    )


def _apply_failed_tests(measure: DimensionScore, failed_tests: tuple[str, ...]) -> DimensionScore:
    if measure.dimension is not QualityDimension.CORRECTNESS or not failed_tests:
        return measure
    reasons = tuple(f"the test check {name} failed" for name in failed_tests)
    return DimensionScore(measure.dimension, 0.0, reasons)


def _efficiency(items: DimensionScore, lines: int, band: DiffSizeBand) -> DimensionScore:
    """Return the items' score, lowered in proportion where the diff is outside the band."""
    fit = min(1.0, lines / band.min if band.min else 1.0, band.max / lines if lines else 1.0)
    where = "within" if fit == 1.0 else "outside"
    size = f"{lines} changed lines, {where} {band.min} to {band.max}"
    reasons = (*(reason for reason in items.reasons if reason != "no open item"), size)
    return DimensionScore(items.dimension, round(items.value * fit, SCORE_DECIMALS), reasons)


def _deciding_text(measures: Sequence[DimensionScore], weights: ScoreWeights) -> str:
    """Name the dimension that cost most, beside the checks, which people look at first."""
    checks = [measure.reasons[0] for measure in measures if measure.dimension is QualityDimension.VALIDATION]
    others = [measure for measure in measures if measure.dimension is not QualityDimension.VALIDATION]
    worst = max(others, key=lambda measure: _cost(measure, weights), default=None)
    if worst is None:
        worst_text = "no standing verdict"
    elif worst.value == 1.0:
        worst_text = "no open item"
    else:
        worst_text = f"{worst.dimension} {worst.value:.2f}"
    return ", ".join((worst_text, *checks))


def _cost(measure: DimensionScore, weights: ScoreWeights) -> float:
    return round(weights.dimensions[measure.dimension] * (1 - measure.value), SCORE_DECIMALS)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """All iterations of a pull request in order, and the number of the one that it is in."""

    scored: tuple[ScoredIteration, ...]
    present: int

    @property
    def best(self) -> ScoredIteration | None:
        """The highest score of all; of equal ones the earliest."""
        return best_iteration(self.scored)

    @property
    def final(self) -> ScoredIteration:
        """The iteration that the branch shows: the last, or one that it was forced back to."""
        return next(scored for scored in self.scored if scored.number == self.present)

    @property
    def trail(self) -> tuple[int | None, ...]:
        """The number of the best after each iteration."""
        bests = (best_iteration(self.scored[: count + 1]) for count in range(len(self.scored)))
        return tuple(None if best is None else best.number for best in bests)


def build_trajectory(
    iterations: Iterable[ScoredIteration],
    present: int,
    gates: Gates,
    weights: ScoreWeights,
    band: DiffSizeBand,
) -> Trajectory:
    """Score every iteration: a check that ends late changes the score of its own iteration.

    One that is rejected without any item is not known to be better than any other, so it has no score.
    """
    scored = (
        scored
        if scored.iteration.is_rejected_without_items
        else replace(scored, score=score_iteration(scored, gates, weights, band))
        for scored in iterations
    )
    return Trajectory(tuple(scored), present)


def best_iteration(scored: Iterable[ScoredIteration]) -> ScoredIteration | None:
    """Return the running best: only a strictly greater score replaces it, so a tie keeps the earlier."""
    best: ScoredIteration | None = None
    for iteration in scored:
        if iteration.quality is not None and (best is None or iteration.quality > (best.quality or 0.0)):
            best = iteration
    return best


def quality_delta(before: ScoredIteration | None, after: ScoredIteration) -> float | None:
    """Return the change of quality, to four places; None if either was not observed."""
    if before is None or before.quality is None or after.quality is None:
        return None
    return round(after.quality - before.quality, SCORE_DECIMALS)


_UNKNOWN = "–"


def format_scores(scored: Iterable[ScoredIteration]) -> tuple[str, ...]:
    """Format the scores: two places, or four where two different ones would look the same."""
    values = [iteration.quality for iteration in scored]
    short, exact = ([_format_value(value, form) for value in values] for form in ("{:.2f}", "{:.4f}"))
    # Only neighbours in value can be confused; telling all of them exactly keeps the column even.
    return tuple(short if len(set(short)) == len(set(exact)) else exact)


def format_percents(scored: Iterable[ScoredIteration]) -> tuple[str, ...]:
    """Format the scores in percent: whole, or with two places where different ones would look the same."""
    scores = format_scores(scored)  # rounded once, so that 0.33 is never 32%
    return tuple(text if text == _UNKNOWN else _percent(text) for text in scores)


def _percent(score: str) -> str:
    return f"{float(score) * 100:.{max(0, len(score) - 4)}f}%"


def _format_value(value: float | None, form: str) -> str:
    return _UNKNOWN if value is None else form.format(value)
