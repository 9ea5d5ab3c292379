"""Of which shape are the answers of this API, in the words of OpenAPI 3.1?"""

from __future__ import annotations

import json
from typing import Any

from bot.adapters import schemas

Json = dict[str, Any]

TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_STORED = ("pull_requests", "documents", "verdicts", "commands", "rulings", "fixes", "deliveries")
_RATES: Json = {
    **dict.fromkeys(("claims", "verified", "contradicted", "unverifiable"), _COUNT),
    **{
        name: {"type": ["number", "null"], "minimum": 0, "maximum": 1}
        for name in (
            "grounding_rate",
            "hallucination_rate",
            "ungrounded_rate",
            "verification_success_rate",
            "false_claim_rate",
        )
    },
}
_ACCEPTED: Json = {
    "judged": _COUNT,
    "accepted": _COUNT,
    "rate": {"type": "number", "minimum": 0, "maximum": 1},
}


def shapes() -> Json:
    """Every shape by its name."""
    return {
        **_document(),
        "problem": record({"title": TEXT, "status": {"type": "integer"}, "detail": TEXT}),
        "app": record({"id": {"type": "integer"}, "login": TEXT}),
        "gate": record(
            {"tag": TEXT, "gate": TEXT, "description": TEXT, "fix": TEXT, "severity": TEXT},
        ),
        "issue": record(
            {
                "tag": TEXT,
                "count": _COUNT,
                "pct": {"type": "number", "minimum": 0, "maximum": 100},
                "gate": TEXT,
                "fix": TEXT,
                "auto_fixable": {"type": "boolean"},
            }
        ),
        "patterns": record(
            {
                "agent": TEXT,
                "period_hours": _COUNT,
                "total_prs": _COUNT,
                "rejected_prs": _COUNT,
                "approval_rate": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                "first_pass_prs": _COUNT,
                "top_issues": {"type": "array", "items": ref("issue"), "maxItems": 5},
                "issue_breakdown": by_name(_COUNT),
                "trend": {"type": "string", "enum": ["improving", "stable", "worsening", "no_data"]},
            }
        ),
        "export": record(
            {
                "login": TEXT,
                "id": {"type": "integer"},
                "repository": TEXT,
                **{name: {"type": "array"} for name in _STORED},
            }
        ),
        "feedback": record(
            {
                "documents": {"type": "array", "items": {"type": "object"}},
                "iteration_history": {"type": "array", "items": {"type": "object"}},
                "feedback_history": {"type": "array", "items": ref("told"), "maxItems": 5},
                "best_tracker": {"type": ["object", "null"]},
                "feedback_log": {"type": "array", "items": {"type": "object"}},
                "grounding": record(
                    {
                        "log": {"type": "array", "items": {"type": "object"}},
                        "rates": record(_RATES),
                        "audit": record(
                            {
                                "head": TEXT,
                                "claims": _COUNT,
                                "passed": _COUNT,
                                "failed": {"type": "array", "items": {"type": "object"}},
                            }
                        ),
                    }
                ),
            }
        ),
        "told": record(
            {
                "iteration": _COUNT,
                "head": TEXT,
                "timestamp": TEXT,
                "rejected": {"type": "boolean"},
                "issues": {"type": "array", "items": TEXT},
                "aspects": by_name(_COUNT),
            }
        ),
        "reviewing": record({**_RATES, "items": _COUNT, "vague_items": _COUNT}),
        "grounding": record(
            {
                "period_hours": _COUNT,
                "all": ref("reviewing"),
                "validators": by_name(ref("reviewing")),
            }
        ),
        "advised": record(
            {
                **dict.fromkeys(("pull_requests", "briefs", "judged", "accepted"), _COUNT),
                "types": by_name(record({"briefs": _COUNT, "pull_requests": _COUNT})),
                "actions": by_name(record(_ACCEPTED)),
            }
        ),
        "advice": record(
            {
                "period_hours": _COUNT,
                "all": ref("advised"),
                "authors": by_name(ref("advised")),
                "low_success": {"type": "array", "items": record({"action": TEXT, **_ACCEPTED})},
            }
        ),
    }


def ref(name: str) -> Json:
    """The shape of this name, referred to."""
    return {"$ref": f"#/components/schemas/{name}"}


def by_name(values: Json) -> Json:
    """Values of one shape under names of their own."""
    return {"type": "object", "additionalProperties": values}


def record(properties: Json) -> Json:
    """An object that has all of these."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _document() -> Json:
    """The schema of a document and its parts, with references as OpenAPI has them."""
    text = schemas.text("actionable-feedback").replace("#/$defs/", "#/components/schemas/")
    whole = json.loads(text)
    parts: Json = whole.pop("$defs")
    about = ("$id", "$schema", "examples")
    return {**parts, "ActionableFeedback": {k: v for k, v in whole.items() if k not in about}}
