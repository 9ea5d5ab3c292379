"""What is exported of a pull request's iterations: the document's file names, hashes in place of copies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from bot.domain.degradation import Degradation
from bot.domain.gates import Gates
from bot.domain.iterations import WINDOW
from bot.domain.links import GITHUB
from bot.domain.model import Repository
from bot.domain.scoring import aspect, counted_checks, distinct
from bot.domain.selection import Selection
from bot.domain.selection_report import Report, render
from bot.domain.tracked import Tracked
from bot.domain.trajectory import Scored, Trajectory

MEMORY_KEY = "feedback_history"

Json = dict[str, object]


def files(
    report: Report, repository: Repository, host: str = GITHUB, tracked: Sequence[Tracked] = ()
) -> dict[str, str]:
    """Return every file of the export with its text."""
    by_number = {found.iteration: found for found in report.degradations}
    tree = {
        "best-tracker.json": _text(best_tracker(report.trajectory, repository, host)),
        "selection-report.md": render(report),
        "final-output/manifest.json": _text(manifest(report.selection)),
    }
    for scored in report.scored:
        whole = metrics(scored, by_number.get(scored.number)) | _tracking(scored, tracked)
        text = _text(whole)
        tree[f"iterations/iteration-{scored.number}/metrics.json"] = text
    return tree


def iteration_history(scored: Sequence[Scored], tracked: Sequence[Tracked] = ()) -> list[Json]:
    """Return one entry for each iteration, in the document's names."""
    return [_entry(each) | _tracking(each, tracked) for each in scored]


def feedback_history(
    scored: Sequence[Scored], gates: Gates, tracked: Sequence[Tracked] = (), window: int = WINDOW
) -> Json:
    """Return what the last iterations were told, and what came of it, under the document's key."""
    return {MEMORY_KEY: [_feedback(each, gates) | _tracking(each, tracked) for each in scored[-window:]]}


def best_tracker(trajectory: Trajectory, repository: Repository, host: str = GITHUB) -> Json:
    """Return the best so far and the way to it; None where nothing was scored."""
    best = trajectory.best
    path = f"{host}/{repository.full_name}/tree"
    return {
        "current_best": best
        and {
            "iteration": best.number,
            "quality_score": best.quality,
            "artifacts_path": f"{path}/{best.head}",
            "head": best.head,
        },
        "trail": list(trajectory.trail),
    }


def comparison(selection: Selection) -> Json:
    """Return best against final, the delta in percent points."""
    compared = selection.comparison
    return {
        "best_iteration": compared.best_iteration,
        "final_iteration": compared.final_iteration,
        "delta": None if compared.delta is None else round(compared.delta * 100, 2),
        "decision": compared.decision.value,
    }


def manifest(selection: Selection) -> Json:
    """Return the selected output by its hashes, how it compares, and who decided."""
    selected, audit = selection.selected, selection.audit
    return {
        "iteration": selected.number,
        "head": selected.head,
        "tree": selected.snapshot.tree,
        "available": selected.snapshot.available,
        "artifacts": _artifacts(selected),
        "comparison": comparison(selection),
        "override": audit
        and {
            "option": audit.choice.value,
            "by": audit.by,
            "at": audit.at.isoformat(),
            "reason": audit.reason,
            "head": audit.head,
            "from": audit.before,
            "to": audit.after,
        },
    }


def metrics(scored: Scored, found: Degradation | None = None) -> Json:
    """Return everything measured of one iteration."""
    checks = counted_checks(scored.snapshot.checks)
    measures = scored.score.measures if scored.score else ()
    return {
        **_entry(scored),
        "dimensions": {
            measure.dimension.value: {"value": measure.value, "because": list(measure.because)}
            for measure in measures
        },
        "unobserved": [dimension.value for dimension in scored.score.unobserved] if scored.score else [],
        "checks": {"passed": sum(check.passed for check in checks), "failed": scored.failed_checks},
        "open": list(scored.snapshot.iteration.tags),
        "degradation": found and _degradation(found),
    }


def _entry(scored: Scored) -> Json:
    return {
        "iteration": scored.number,
        "artifacts": _artifacts(scored),
        "quality_score": scored.quality,
        "timestamp": scored.snapshot.iteration.judged_at.isoformat(),
        "head": scored.head,
        "tree": scored.snapshot.tree,
        "available": scored.snapshot.available,
    }


def _feedback(scored: Scored, gates: Gates) -> Json:
    iteration = scored.snapshot.iteration
    sides = Counter(aspect(item, gates).value for item in distinct(iteration.open_items))
    return {
        "iteration": scored.number,
        "head": scored.head,
        "timestamp": iteration.judged_at.isoformat(),
        "rejected": iteration.rejected,
        "issues": list(iteration.tags),
        "aspects": dict(sides),
    }


def _tracking(scored: Scored, tracked: Sequence[Tracked]) -> Json:
    """Return how the feedback of this iteration turned out, once the next one was judged."""
    found = next((each for each in tracked if each.head == scored.head), None)
    return {"quality_tracking": found.tracking.as_document()} if found else {}


def _artifacts(scored: Scored) -> list[Json]:
    files_of = scored.snapshot.diff.files if scored.snapshot.diff else ()
    return [{"path": file.path, "content_hash": file.blob} for file in files_of]


def _degradation(found: Degradation) -> Json:
    return {
        "delta": found.delta,
        "degraded": found.degraded,
        "flagged": found.flagged,
        "triggers": [trigger.value for trigger in found.triggers],
        "causes": [{"cause": sign.cause.value, "because": sign.because} for sign in found.signs],
    }


def _text(data: Json) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
