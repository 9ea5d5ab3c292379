"""Render the iterations of a pull request as a fold of the comment, and how to restore one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.feedback.model import FailedGate, Feedback, find_failed_gates
from bot.findings.line_tracking import track_file, was_touched
from bot.gates.config import QualityDimension
from bot.gates.model import Gates
from bot.iterations.model import Iteration
from bot.iterations.progress import EARLY_ITERATIONS, Progress, render_degradation
from bot.iterations.scoring import ScoredIteration, Trajectory, format_scores
from bot.iterations.selection import RestorePlan, plan_restore, render_selection_report, restore_commands
from bot.markdown.escape import code_span
from bot.markdown.format import fold, format_count, join_words
from bot.markdown.links import GitHubLinks, format_login
from bot.pull_request.model import PullRequest, Revision, SelectionChoice, SelectionOverride
from bot.values import Location, Repository

MAX_SHOWN_ITERATIONS = 5
MAX_NAMED = 5
"""Files or entries that a sentence names."""


@dataclass(frozen=True, slots=True)
class Restoration:
    """An earlier iteration that is worth restoring, and what would block afterwards."""

    iteration: ScoredIteration
    plan: RestorePlan
    common: int
    """How many entries block in both."""
    staying: tuple[str, ...]
    """Entries that block only now, in files or lines that restoring leaves as they are."""
    returning: tuple[str, ...]
    """Entries that are fixed now and would block again."""

    @property
    def blocking(self) -> int:
        """How many entries would block."""
        return self.common + len(self.staying) + len(self.returning)


def fold_progress(feedback: Feedback, web: GitHubLinks) -> str:
    """Return the fold from the second iteration on; once it is closed, with the selection report."""
    progress, repository = feedback.progress, feedback.pull_request.repository
    if progress is None or len(progress.trajectory.scored) < 2:
        return ""
    if feedback.report is not None:
        report = render_selection_report(feedback.report, is_folded=True).rstrip()
        return fold(quality_summary(progress.trajectory), report)
    table = _score_table(progress.trajectory, progress.gates, web, repository)
    if not feedback.rejecting:
        return fold(quality_summary(progress.trajectory), table)
    restoration = find_restoration(progress, feedback.pull_request) if feedback.pull_request.open else None
    present = progress.present
    parts = [
        _override_line(feedback),
        table,
        _unobserved_line(progress.trajectory.scored),
        render_degradation(present) if present.signs or present.iteration > EARLY_ITERATIONS else "",
        _restore_text(restoration, progress.trajectory.final, web, repository) if restoration else "",
    ]
    return fold(blocking_summary(progress, restoration), "\n\n".join(filter(None, parts)))


def blocking_summary(progress: Progress, restoration: Restoration | None = None) -> str:
    """Return one line: how many entries blocked in each iteration, and what restoring one would leave."""
    counts = [str(len(_blocking(scored.iteration, progress.gates))) for scored in progress.trajectory.scored]
    line = f"Progress: {_path(counts)} blocking"
    if restoration:
        number = restoration.iteration.number
        line += f". Restoring iteration {number} would leave {restoration.blocking}"
    return line


def quality_summary(trajectory: Trajectory) -> str:
    """Return one line: the scores, and which iteration is the best."""
    best, final = trajectory.best, trajectory.final
    if best is None:
        return f"{format_count(len(trajectory.scored), 'iteration')}, none of them scored"
    if final.quality is None:
        result = f"iteration {best.number} is the best that was scored"
    elif best.number != final.number and best.quality == final.quality:
        result = f"no iteration scored higher than iteration {best.number}"
    elif best.number != final.number:
        result = f"iteration {best.number} scored higher than the last one"
    elif final.number == trajectory.scored[-1].number:
        result = "the last iteration is the best"
    else:
        result = f"iteration {best.number}, the current one, is the best"
    return f"Quality {_path(format_scores(trajectory.scored))}: {result}"


def find_restoration(progress: Progress, pull_request: PullRequest) -> Restoration | None:
    """Return the iteration whose restoring leaves the fewest blocking entries, if fewer than now.

    Only one that every validator of the current iteration reviewed as well: another's silence proves nothing.
    """
    final, gates = progress.trajectory.final, progress.gates
    reviewers = _reviewers(pull_request, final.head)
    now = _blocking(final.iteration, gates)
    restorations = [
        restoration
        for scored in progress.trajectory.scored
        if scored.number != final.number
        and reviewers <= _reviewers(pull_request, scored.head)
        and (restoration := _restoration(scored, final, now, gates, pull_request.revisions))
        and restoration.blocking < len(now)
    ]
    return min(restorations, key=lambda each: (each.blocking, -each.iteration.number), default=None)


def count_open_entries(iteration: Iteration, gates: Gates) -> str:
    """Return the number of open entries, in words."""
    failed = find_failed_gates(iteration.standing, gates)
    blocking = sum(gate.blocking for gate in failed)
    warnings = len(failed) - blocking
    words = [f"{blocking} blocking"] * bool(blocking) + [format_count(warnings, "warning")] * bool(warnings)
    nothing = "rejected, no issue named" if iteration.is_rejected_without_items else "nothing"
    return ", ".join(words) or nothing


def _restoration(
    earlier: ScoredIteration,
    final: ScoredIteration,
    now: dict[str, FailedGate],
    gates: Gates,
    revisions: Iterable[Revision],
) -> Restoration | None:
    plan = plan_restore(earlier, final)
    if plan is None:
        return None
    before = _blocking(earlier.iteration, gates)
    heads = {revision.head: revision for revision in revisions}
    staying = _StayingLines(plan, heads[final.head], heads[earlier.head])
    return Restoration(
        earlier,
        plan,
        common=sum(name in before for name in now),
        staying=tuple(name for name, gate in now.items() if name not in before and staying.has(gate)),
        returning=tuple(name for name in before if name not in now),
    )


@dataclass(frozen=True, slots=True)
class _StayingLines:
    """What restoring leaves as it is: files that were added since, and lines that were there before."""

    plan: RestorePlan
    now: Revision
    before: Revision

    def has(self, gate: FailedGate) -> bool:
        """Whether what blocks would be left; without a location, perhaps in a file that is kept."""
        return any(map(self._has, gate.places)) if gate.places else bool(self.plan.kept)

    def _has(self, place: Location) -> bool:
        if place.path not in self.plan.restored:
            return True
        file = track_file(place.path, self.now, self.before)
        return file is not None and was_touched(place, file) is False


def _blocking(iteration: Iteration, gates: Gates) -> dict[str, FailedGate]:
    failed = find_failed_gates(iteration.standing, gates)
    return {gate.label: gate for gate in failed if gate.blocking}


def _reviewers(pull_request: PullRequest, head: str) -> frozenset[str]:
    """Return who reviewed this very revision, with or without findings."""
    return frozenset(
        verdict.validator.key for verdict in pull_request.verdicts if verdict.counted and verdict.head == head
    )


def _score_table(trajectory: Trajectory, gates: Gates, web: GitHubLinks, repository: Repository) -> str:
    rows = ["| Iteration | Quality | Open | Decided by |", "|---|---|---|---|"]
    best = trajectory.best
    pairs = list(zip(trajectory.scored, format_scores(trajectory.scored), strict=True))
    shown = [pair for pair in pairs[:-MAX_SHOWN_ITERATIONS] if pair[0] is best] + pairs[
        -MAX_SHOWN_ITERATIONS:
    ]
    for scored, quality in shown:
        commit = web.other_commit(repository, scored.head)
        number = f"**{quality}**" if scored is best else quality
        decided = scored.score.decided if scored.score else "too little was observed"
        open_entries = count_open_entries(scored.iteration, gates)
        rows.append(f"| {scored.number} {commit} | {number} | {open_entries} | {decided} |")
    return "\n".join(rows)


def _unobserved_line(scored: tuple[ScoredIteration, ...]) -> str:
    """Return the line that names unobserved dimensions and their iterations."""
    numbers = {
        dimension: [each.number for each in scored if each.score and dimension in each.score.unobserved]
        for dimension in QualityDimension
    }
    texts = [
        f"{dimension} everywhere"
        if len(found) == len(scored)
        else f"{dimension} in {', '.join(map(str, found))}"
        for dimension, found in numbers.items()
        if found
    ]
    return f"Not observed, so left out: {'; '.join(texts)}." if texts else ""


def _override_line(feedback: Feedback) -> str:
    """Return who selected what, and why, at the current head."""
    override: SelectionOverride | None = feedback.pull_request.override
    if override is None or override.head != feedback.pull_request.head:
        return ""
    names = {SelectionChoice.USE_BEST: "the best iteration", SelectionChoice.USE_FINAL: "the final iteration"}
    chosen = names.get(override.choice, f"iteration {override.iteration}")
    return f"{format_login(override.by)} selected {chosen}: {code_span(override.reason)}"


def _restore_text(
    restoration: Restoration, final: ScoredIteration, web: GitHubLinks, repository: Repository
) -> str:
    earlier, plan = restoration.iteration, restoration.plan
    label = f"Changes from {earlier.number} to {final.number}"
    changes = web.compare(repository, earlier.head, final.head, label)
    return (
        f"{changes}. To restore the files of iteration {earlier.number} on your branch without rewriting "
        f"history:\n\n```sh\n{restore_commands(earlier.head, plan)}\n```{_consequences(restoration)}"
    )


def _consequences(restoration: Restoration) -> str:
    """Say which files stay or go, and which entries would block afterwards."""
    plan, sentences = restoration.plan, []
    staying = _names(restoration.staying)
    if plan.kept:
        verb = "stays" if len(plan.kept) == 1 else "stay"
        entries = f", and so {'does' if len(restoration.staying) == 1 else 'do'} {staying}" if staying else ""
        sentences.append(f"{_names(plan.kept)}, added since, {verb}{entries}.")
    elif staying:
        sentences.append(f"{staying} would still be open.")
    if plan.removed:
        verb = "goes" if len(plan.removed) == 1 else "go"
        sentences.append(f"{_names(plan.removed)}, deleted in that iteration, {verb}.")
    if restoration.returning:
        sentences.append(f"{_names(restoration.returning)} would be open again.")
    return f"\n\n{' '.join(sentences)}" if sentences else ""


def _names(texts: Iterable[str]) -> str:
    names = [code_span(text, 200) for text in texts]
    return join_words(names[:MAX_NAMED] + [f"{len(names) - MAX_NAMED} more"] * (len(names) > MAX_NAMED))


def _path(values: Iterable[str]) -> str:
    texts = list(values)
    dots = "… → " if len(texts) > MAX_SHOWN_ITERATIONS else ""
    return dots + " → ".join(texts[-MAX_SHOWN_ITERATIONS:])
