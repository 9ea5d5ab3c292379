"""Export a pull request's iterations as files, and its findings for the API."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from bot.findings.model import Finding, is_blocking
from bot.gates.model import Gates
from bot.iterations.progress import Degradation
from bot.iterations.scoring import ScoredIteration, Trajectory, counted_checks, distinct_items, item_aspect
from bot.iterations.selection import Selection, SelectionReport, render_selection_report
from bot.markdown.links import GITHUB_URL
from bot.pull_request.model import TrackedIteration
from bot.values import Repository

HISTORY_WINDOW = 5
"""Iterations whose feedback the export has."""

ExportJson = dict[str, object]


def export_files(
    report: SelectionReport, repository: Repository, tracked: Sequence[TrackedIteration] = ()
) -> dict[str, str]:
    """Return every file of the export with its text."""
    degradations = {degradation.iteration: degradation for degradation in report.degradations}
    files = {
        "best-tracker.json": _text(best_tracker(report.trajectory, repository)),
        "selection-report.md": render_selection_report(report),
        "final-output/manifest.json": _text(selection_manifest(report.selection)),
    }
    for scored in report.scored:
        metrics = iteration_metrics(scored, degradations.get(scored.number)) | _tracking(scored, tracked)
        files[f"iterations/iteration-{scored.number}/metrics.json"] = _text(metrics)
    return files


def iteration_history(
    scored: Sequence[ScoredIteration], tracked: Sequence[TrackedIteration] = ()
) -> list[ExportJson]:
    """Return one entry per iteration, in the document's names."""
    return [_entry(iteration) | _tracking(iteration, tracked) for iteration in scored]


def feedback_history(
    scored: Sequence[ScoredIteration], gates: Gates, tracked: Sequence[TrackedIteration] = ()
) -> list[ExportJson]:
    """Return the feedback of the last iterations, and its outcome."""
    return [
        _feedback(iteration, gates) | _tracking(iteration, tracked) for iteration in scored[-HISTORY_WINDOW:]
    ]


def best_tracker(trajectory: Trajectory, repository: Repository, host: str = GITHUB_URL) -> ExportJson:
    """Return the best so far and the way to it; None if nothing was scored."""
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


def selection_manifest(selection: Selection) -> ExportJson:
    """Return the selected output by its hashes, how it compares, and who decided."""
    selected, audit = selection.selected, selection.audit
    return {
        "iteration": selected.number,
        "head": selected.head,
        "tree": selected.tree,
        "available": selected.available,
        "artifacts": _artifacts(selected),
        "comparison": {
            "best_iteration": selection.automatic.number,
            "final_iteration": selection.final.number,
            "delta": None if selection.delta is None else round(selection.delta * 100, 2),  # percent points
            "decision": selection.decision.value,
        },
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


def iteration_metrics(scored: ScoredIteration, degradation: Degradation | None = None) -> ExportJson:
    """Return everything measured of one iteration."""
    checks = counted_checks(scored.checks)
    measures = scored.score.measures if scored.score else ()
    return {
        **_entry(scored),
        "dimensions": {
            measure.dimension.value: {"value": measure.value, "because": list(measure.reasons)}
            for measure in measures
        },
        "unobserved": [dimension.value for dimension in scored.score.unobserved] if scored.score else [],
        "checks": {"passed": sum(check.has_passed for check in checks), "failed": scored.failed_checks},
        "open": list(scored.iteration.tags),
        "degradation": degradation and _degradation(degradation),
    }


def _entry(scored: ScoredIteration) -> ExportJson:
    return {
        "iteration": scored.number,
        "artifacts": _artifacts(scored),
        "quality_score": scored.quality,
        "timestamp": scored.iteration.reviewed_at.isoformat(),
        "head": scored.head,
        "tree": scored.tree,
        "available": scored.available,
    }


def _feedback(scored: ScoredIteration, gates: Gates) -> ExportJson:
    iteration = scored.iteration
    aspects = Counter(item_aspect(item, gates).value for item in distinct_items(iteration.open_items))
    return {
        "iteration": scored.number,
        "head": scored.head,
        "timestamp": iteration.reviewed_at.isoformat(),
        "rejected": iteration.is_rejected,
        "issues": list(iteration.tags),
        "aspects": dict(aspects),
    }


def _tracking(scored: ScoredIteration, tracked: Sequence[TrackedIteration]) -> ExportJson:
    """Return the outcome of this iteration's feedback, once the next one was reviewed."""
    followed = next((iteration for iteration in tracked if iteration.head == scored.head), None)
    return {"quality_tracking": followed.tracking.as_document()} if followed else {}


def export_finding(finding: Finding, gates: Gates) -> ExportJson:
    """Return one finding with its words, its location at the current head, and how it got its status."""
    item, place, validator = finding.item, finding.item.place, finding.validator
    gate = gates.get(item.tag) if item.tag else None
    return {
        "id": finding.id,
        "status": finding.status.value,
        "tag": item.tag,
        "gate": gate.gate if gate else item.tag,
        "looks_like": item.looks_like,
        "blocking": is_blocking(item, gates),
        "by": f"check:{validator.name}" if validator.check else validator.name,
        "words": item.words,
        "location": place and {"path": place.path, "line": place.line, "end_line": place.end_line},
        "url": item.url,
        "reported_at": finding.reported_at.isoformat(),
        "history": [
            {"status": change.status.value, "by": change.by, "at": change.at.isoformat(), "head": change.head}
            for change in finding.changes
        ],
    }


def _artifacts(scored: ScoredIteration) -> list[ExportJson]:
    changed = scored.diff.files if scored.diff else ()
    return [{"path": file.path, "content_hash": file.blob} for file in changed]


def _degradation(degradation: Degradation) -> ExportJson:
    return {
        "delta": degradation.delta,
        "degraded": degradation.is_degraded,
        "flagged": degradation.is_flagged,
        "triggers": [trigger.value for trigger in degradation.triggers],
        "causes": [{"cause": sign.cause.value, "because": sign.reason} for sign in degradation.signs],
    }


def _text(data: ExportJson) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
