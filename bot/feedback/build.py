"""Build the feedback on a pull request from its verdicts and iterations."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from bot.feedback.gate_notes import add_grounding_outcomes, render_reviewer_hint
from bot.feedback.model import FailedGate, Feedback, demote_unlocated, find_failed_gates, last_open_gates
from bot.gates.config import RepositoryRules
from bot.gates.model import Aspect, Gates
from bot.history.rates import item_outcomes
from bot.iterations.followup import ItemResponse, item_responses, track_feedback
from bot.iterations.line_tracking import track_files
from bot.iterations.model import (
    Iteration,
    Situation,
    compare_iterations,
    current_iteration,
    decide_outcome,
    iterations_after_rulings,
    previous_iteration,
    repeated_tags,
)
from bot.iterations.progress import measure_progress
from bot.iterations.scoring import ScoredIteration, item_severity
from bot.iterations.selection import build_selection_report
from bot.pull_request.facts import DecisionTime
from bot.pull_request.model import BLOCKING_SEVERITIES, PullRequest, Revision, TrackedIteration
from bot.verdicts.quality import FeedbackText, QualityProblem, find_problems

MAX_TRACKED_ITERATIONS = 50


def track_followup(feedback: Feedback) -> PullRequest:
    """Record how the feedback of each iteration turned out in the next.

    Earlier results stay as they were recorded: the patches that showed them may be gone.
    """
    pull_request, progress = feedback.pull_request, feedback.progress
    if progress is None or len(progress.trajectory.scored) < 2:
        return pull_request
    tracked_by_number = {
        tracked_iteration.iteration: tracked_iteration for tracked_iteration in pull_request.tracked
    }
    pairs = list(pairwise(progress.trajectory.scored))
    for before, after in pairs:
        if before.number not in tracked_by_number or (before, after) == pairs[-1]:
            tracked_by_number[before.number] = _track_iteration(pull_request, before, after, progress.gates)
    tracked = tuple(tracked_by_number[number] for number in sorted(tracked_by_number))[
        -MAX_TRACKED_ITERATIONS:
    ]
    return pull_request if tracked == pull_request.tracked else replace(pull_request, tracked=tracked)


def _track_iteration(
    pull_request: PullRequest, before: ScoredIteration, after: ScoredIteration, gates: Gates
) -> TrackedIteration:
    iteration = before.snapshot.iteration
    revisions = {revision.head: revision for revision in pull_request.revisions}
    locations = [item.place for item in iteration.open_items if item.place]
    old, new = (revisions.get(scored.head, _unread_revision(scored)) for scored in (before, after))
    responses = item_responses(
        iteration, after.snapshot.iteration, track_files(locations, old, new), pull_request.resolved_threads
    )
    tracking = track_feedback(
        responses, before, after, [_quality_problems(response, gates) for response in responses]
    )
    author = f"user:{pull_request.author.id}"
    at = after.snapshot.iteration.reviewed_at
    return TrackedIteration(
        before.number, before.head, tracking, item_outcomes(responses, tracking, author, at)
    )


def _unread_revision(scored: ScoredIteration) -> Revision:
    return Revision(scored.head, scored.snapshot.iteration.reviewed_at)


def _quality_problems(response: ItemResponse, gates: Gates) -> tuple[QualityProblem, ...]:
    """Return the item's quality problems, with the gate's texts where the validator gave none."""
    item = response.item
    gate = gates.get(item.tag) if item.tag else None
    description, fix = (gate.description, gate.fix) if gate else ("", "")
    return find_problems(
        FeedbackText(
            issue=item.words or description,
            action=item.action or fix,
            rationale=item.rationale or description,
            has_place=item.place is not None,
            blocking=item_severity(item, gates) in BLOCKING_SEVERITIES,
        )
    )


def build_feedback(
    pull_request: PullRequest, rules: RepositoryRules, moment: DecisionTime
) -> Feedback | None:
    """Build the feedback, or return None before the first verdict."""
    iterations = iterations_after_rulings(pull_request)
    current = current_iteration(pull_request, iterations)
    if current is None:
        return None
    previous = previous_iteration(iterations, current)
    progress = measure_progress(pull_request, iterations, current, rules)
    gates = find_failed_gates(current.standing, rules.gates, frozenset(previous.keys if previous else ()))
    gates = demote_unlocated(gates) if rules.quality.strict else gates
    gates = add_grounding_outcomes(gates, pull_request.grounding, current.head, rules.grounding)
    repeated = _repeated_blocking_tags(iterations[: current.number], gates, rules)
    return Feedback(
        id=moment.id,
        at=moment.now,
        pull_request=pull_request,
        iteration=current,
        previous=previous,
        changes=compare_iterations(previous, current),
        gates=gates,
        issues=current.tags,
        more=sum(verdict.more for verdict in current.standing),
        verdict=_outcome(current, gates, rules, repeated=bool(repeated)),
        max_iterations=rules.iterations.max,
        best=progress.best.snapshot.iteration,
        score=_score(progress.quality, current),
        previously_open_count=len(last_open_gates(pull_request)),
        grounding=rules.grounding,
        hint=render_reviewer_hint(current.standing, rules),
        repeated=repeated,
        progress=progress,
        weights=rules.scoring.weights.severities,
        report=None
        if pull_request.open or len(iterations) < 2
        else build_selection_report(pull_request, progress, rules),
    )


def _repeated_blocking_tags(
    iterations: tuple[Iteration, ...], gates: tuple[FailedGate, ...], rules: RepositoryRules
) -> tuple[str, ...]:
    blocking = frozenset(gate.tag for gate in gates if gate.blocking and gate.tag)
    return repeated_tags(iterations, blocking, rules.iterations.escalate)


def _outcome(
    current: Iteration, gates: tuple[FailedGate, ...], rules: RepositoryRules, *, repeated: bool
) -> str:
    findings = [(finding, gate) for gate in gates for finding in gate.findings]
    return decide_outcome(
        Situation(
            is_rejected=current.is_rejected,
            has_blocking=any(gate.blocking for gate in gates),
            number=current.number,
            maximum=rules.iterations.max,
            has_repeated=repeated,
            has_critical=any(
                (gate.blocking and gate.gate and gate.gate.aspect is Aspect.SECURITY)
                or finding.item.severity == "critical"
                for finding, gate in findings
            ),
            is_fixable=any(gate.is_auto_fixable or finding.item.suggestion for finding, gate in findings),
        )
    ).value


def _score(quality: float | None, current: Iteration) -> float:
    """Return the score; where nothing was observed, the document still needs a number: the verdict's."""
    return quality if quality is not None else float(not current.is_rejected)
