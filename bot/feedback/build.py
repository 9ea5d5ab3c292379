"""Build the feedback on a pull request from its verdicts and iterations."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from bot.feedback.gate_notes import add_grounding_outcomes, render_notes
from bot.feedback.model import FailedGate, Feedback, demote_unlocated, find_failed_gates
from bot.findings.ledger import verdict_order
from bot.findings.turns import awaited_from_author, pending_reports, whose_turn
from bot.gates.config import RepositoryRules
from bot.gates.model import Gates
from bot.history.rates import item_outcomes
from bot.iterations.followup import ItemResponse, item_responses, track_feedback
from bot.iterations.model import (
    Iteration,
    IterationOutcome,
    compare_iterations,
    count_closed,
    current_iteration,
    list_iterations,
    open_appeals,
    previous_iteration,
    repeated_findings,
)
from bot.iterations.progress import freeze_scores, measure_progress
from bot.iterations.scoring import ScoredIteration, item_severity
from bot.iterations.selection import build_selection_report
from bot.pull_request.facts import DecisionTime
from bot.pull_request.model import BLOCKING_SEVERITIES, PullRequest, Stance, TrackedIteration, Verdict
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
    responses = item_responses(before.iteration, after.iteration)
    tracking = track_feedback(
        responses, before, after, [_quality_problems(response, gates) for response in responses]
    )
    author = f"user:{pull_request.author.id}"
    at = after.iteration.reviewed_at
    return TrackedIteration(
        before.number, before.head, tracking, item_outcomes(responses, tracking, author, at)
    )


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
    iterations = list_iterations(pull_request)
    current = current_iteration(pull_request)
    if current is None:
        return None
    previous = previous_iteration(iterations, current)
    pull_request = replace(pull_request, findings=current.ledger.records())
    progress = measure_progress(pull_request, iterations, current, rules)
    pull_request = freeze_scores(pull_request, progress)
    gates = find_failed_gates(current.standing, rules.gates)
    gates = demote_unlocated(gates) if rules.quality.strict else gates
    gates = add_grounding_outcomes(gates, pull_request.grounding, current, rules.grounding)
    repeated = _repeated_findings((*iterations[: current.number - 1], current), gates, rules)
    pending = pending_reports(pull_request, current.ledger, rules, moment.now)
    is_agent = rules.authors.is_agent(pull_request.author.login, bot=pull_request.author.bot)
    is_stuck = bool(repeated) or (is_agent and current.number >= rules.iterations.max)
    outcome = decide_outcome(pull_request, current, gates, rules, is_stuck=is_stuck)
    # A finding has two names, its id and its tag.
    appealed = [current.ledger.find(name) for name in open_appeals(pull_request, current.ledger)]
    has_appeal = any(finding.is_open for findings in appealed for finding in findings)
    is_escalated = outcome is IterationOutcome.ESCALATE
    awaited = awaited_from_author(pull_request, current.ledger, current.rejecting, rules)
    turn = whose_turn(
        pull_request,
        rules,
        awaited,
        pending,
        needs_decision=is_escalated or has_appeal or not current.is_rejected,
    )
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
        verdict=outcome.value,
        max_iterations=rules.iterations.max,
        best=progress.best.iteration,
        # Where nothing was observed, the document still needs a number: the verdict's.
        score=float(not current.is_rejected) if progress.quality is None else progress.quality,
        closed=count_closed(current, _last_rejection(pull_request)),
        turn=turn,
        pending=pending,
        awaited=awaited,
        grounding=rules.grounding,
        notes=render_notes(pull_request, current.standing, current.head, rules),
        repeated=repeated,
        progress=progress,
        weights=rules.scoring.weights.severities,
        is_agent=is_agent,
        document=rules.comment.document,
        report=None
        if pull_request.open or len(iterations) < 2
        else build_selection_report(pull_request, progress, rules),
    )


def _repeated_findings(
    iterations: tuple[Iteration, ...], gates: tuple[FailedGate, ...], rules: RepositoryRules
) -> tuple[str, ...]:
    blocking = {name for gate in gates if gate.blocking for name in gate.ids}
    repeated = repeated_findings(iterations, blocking, rules.gates, rules.iterations.escalate)
    return tuple(dict.fromkeys(finding.item.tag or finding.id for finding in repeated))


def _last_rejection(pull_request: PullRequest) -> Verdict | None:
    rejected = [v for v in pull_request.verdicts if v.counted and v.stance is Stance.REJECTS]
    return max(rejected, key=verdict_order, default=None)


def decide_outcome(
    pull_request: PullRequest,
    current: Iteration,
    gates: tuple[FailedGate, ...],
    rules: RepositoryRules,
    *,
    is_stuck: bool,
) -> IterationOutcome:
    """Return the first outcome that applies; a pull request that nothing rejects is always accepted.

    It is stuck once its budget is used up, or a blocking finding came back too often.
    """
    # Otherwise an approval of the last iteration in the budget would be escalated.
    if not current.is_rejected or pull_request.merged:
        return IterationOutcome.ACCEPT
    if not pull_request.open:
        return IterationOutcome.REJECT
    if is_stuck:
        return IterationOutcome.ESCALATE
    findings = [(finding.item, gate) for gate in gates for finding in gate.findings]
    # A document's own severity wins over the gate's: `major` is not critical, whatever it is about.
    is_critical = any(item_severity(item, rules.gates) == "critical" for item, _ in findings)
    is_fixable = any(gate.is_auto_fixable or item.suggestion for item, gate in findings)
    return IterationOutcome.REJECT if is_critical and not is_fixable else IterationOutcome.REFINE
