"""Render the quality of the iterations as a fold of the comment."""

from __future__ import annotations

from collections.abc import Sequence

from bot.feedback.model import find_failed_gates
from bot.gates.config import QualityDimension
from bot.gates.model import Gates
from bot.iterations.model import Iteration
from bot.iterations.progress import EARLY_ITERATIONS, Degradation, render_degradation
from bot.iterations.scoring import ScoredIteration, Trajectory, format_scores
from bot.iterations.selection import has_same_files, restore_commands
from bot.markdown.escape import code_span
from bot.markdown.links import GitHubLinks, format_login
from bot.pull_request.model import SelectionChoice, SelectionOverride
from bot.values import Repository

MAX_SHOWN_ITERATIONS = 5
_RESTORE_HINT = ". How to go back to it"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def fold_progress(
    trajectory: Trajectory, degradation: Degradation, gates: Gates, web: GitHubLinks, repository: Repository
) -> str | None:
    """Return the fold of the comment; None before the second iteration, and where nothing was observed."""
    best = trajectory.best
    if len(trajectory.scored) < 2 or best is None:
        return None
    parts = [
        _score_table(trajectory, best, gates, web, repository),
        _unobserved_line(trajectory.scored),
        render_degradation(degradation)
        if degradation.signs or degradation.iteration > EARLY_ITERATIONS
        else "",
        _restore_text(trajectory, best, web, repository),
    ]
    inside = "\n\n".join(part for part in parts if part)
    return f"<details><summary>{progress_summary(trajectory)}</summary>\n\n{inside}\n\n</details>"


def progress_summary(trajectory: Trajectory, *, way_back: bool = True) -> str:
    """Return one line: the scores, the best iteration, and what the fold contains."""
    path = " → ".join(format_scores(trajectory.scored)[-MAX_SHOWN_ITERATIONS:])
    dots = "… → " if len(trajectory.scored) > MAX_SHOWN_ITERATIONS else ""
    result = _result_text(trajectory)
    return f"Quality {dots}{path}: {result if way_back else result.removesuffix(_RESTORE_HINT)}"


def shorter_path(trajectory: Trajectory, gates: Gates) -> ScoredIteration | None:
    """Return the best iteration where going back to it leaves fewer blocking gates than going on."""
    best, final = trajectory.best, trajectory.final
    if best is None or not _is_restorable(trajectory, best):
        return None
    best_iteration, final_iteration = best.snapshot.iteration, final.snapshot.iteration
    return (
        best
        if len(blocking_tags(best_iteration, gates)) < len(blocking_tags(final_iteration, gates))
        else None
    )


def shorter_path_line(trajectory: Trajectory, gates: Gates, tags_now: Sequence[str | None]) -> str:
    """Return the sentence on the shorter path, if there is one; `tags_now` are the tags that block."""
    best = shorter_path(trajectory, gates)
    if best is None:
        return ""
    tags_before = blocking_tags(best.snapshot.iteration, gates)
    was_open = _open_before_text(tags_before, tags_now)
    return f"Shorter: go back to iteration {best.number} (below), where {was_open}."


def override_line(override: SelectionOverride) -> str:
    """Return who selected what, and why."""
    names = {SelectionChoice.USE_BEST: "the best iteration", SelectionChoice.USE_FINAL: "the final iteration"}
    chosen = names.get(override.choice, f"iteration {override.iteration}")
    return f"{format_login(override.by)} selected {chosen}: {code_span(override.reason)}"


def count_open_gates(iteration: Iteration, gates: Gates) -> str:
    """Return the number of failed gates, in words."""
    failed = find_failed_gates(iteration.standing, gates)
    blocking = sum(gate.blocking for gate in failed)
    warnings = len(failed) - blocking
    words = [f"{blocking} blocking"] if blocking else []
    words += [f"{warnings} warning{'' if warnings == 1 else 's'}"] if warnings else []
    return ", ".join(words) or (
        "rejected, no issue named" if iteration.is_rejected_without_items else "nothing"
    )


def blocking_tags(iteration: Iteration, gates: Gates) -> tuple[str | None, ...]:
    """Return the tags of the gates that blocked, by priority."""
    failed = find_failed_gates(iteration.standing, gates)
    return tuple(gate.tag for gate in failed if gate.blocking)


def _open_before_text(tags_before: Sequence[str | None], tags_now: Sequence[str | None]) -> str:
    count = len(tags_before)
    verb = "was" if count == 1 else "were"
    if not count:
        return "it was not open" if len(tags_now) == 1 else "none of them was open"
    if not set(tags_before) <= set(tags_now):
        return f"only {count} blocking {'issue' if count == 1 else 'issues'} {verb} open"
    position = tags_now.index(tags_before[0])
    if count == 1 and position < len(_ORDINALS):
        return f"only the {_ORDINALS[position]} of them was open"
    return f"only {count} of them {verb} open"


def _result_text(trajectory: Trajectory) -> str:
    best, final = trajectory.best, trajectory.final
    if best is None:
        return "nothing was observed"
    if best.number == final.number:
        last = final.number == trajectory.scored[-1].number
        return (
            "the last iteration is the best"
            if last
            else f"iteration {best.number}, the present one, is the best"
        )
    if best.quality == final.quality:
        return f"as good as iteration {best.number}, none was better"
    if not final.snapshot.iteration.is_rejected:
        return f"iteration {best.number} scored higher, the verdict stands"
    if has_same_files(best, final):
        return f"iteration {best.number} scored higher with the same files"
    way = _RESTORE_HINT if best.snapshot.available else ", but GitHub no longer has it"
    return f"iteration {best.number} was the best{way}"


def _is_restorable(trajectory: Trajectory, best: ScoredIteration) -> bool:
    """Whether to restore it: not from an accepted iteration, whatever its score, nor to the same files."""
    final = trajectory.final
    is_lower = best.quality is not None and final.quality is not None and final.quality < best.quality
    is_possible = best.snapshot.available and not has_same_files(best, final)
    return is_lower and is_possible and final.snapshot.iteration.is_rejected


def _score_table(
    trajectory: Trajectory, best: ScoredIteration, gates: Gates, web: GitHubLinks, repository: Repository
) -> str:
    rows = ["| Iteration | Quality | Open | What decided |", "|---|---|---|---|"]
    pairs = list(zip(trajectory.scored, format_scores(trajectory.scored), strict=True))
    shown = [pair for pair in pairs[:-MAX_SHOWN_ITERATIONS] if pair[0] is best] + pairs[
        -MAX_SHOWN_ITERATIONS:
    ]
    for scored, quality in shown:
        commit = web.other_commit(repository, scored.head)
        number = f"**{quality}**" if scored is best else quality
        decided = scored.score.decided if scored.score else "nothing was observed"
        open_gates = count_open_gates(scored.snapshot.iteration, gates)
        rows.append(f"| {scored.number} {commit} | {number} | {open_gates} | {decided} |")
    return "\n".join(rows)


def _unobserved_line(scored: tuple[ScoredIteration, ...]) -> str:
    """Return the line that names unobserved dimensions and their iterations."""
    lines = []
    for dimension in QualityDimension:
        numbers = [
            iteration.number
            for iteration in scored
            if iteration.score and dimension in iteration.score.unobserved
        ]
        if numbers:
            where = "everywhere" if len(numbers) == len(scored) else f"in {', '.join(map(str, numbers))}"
            lines.append(f"{dimension} {where}")
    return f"Not observed, so left out: {'; '.join(lines)}." if lines else ""


def _restore_text(
    trajectory: Trajectory, best: ScoredIteration, web: GitHubLinks, repository: Repository
) -> str:
    final = trajectory.final
    if best.number == final.number or best.quality == final.quality:
        return ""
    label = f"What changed from {best.number} to {final.number}"
    changed = f"{web.compare(repository, best.head, final.head, label)}."
    if not _is_restorable(trajectory, best):
        return changed
    shell = "\n".join(restore_commands(best, final))
    return (
        f"{changed} To take over the files of iteration {best.number} on your branch, "
        f"without rewriting history:\n\n```sh\n{shell}\n```"
    )
