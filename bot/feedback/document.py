"""Build the actionable-feedback JSON document."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from bot import regex
from bot.feedback.model import FailedGate, Feedback, GateItem
from bot.gates.model import Aspect
from bot.grounding.log import author_claims
from bot.iterations.model import iteration_phase
from bot.markdown.escape import html_safe_json, truncate
from bot.markdown.links import FEEDBACK_SCHEMA_ID
from bot.paths import is_secret_path
from bot.pull_request.model import Item
from bot.verdicts.clarity import item_clarity

GENERIC_FIX = "See the repository's quality gates."
_UNTAGGED_ACTION = "Change what this comment asks for, or answer it in its thread."
_MIN_TEXT, _MAX_TEXT, _MAX_ACTION = 20, 500, 1000

DocumentJson = dict[str, object]


def build_document(feedback: Feedback, schema: str = FEEDBACK_SCHEMA_ID) -> DocumentJson:
    """Build the whole document, items in the order in which to fix them."""
    pull_request, shared = feedback.pull_request, _shared_path(feedback)
    return {
        "$schema": schema,
        "id": feedback.id,
        "timestamp": feedback.at.isoformat(timespec="seconds"),
        "iteration": {
            "number": feedback.iteration.number,
            "max": feedback.max_iterations,
            "phase": iteration_phase(
                feedback.iteration.number, feedback.max_iterations, closed=not pull_request.open
            ),
        },
        "target": _target(feedback, shared),
        "overall_assessment": {
            "score": round(feedback.score, 2),
            "verdict": feedback.verdict,
            "summary": summarize_feedback(feedback),
            "confidence": feedback.confidence,
        },
        "turn": feedback.turn.value,
        **(_author_claims(feedback) if feedback.pull_request.grounding else {}),
        **({"brief": feedback.brief.as_document()} if feedback.brief else {}),
        "feedback_items": [
            _item(finding, gate, rank, shared, feedback.weights)
            for rank, gate in enumerate(feedback.gates, 1)
            for finding in gate.findings
        ],
    }


def _author_claims(feedback: Feedback) -> DocumentJson:
    """Return the claims of the description, and what was observed of each; empty if it makes none."""
    claims = [
        {"claim": entry.claim, "outcome": entry.outcome, "source": entry.source}
        for entry in author_claims(feedback.pull_request, feedback.iteration.head)
    ]
    return {"author_claims": claims} if claims else {}


def shorten_document(whole: DocumentJson, most: int) -> DocumentJson:
    """Return the comment's copy: at most `most` items, without the text around a location."""
    items = [_without_context(item) for item in document_items(whole)]
    copy: DocumentJson = {**whole, "feedback_items": items[:most]}
    if len(items) > most:
        copy["more"] = len(items) - most
    return copy


def document_fence(copy: DocumentJson) -> str:
    """Render the copy as a JSON fence, one item per line; no string in it can end the fence."""
    lines = []
    for key, value in copy.items():
        if key == "feedback_items" and isinstance(value, list):
            rows = ",\n".join(f"  {html_safe_json(item)}" for item in value)
            lines.append(f' "feedback_items": [\n{rows}\n ]')
        else:
            lines.append(f' "{key}": {html_safe_json(value)}')
    body = ",\n".join(lines)
    return "```json\n{\n" + body.replace("```", "\\u0060\\u0060\\u0060") + "\n}\n```"


def summarize_feedback(feedback: Feedback) -> str:
    """Return one sentence of 50 to 500 characters, made of counts."""
    counts = _count_text(feedback)
    return truncate(
        f"{counts} at iteration {format_iteration_budget(feedback)}: {_changes_text(feedback)}.", _MAX_TEXT
    )


def format_iteration_budget(feedback: Feedback) -> str:
    """Return the iteration and its maximum: `3 of 5`."""
    number, most = feedback.iteration.number, feedback.max_iterations
    return f"{number} of {most}" if number <= most else f"{number} (the budget was {most})"


def format_changes(changes: Mapping[str, Sequence[str]]) -> str:
    """Return what changed from one iteration to the next, without what did not occur."""
    return ", ".join(f"{len(entries)} {word}" for word, entries in changes.items() if entries)


def artifact_kind(path: str) -> str:
    """Return the kind of a file: test, schema, configuration, document, code or artifact."""
    name = posixpath.basename(path)
    suffix = posixpath.splitext(name)[1].lower()
    if _TEST.search(path):
        return "test"
    if _SCHEMA.search(path):
        return "schema"
    if suffix in _CONFIGURATION or name.startswith(".") or name in _CONFIGURATION_NAMES:
        return "configuration"
    if suffix in _DOCUMENT:
        return "document"
    return "code" if _CODE.fullmatch(suffix) else "artifact"


_TEST = regex.Regex(
    r"(^|/)(tests?|spec|__tests__)/|(^|/)test_[^/]*$|[._-](test|spec)\.[a-z]+$", ignore_case=True
)
_SCHEMA = regex.Regex(
    r"(^|/)schemas?/|\.(xsd|proto|graphql|avsc)$|schema\.(json|ya?ml|sql)$", ignore_case=True
)
_CONFIGURATION = frozenset(
    {".yml", ".yaml", ".toml", ".ini", ".cfg", ".conf", ".env", ".json", ".properties"}
)
_CONFIGURATION_NAMES = frozenset({"Dockerfile", "Makefile", "Procfile", "Jenkinsfile"})
_DOCUMENT = frozenset({".md", ".mdx", ".rst", ".txt", ".adoc", ".tex", ".org", ".html"})
_CODE = regex.Regex(
    r"\.(py|jsx?|tsx?|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|sql|lua|exs?|hs|clj|r|jl|dart|vue|svelte"
    r"|s?css|pl|m|zig)"
)


def _shared_path(feedback: Feedback) -> str | None:
    """Return the file that all items are about, if there is one."""
    paths = {place.path for gate in feedback.gates for place in gate.places}
    everywhere = all(finding.item.place for gate in feedback.gates for finding in gate.findings)
    return next(iter(paths)) if len(paths) == 1 and everywhere else None


def _target(feedback: Feedback, path: str | None) -> DocumentJson:
    pull_request = feedback.pull_request
    return {
        "type": artifact_kind(path) if path else "artifact",
        "path": path or pull_request.name,
        "version": feedback.iteration.head,
        "context": f"{pull_request.name} into {pull_request.base}",
    }


def _item(
    finding: GateItem, failed: FailedGate, rank: int, shared: str | None, weights: Mapping[str, float]
) -> DocumentJson:
    item, gate = finding.item, failed.gate
    blocks = failed.blocking and finding.blocks
    grave = "critical" if gate and gate.aspect is Aspect.SECURITY else "major"
    severity = item.severity or (grave if blocks else "minor")
    document: DocumentJson = {
        "id": item.finding or None,
        "tag": failed.tag,
        "gate": failed.name,
        "blocking": blocks,
        "status": item.status or failed.status,
        "aspect": item.aspect or (gate.aspect.value if gate else Aspect.CORRECTNESS.value),
        "severity": severity,
        "score": item.score if item.score is not None else round(1 - weights[severity], 2),
        "issue": item_issue_text(finding, failed),
        "words": item.words or None,
        "location": _location(item, shared),
        "suggestion": _suggestion(finding, failed, rank),
        "auto_fixable": failed.is_auto_fixable,
        "by": f"check:{finding.validator.name}" if finding.validator.check else finding.validator.name,
        "inferred": item.inferred is not None,
        "url": item.url,
        "provenance": finding.origin.as_document(),
        "grounding": _grounding(finding),
        "clarity": _clarity(finding),
    }
    if evidence := _evidence(finding, failed):
        document["evidence"] = evidence
    return {key: value for key, value in document.items() if value is not None}


def _clarity(finding: GateItem) -> DocumentJson | None:
    """Return whether the item tells its author what to do; None for a check, whose texts no person wrote."""
    if finding.validator.check:
        return None
    result = item_clarity(finding.item)
    document: DocumentJson = {"clear": result.clear, "score": result.score}
    return {**document, "missing": list(result.missing)} if result.missing else document


def _grounding(finding: GateItem) -> DocumentJson | None:
    """Return the outcome of the item's claims, and its source."""
    grounding = finding.grounding
    if grounding is None:
        return None
    document: DocumentJson = {"outcome": grounding.outcome.value, "source": grounding.source}
    if not grounding.confirmed:
        document |= {"claim": grounding.decisive.claim, "note": grounding.decisive.note}
    if grounding.decisive.nearest:
        document["nearest"] = grounding.decisive.nearest
    if grounding.moved_from is not None:
        document["moved_from"] = grounding.moved_from
    return document


def item_issue_text(finding: GateItem, failed: FailedGate) -> str:
    """Return the validator's text; a short one is followed by the gate's description."""
    words = finding.item.words
    if len(words) >= _MIN_TEXT:
        return truncate(words, _MAX_TEXT)
    subject = failed.gate.description if failed.gate else _unknown_gate_text(finding, failed)
    return _pad(truncate(f"{words} ({subject})" if words else subject, _MAX_TEXT), failed)


def _unknown_gate_text(finding: GateItem, failed: FailedGate) -> str:
    if failed.tag:
        return f"{finding.validator.name} names {failed.name}, which is not a gate of this repository"
    return f"reported by {finding.validator.name}"


def _pad(text: str, failed: FailedGate) -> str:
    return text if len(text) >= _MIN_TEXT else f"{text} (gate {failed.name})".ljust(_MIN_TEXT, ".")


def _location(item: Item, shared: str | None) -> DocumentJson:
    """Return the location: inside the file that all items share, or with the file named before it."""
    location, before, after = item.place, item.context_before, item.context_after
    if location is None:
        kind, name = item.part or ("path", ".")
        # The schema knows no tests.
        return {"type": "element" if kind == "test" else kind, "reference": name}
    around: DocumentJson = {}
    file = "" if location.path == shared else f"{location.path}:"
    if is_secret_path(location.path):  # lines of such a file are never quoted
        before = after = ""
    if before:
        around["context_before"] = before
    if after:
        around["context_after"] = after
    if location.line is None and item.part and item.part[0] != "test":
        kind, name = item.part
        return {"type": kind, "reference": f"{file}{name}", "path": location.path, **around}
    if location.line is None:
        return {"type": "path", "reference": location.path, "path": location.path, **around}
    if location.end_line is None or location.end_line == location.line:
        return {
            "type": "line",
            "reference": f"{file}{location.line}",
            "path": location.path,
            "line": location.line,
            **around,
        }
    lines = f"{file}{location.line}-{location.end_line}"
    found: DocumentJson = {"type": "range", "reference": lines, "path": location.path, "line": location.line}
    return {**found, "end_line": location.end_line, **around}


def _suggestion(finding: GateItem, failed: FailedGate, rank: int) -> DocumentJson:
    item = finding.item
    suggestion: DocumentJson = {
        "action": _pad(truncate(_action(item, failed), _MAX_ACTION), failed),
        "rationale": _pad(truncate(_rationale(finding, failed), _MAX_TEXT), failed),
        "priority": min(rank, 10),
    }
    if item.suggestion:
        suggestion["example"] = item.suggestion
    return suggestion


def _action(item: Item, failed: FailedGate) -> str:
    """Return what to do: the validator's own words or change, else the gate's fix; nothing is invented."""
    if item.action or failed.gate:
        return item.action or (failed.gate.fix if failed.gate else "")
    if item.suggestion:
        return f"Change it to: {item.suggestion}"
    return GENERIC_FIX if failed.tag else _UNTAGGED_ACTION


def _rationale(finding: GateItem, failed: FailedGate) -> str:
    if finding.item.rationale or failed.gate:
        return finding.item.rationale or (failed.gate.description if failed.gate else "")
    if finding.validator.check:
        return f"The check `{finding.validator.name}` failed with this."
    return f"`{finding.validator.name}` requested changes with this comment."


def _evidence(finding: GateItem, failed: FailedGate) -> DocumentJson:
    evidence: DocumentJson = {}
    if finding.item.evidence:
        evidence["test_result"] = finding.item.evidence
    if finding.item.metric:
        evidence["metric"] = finding.item.metric
    if reference := finding.item.reference or (failed.gate.guide if failed.gate else None):
        evidence["reference"] = reference
    return evidence


def _without_context(item: DocumentJson) -> DocumentJson:
    location = item["location"]
    shortened = (
        {key: value for key, value in location.items() if not key.startswith("context_")}
        if isinstance(location, dict)
        else location
    )
    return {**item, "location": shortened}


def document_items(whole: DocumentJson) -> list[DocumentJson]:
    """Return the items of a document."""
    items = whole["feedback_items"]
    return items if isinstance(items, list) else []


def _count_text(feedback: Feedback) -> str:
    blocking, warnings = len(feedback.blocking), len(feedback.warnings)
    parts = []
    if blocking or not warnings:
        parts.append(f"{blocking} blocking {'issue' if blocking == 1 else 'issues'}")
    if warnings:
        parts.append(f"{warnings} {'warning' if warnings == 1 else 'warnings'}")
    return " and ".join(parts)


def _changes_text(feedback: Feedback) -> str:
    if feedback.previous is None:
        return f"the first revision of {feedback.pull_request.name} that was reviewed"
    changes = format_changes(feedback.changes) or "nothing changed"
    return f"{changes} since iteration {feedback.previous.number}{_scored_higher(feedback)}"


def _scored_higher(feedback: Feedback) -> str:
    progress = feedback.progress
    quality_before = progress.quality_of(feedback.previous) if progress else None
    quality_now = progress.quality if progress else None
    return (
        f", which scored higher ({quality_before:.2f})"
        if quality_before and quality_now is not None and quality_now < quality_before
        else ""
    )
