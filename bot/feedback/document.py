"""Build the actionable-feedback JSON document."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from bot import regex
from bot.feedback.model import FailedGate, Feedback, GateItem
from bot.gates.model import Aspect
from bot.grounding.log import author_claims
from bot.iterations.model import iteration_phase
from bot.markdown.escape import html_safe_json, truncate
from bot.markdown.format import format_count
from bot.markdown.links import FEEDBACK_SCHEMA_ID
from bot.paths import is_secret_path
from bot.pull_request.model import Item
from bot.verdicts.clarity import item_clarity

GENERIC_FIX = "See the repository's quality gates."
_UNTAGGED_ACTION = "Change what this comment asks for, or answer it in its thread."
_MIN_TEXT, _MAX_TEXT, _MAX_ACTION = 20, 500, 1000

DocumentJson = dict[str, Any]


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
    items = whole["feedback_items"]
    copied = [
        {**item, "location": {k: v for k, v in item["location"].items() if not k.startswith("context_")}}
        for item in items[:most]
    ]
    return {**whole, "feedback_items": copied, **_stated(more=max(0, len(items) - most))}


def document_fence(copy: DocumentJson) -> str:
    """Render the copy as a JSON fence, one item per line; no string in it can end the fence."""
    texts = {key: html_safe_json(value) for key, value in copy.items()}
    rows = ",\n".join(f"  {html_safe_json(item)}" for item in copy["feedback_items"])
    texts["feedback_items"] = f"[\n{rows}\n ]"
    body = ",\n".join(f' "{key}": {text}' for key, text in texts.items())
    return "```json\n{\n" + body.replace("```", "\\u0060\\u0060\\u0060") + "\n}\n```"


def summarize_feedback(feedback: Feedback) -> str:
    """Return one sentence of 50 to 500 characters, made of counts."""
    blocking, warnings = len(feedback.blocking), len(feedback.warnings)
    counts = [format_count(blocking, "blocking issue")] if blocking or not warnings else []
    counts += [format_count(warnings, "warning")] if warnings else []
    budget = format_iteration_budget(feedback)
    return truncate(f"{' and '.join(counts)} at iteration {budget}: {_changes_text(feedback)}.", _MAX_TEXT)


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
    everywhere = all(finding.item.place for finding in feedback.findings)
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
        "evidence": _stated(
            test_result=item.evidence,
            metric=item.metric,
            reference=item.reference or (gate.guide if gate else None),
        )
        or None,
    }
    return {key: value for key, value in document.items() if value is not None}


def _clarity(finding: GateItem) -> DocumentJson | None:
    """Return whether the item tells its author what to do; None for a check, whose texts no person wrote."""
    if finding.validator.check:
        return None
    result = item_clarity(finding.item)
    return {"clear": result.clear, "score": result.score, **_stated(missing=list(result.missing))}


def _grounding(finding: GateItem) -> DocumentJson | None:
    """Return the outcome of the item's claims, and its source."""
    grounding = finding.grounding
    if grounding is None:
        return None
    decisive = grounding.decisive
    doubt = {} if grounding.confirmed else {"claim": decisive.claim, "note": decisive.note}
    moved = _stated(nearest=decisive.nearest, moved_from=grounding.moved_from)
    return {"outcome": grounding.outcome.value, "source": grounding.source, **doubt, **moved}


def item_issue_text(finding: GateItem, failed: FailedGate) -> str:
    """Return the validator's text; a short one is followed by the gate's description."""
    words = finding.item.words
    if len(words) >= _MIN_TEXT:
        return truncate(words, _MAX_TEXT)
    by = finding.validator.name
    if failed.gate:
        subject = failed.gate.description
    elif failed.tag:
        subject = f"{by} names {failed.name}, which is not a gate of this repository"
    else:
        subject = f"reported by {by}"
    return _pad(truncate(f"{words} ({subject})" if words else subject, _MAX_TEXT), failed)


def _pad(text: str, failed: FailedGate) -> str:
    return text if len(text) >= _MIN_TEXT else f"{text} (gate {failed.name})".ljust(_MIN_TEXT, ".")


def _location(item: Item, shared: str | None) -> DocumentJson:
    """Return the location: inside the file that all items share, or with the file named before it."""
    location, (kind, name) = item.place, item.part or ("path", ".")
    if location is None:
        # The schema knows no tests.
        return {"type": "element" if kind == "test" else kind, "reference": name}
    path, line = location.path, location.line
    end = location.end_line if line and location.end_line != line else None
    reference = path
    if line:
        kind, reference = ("range", f"{line}-{end}") if end else ("line", str(line))
    elif item.part is None or kind == "test":
        kind = "path"
    else:
        reference = name
    is_quoted = not is_secret_path(path)  # lines of such a file are never quoted
    return {
        "type": kind,
        "reference": reference if kind == "path" or path == shared else f"{path}:{reference}",
        "path": path,
        **_stated(
            line=line,
            end_line=end,
            context_before=is_quoted and item.context_before,
            context_after=is_quoted and item.context_after,
        ),
    }


def _stated(**values: Any) -> DocumentJson:
    """Return the values without those that nobody stated."""
    return {name: value for name, value in values.items() if value}


def _suggestion(finding: GateItem, failed: FailedGate, rank: int) -> DocumentJson:
    return {
        "action": _pad(truncate(_action(finding.item, failed), _MAX_ACTION), failed),
        "rationale": _pad(truncate(_rationale(finding, failed), _MAX_TEXT), failed),
        "priority": min(rank, 10),
        **_stated(example=finding.item.suggestion),
    }


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


def _changes_text(feedback: Feedback) -> str:
    if feedback.previous is None:
        return f"the first revision of {feedback.pull_request.name} that was reviewed"
    changes = format_changes(feedback.changes) or "nothing changed"
    text = f"{changes} since iteration {feedback.previous.number}"
    before, now = (
        feedback.progress.quality_of(iteration) if feedback.progress else None
        for iteration in (feedback.previous, feedback.iteration)
    )
    is_worse = before and now is not None and now < before
    return f"{text}, which scored higher ({before:.2f})" if is_worse else text
