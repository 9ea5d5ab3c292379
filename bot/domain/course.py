"""How the quality of a pull request went so far, from what is kept: scores, the best, what got worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.domain import regex
from bot.domain.check_result import CheckResult
from bot.domain.choices import CheckKind
from bot.domain.degradation import Degradation, degradation
from bot.domain.diff import Diff
from bot.domain.gates import Gates
from bot.domain.iterations import Iteration
from bot.domain.model import PullRequest, Revision
from bot.domain.rules import Rules
from bot.domain.scoring import Snapshot
from bot.domain.trajectory import Scored, Trajectory, trajectory

_TEST_WORD = regex.Pattern(r"(?:^|[^a-z])(?:tests?|testing|pytest|unittests?|e2e|specs?)(?:$|[^a-z])")


@dataclass(frozen=True, slots=True)
class Course:
    """The trajectory, what each step from the second on shows, and the gates that it was measured by."""

    trajectory: Trajectory
    degradations: tuple[Degradation, ...]
    """One for each iteration from the second on."""
    present: Degradation
    """What the present iteration shows against the one before."""
    gates: Gates

    @property
    def quality(self) -> float | None:
        """The score of the present iteration; None where nothing observed it."""
        return self.trajectory.final.quality

    @property
    def best(self) -> Scored:
        """The best so far; the present one where none could be scored."""
        return self.trajectory.best or self.trajectory.final

    def quality_of(self, iteration: Iteration | None) -> float | None:
        """The score of this iteration."""
        number = iteration.number if iteration else 0
        return next((each.quality for each in self.trajectory.scored if each.number == number), None)


def course(pull_request: PullRequest, known: Sequence[Iteration], present: Iteration, rules: Rules) -> Course:
    """Return the course as known now: whatever comes in late changes the score of its own iteration."""
    weights, limits = rules.scoring.weights, rules.scoring.limits
    seen = snapshots(pull_request, known, rules)
    found = trajectory(seen, present.number, rules.gates, weights, rules.iterations.diff_size)
    steps = tuple(
        degradation(found.scored[:count], rules.gates, limits, rules.iterations.max)
        for count in range(1, len(found.scored) + 1)
    )
    return Course(found, steps[1:], steps[present.number - 1], rules.gates)


def snapshots(pull_request: PullRequest, known: Sequence[Iteration], rules: Rules) -> tuple[Snapshot, ...]:
    """Return what is kept of every iteration."""
    by_head = {revision.head: revision for revision in pull_request.revisions}
    return tuple(_snapshot(iteration, by_head.get(iteration.head), rules) for iteration in known)


def is_test(check: str, rules: Rules) -> bool:
    """Whether a check runs tests: as the config says, else by its name."""
    rule = next((each for each in rules.validators.checks if each.covers(check)), None)
    if rule is not None and rule.kind is not None:
        return rule.kind is CheckKind.TESTS
    return _TEST_WORD.search(check.lower()) is not None


def _snapshot(iteration: Iteration, kept: Revision | None, rules: Rules) -> Snapshot:
    if kept is None:
        return Snapshot(iteration)
    return Snapshot(
        iteration,
        checks=tuple(_named(check, rules) for check in kept.checks),
        diff=None if kept.files is None else Diff(kept.files),
        tree=kept.tree,
        available=not kept.gone,
    )


def _named(check: CheckResult, rules: Rules) -> CheckResult:
    return replace(check, is_test=is_test(check.name, rules))
