"""Scores over the iterations of a pull request, and whether the last one got worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise, takewhile

from bot import regex
from bot.gates.config import CheckKind, DegradationLimits, QualityDimension, RepositoryRules
from bot.gates.model import Aspect, Gates
from bot.iterations.model import Iteration
from bot.iterations.scoring import (
    Score,
    ScoredIteration,
    Trajectory,
    best_iteration,
    build_trajectory,
    counted_checks,
    distinct_items,
    item_aspect,
    quality_delta,
)
from bot.pull_request.diff import Diff, added_lines
from bot.pull_request.model import FrozenScore, PullRequest, Revision

EARLY_ITERATIONS = 3
"""Quality often peaks by this iteration, and falls after it."""

_STYLE = frozenset({Aspect.STYLE, Aspect.CONSISTENCY})


class Trigger(StrEnum):
    """The triggers that flag an iteration as degraded."""

    QUALITY_DELTA = "quality_delta"
    CONSECUTIVE_DECREASES = "consecutive_decreases"
    VALIDATION_FAILURES_INCREASED = "validation_failures_increased"


class Cause(StrEnum):
    """Possible causes of a degradation."""

    OVER_REFINEMENT = "over-refinement"
    SCOPE_CREEP = "scope creep"
    STYLE_DRIFT = "style drift"
    INFORMATION_LOSS = "information loss"


MITIGATION = {
    Cause.OVER_REFINEMENT: "stop at the best iteration",
    Cause.SCOPE_CREEP: "keep to what the pull request is for",
    Cause.STYLE_DRIFT: "keep the approach of the iterations before",
    Cause.INFORMATION_LOSS: "keep the details that were there",
}


@dataclass(frozen=True, slots=True)
class DegradationSign:
    """A cause together with its evidence."""

    cause: Cause
    reason: str


@dataclass(frozen=True, slots=True)
class Degradation:
    """The change of one iteration against the one before."""

    iteration: int
    delta: float | None = None
    triggers: tuple[Trigger, ...] = ()
    signs: tuple[DegradationSign, ...] = ()

    @property
    def is_degraded(self) -> bool:
        """Whether the quality fell at all."""
        return self.delta is not None and self.delta < 0

    @property
    def is_flagged(self) -> bool:
        """Whether one of the triggers holds."""
        return bool(self.triggers)


def detect_degradation(
    history: Sequence[ScoredIteration], gates: Gates, limits: DegradationLimits, maximum: int
) -> Degradation:
    """Return the change of the last of these iterations; causes are looked for only where it got worse."""
    if len(history) < 2:
        return Degradation(history[-1].number)
    before, last = history[-2:]
    change = quality_delta(before, last)
    is_worse = change is not None and change < 0
    triggers = {
        Trigger.QUALITY_DELTA: change is not None and change < -limits.drop,
        Trigger.CONSECUTIVE_DECREASES: _count_drops(history) >= limits.drops_in_a_row,
        # No checks observed is not the same as none failed.
        Trigger.VALIDATION_FAILURES_INCREASED: bool(counted_checks(before.checks))
        and last.failed_checks > before.failed_checks,
    }
    held = tuple(trigger for trigger, holds in triggers.items() if holds)
    signs = _find_signs(history, gates, limits, maximum) if held or is_worse else ()
    return Degradation(last.number, change, held, signs)


def render_degradation(degradation: Degradation) -> str:
    """Render a few sentences about a flagged iteration; empty if it is not flagged."""
    if not degradation.is_flagged:
        return ""
    texts = {
        Trigger.QUALITY_DELTA: f"quality {degradation.delta or 0.0:+.2f}",
        Trigger.CONSECUTIVE_DECREASES: "it fell twice in a row",
        Trigger.VALIDATION_FAILURES_INCREASED: "more checks failed than before",
    }
    reasons = ", ".join(texts[trigger] for trigger in degradation.triggers)
    parts = [f"Iteration {degradation.iteration} degraded: {reasons}."]
    parts += [
        f"{sign.cause.capitalize()}: {sign.reason}; {MITIGATION[sign.cause]}." for sign in degradation.signs
    ]
    if degradation.is_degraded and degradation.iteration > EARLY_ITERATIONS:
        parts.append("Quality often peaks at iteration 2 or 3: consider stopping at the best one.")
    return " ".join(parts)


def _count_drops(history: Sequence[ScoredIteration]) -> int:
    """Return how many times in a row the quality fell, up to the last iteration."""
    changes = [quality_delta(before, after) for before, after in pairwise(history)]
    return sum(1 for _ in takewhile(lambda change: change is not None and change < 0, reversed(changes)))


def _find_signs(
    history: Sequence[ScoredIteration], gates: Gates, limits: DegradationLimits, maximum: int
) -> tuple[DegradationSign, ...]:
    first, before, last = history[0], history[-2], history[-1]
    reasons = {Cause.OVER_REFINEMENT: _over_refinement(history, limits, maximum)}
    if last.diff is not None and before.diff is not None:
        counts = _count_rewritten(before.diff, last.diff)
        rise = _style_items(before, gates), _style_items(last, gates)
        reasons[Cause.STYLE_DRIFT] = _style_drift(rise, counts, limits)
        if first.diff is not None:
            reasons[Cause.SCOPE_CREEP] = _scope_creep(first.diff, before.diff, last.diff, limits)
        reasons[Cause.INFORMATION_LOSS] = _information_loss(counts, limits)
    return tuple(DegradationSign(cause, reason) for cause, reason in reasons.items() if reason)


def _over_refinement(history: Sequence[ScoredIteration], limits: DegradationLimits, maximum: int) -> str:
    peak, last = best_iteration(history), history[-1]
    since = 0 if peak is None else last.number - peak.number
    if since >= limits.iterations_since_best:
        return f"{since} iterations since the best, none of them better"
    return f"iteration {last.number} of a budget of {maximum}" if last.number > maximum else ""


def _scope_creep(first: Diff, before: Diff, last: Diff, limits: DegradationLimits) -> str:
    """Return the growth since iteration 1, where this very change added to it."""
    sizes = (
        ("lines", first.lines, before.lines, last.lines, limits.growth_lines),
        ("files", len(first.files), len(before.files), len(last.files), limits.growth_files),
    )
    for noun, start, previous, now, least in sizes:
        if now > previous and now - start >= least and now >= limits.growth * start:
            return f"the diff grew from {start} to {now} {noun} since iteration 1"
    return ""


def _style_drift(items: tuple[int, int], counts: tuple[int, int, int], limits: DegradationLimits) -> str:
    """Return the rewritten lines, where items about style and consistency rose with them.

    The items alone show no change of approach: a duplicate is one of consistency, too.
    """
    (items_before, items_now), (lines_before, lost, gained) = items, counts
    rewritten = min(lost, gained)
    if items_now - items_before < limits.style_items:
        return ""
    if rewritten < limits.lost_lines or rewritten < limits.lost_share * lines_before:
        return ""
    rise = f"open items about style and consistency rose from {items_before} to {items_now}"
    return f"{rewritten} of the {lines_before} lines added before were rewritten, and {rise}"


def _style_items(scored: ScoredIteration, gates: Gates) -> int:
    return sum(item_aspect(item, gates) in _STYLE for item in distinct_items(scored.iteration.open_items))


def _information_loss(counts: tuple[int, int, int], limits: DegradationLimits) -> str:
    lines_before, lost, gained = counts
    is_lost = lost >= limits.lost_lines and lost > gained and lost >= limits.lost_share * lines_before
    return f"{lost} of the {lines_before} lines added before are gone" if is_lost else ""


def _count_rewritten(before: Diff, last: Diff) -> tuple[int, int, int]:
    """Return how many lines had been added, how many of them are gone, and how many replace them."""
    unknown = {file.path for file in last.files if file.patch is None}
    readable = Diff(tuple(file for file in before.files if file.path not in unknown))
    lines_before, lines_now = added_lines(readable), added_lines(last)
    return lines_before.total(), (lines_before - lines_now).total(), (lines_now - lines_before).total()


_TEST_WORD = regex.Regex(r"(?:^|[^a-z])(?:tests?|testing|pytest|unittests?|e2e|specs?)(?:$|[^a-z])")


@dataclass(frozen=True, slots=True)
class Progress:
    """The trajectory, the change of each step from the second on, and the gates used."""

    trajectory: Trajectory
    degradations: tuple[Degradation, ...]
    """One for each iteration from the second on."""
    present: Degradation
    """The change of the current iteration against the one before."""
    gates: Gates

    @property
    def quality(self) -> float | None:
        """The score of the current iteration; None if nothing observed it."""
        return self.trajectory.final.quality

    @property
    def best(self) -> ScoredIteration:
        """The best so far; the current one where none could be scored."""
        return self.trajectory.best or self.trajectory.final

    def quality_of(self, iteration: Iteration | None) -> float | None:
        """The score of this iteration."""
        number = iteration.number if iteration else 0
        return next((scored.quality for scored in self.trajectory.scored if scored.number == number), None)


def measure_progress(
    pull_request: PullRequest, iterations: Sequence[Iteration], current: Iteration, rules: RepositoryRules
) -> Progress:
    """Score every iteration; one that is over keeps the score it had when the next one started."""
    weights, limits = rules.scoring.weights, rules.scoring.limits
    by_head = {revision.head: revision for revision in pull_request.revisions}
    unscored = (_add_revision(iteration, by_head.get(iteration.head), rules) for iteration in iterations)
    trajectory = build_trajectory(unscored, current.number, rules.gates, weights, rules.iterations.diff_size)
    trajectory = _apply_frozen_scores(trajectory, pull_request.scores)
    steps = tuple(
        detect_degradation(trajectory.scored[:count], rules.gates, limits, rules.iterations.max)
        for count in range(1, len(trajectory.scored) + 1)
    )
    return Progress(trajectory, steps[1:], steps[current.number - 1], rules.gates)


def freeze_scores(pull_request: PullRequest, progress: Progress) -> PullRequest:
    """Store the scores of the iterations that are over, so that nothing later changes them."""
    frozen = {score.number for score in pull_request.scores}
    added = tuple(
        FrozenScore(
            scored.number,
            scored.head,
            scored.quality,
            scored.score.decided if scored.score else "",
            tuple(dimension.value for dimension in scored.score.unobserved) if scored.score else (),
        )
        for scored in progress.trajectory.scored[:-1]
        if scored.number not in frozen
    )
    return replace(pull_request, scores=(*pull_request.scores, *added)) if added else pull_request


def _apply_frozen_scores(trajectory: Trajectory, scores: Sequence[FrozenScore]) -> Trajectory:
    frozen = {(score.number, score.head): score for score in scores}
    scored = (_freeze(scored, frozen.get((scored.number, scored.head))) for scored in trajectory.scored)
    return replace(trajectory, scored=tuple(scored))


def _freeze(scored: ScoredIteration, frozen: FrozenScore | None) -> ScoredIteration:
    if frozen is None or frozen.value is None:
        return replace(scored, score=None) if frozen else scored
    unobserved = tuple(map(QualityDimension, frozen.unobserved))
    measures = scored.score.measures if scored.score else ()
    return replace(scored, score=Score(frozen.value, measures, unobserved, frozen.decided))


def is_test_check(check: str, rules: RepositoryRules) -> bool:
    """Whether a check runs tests: as the config says, else by its name."""
    rule = next((check_rule for check_rule in rules.validators.checks if check_rule.covers(check)), None)
    if rule is not None and rule.kind is not None:
        return rule.kind is CheckKind.TESTS
    return _TEST_WORD.search(check.lower()) is not None


def _add_revision(iteration: Iteration, revision: Revision | None, rules: RepositoryRules) -> ScoredIteration:
    if revision is None:
        return ScoredIteration(iteration)
    return ScoredIteration(
        iteration,
        checks=tuple(replace(check, is_test=is_test_check(check.name, rules)) for check in revision.checks),
        diff=None if revision.files is None else Diff(revision.files),
        base=revision.base,
        tree=revision.tree,
        available=not revision.gone,
    )
