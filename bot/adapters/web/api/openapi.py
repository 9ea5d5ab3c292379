"""The description of this API in the words of OpenAPI 3.1; a test holds it against the running server."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from bot.adapters import schemas

Json = dict[str, Any]

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_REPO = "/api/v1/repos/{owner}/{repo}"
_STORED = ("pull_requests", "documents", "verdicts", "commands", "rulings")
_TOKEN: list[Json] = [{"token": []}]
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


@cache
def description() -> Json:
    """The whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Whetstone",
            "version": "1",
            "description": "What a repository's reviewers rejected, and how its authors fared since.",
        },
        "paths": {
            f"{_REPO}/patterns": _guarded(
                "Every author's patterns by login", _object(_ref("patterns")), _HOURS, *_PAGES
            ),
            f"{_REPO}/authors/{{login}}/patterns": _guarded(
                "One author's patterns", _ref("patterns"), _path("login"), _HOURS
            ),
            f"{_REPO}/authors/{{login}}/export": _guarded(
                "All that is stored about an author", _ref("export"), _path("login"), *_PAGES
            ),
            f"{_REPO}/grounding": _guarded(
                "How much of what the validators claimed was so", _ref("grounding"), _HOURS
            ),
            f"{_REPO}/advice": _guarded(
                "Which advice was accepted at the next verdict", _ref("advice"), _HOURS
            ),
            f"{_REPO}/pulls/{{number}}/feedback": _guarded(
                "The documents of a pull request, newest first", _ref("feedback"), _NUMBER, *_PAGES
            ),
            f"{_REPO}/pulls/{{number}}/selection-report": _guarded(
                "Which iteration is the result, and why", None, _NUMBER
            ),
            f"{_REPO}/pulls/{{number}}/validations": _taken_in(),
            f"{_REPO}/gates": _guarded("The gates in force", {"type": "array", "items": _ref("gate")}),
            "/api/v1/app": _open("The App's own login", _ref("app"), {503: "GitHub is away"}),
            "/schemas/{name}.json": _open(
                "A published schema", {"type": "object"}, {404: "No such schema"}, _SCHEMA
            ),
            "/openapi.json": _open("This description", {"type": "object"}, {}),
        },
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A GitHub token; one that may read metadata is enough.",
                }
            },
            "schemas": _schemas(),
        },
    }


def _guarded(summary: str, content: Json | None, *parameters: Json) -> Json:
    kind, schema = ("application/json", content) if content else ("text/markdown", _TEXT)
    problems = {
        "400": "A parameter is wrong",
        "401": "No token, or one that GitHub does not know",
        "404": "Nothing there, or nothing that this token may see",
        "429": "Too many calls with this token",
        "503": "GitHub or the store is away",
    }
    return {
        "get": {
            "summary": summary,
            "security": _TOKEN,
            "parameters": [_path("owner"), _path("repo"), *parameters],
            "responses": {"200": _answer(summary, kind, schema), "304": {"description": "As known"}}
            | {status: _problem(what) for status, what in problems.items()},
        }
    }


def _taken_in() -> Json:
    problems = {
        "400": "The body is no JSON, or a parameter is wrong",
        "401": "No token, or one that GitHub does not know",
        "403": "The token's holder may not write",
        "404": "Nothing there, or nothing that this token may see",
        "422": "Neither an actionable-feedback document nor a SARIF 2.1.0 log, and why",
        "429": "Too many calls with this token",
        "503": "GitHub or the store is away",
    }
    sha = {"type": "string", "pattern": "^[0-9a-f]{40}$"}
    head = {"name": "head", "in": "query", "required": False, "schema": sha}
    log = _record({"version": {"const": "2.1.0"}, "runs": {"type": "array", "items": {"type": "object"}}})
    either = {"anyOf": [_ref("ActionableFeedback"), log]}
    queued = {"status": {"type": "string", "const": "queued"}, "delivery": _TEXT}
    return {
        "post": {
            "summary": "Hand in an actionable-feedback document, or a linter's SARIF 2.1.0 log",
            "security": _TOKEN,
            "parameters": [_path("owner"), _path("repo"), _NUMBER, head],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": either}},
            },
            "responses": {
                "202": {
                    "description": "It is safe on disk, and will be worked on",
                    "content": {"application/json": {"schema": _record(queued)}},
                }
            }
            | {status: _problem(what) for status, what in problems.items()},
        }
    }


def _open(summary: str, content: Json, problems: dict[int, str], *parameters: Json) -> Json:
    kind = "application/schema+json" if parameters else "application/json"
    return {
        "get": {
            "summary": summary,
            "security": [],
            "parameters": list(parameters),
            "responses": {"200": _answer(summary, kind, content), "304": {"description": "As known"}}
            | {str(status): _problem(what) for status, what in problems.items()},
        }
    }


def _answer(summary: str, kind: str, schema: Json) -> Json:
    return {
        "description": summary,
        "headers": {"ETag": {"schema": _TEXT}},
        "content": {kind: {"schema": schema}},
    }


def _problem(what: str) -> Json:
    return {"description": what, "content": {"application/problem+json": {"schema": _ref("problem")}}}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values}


def _path(name: str, schema: Json = _TEXT) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query(name: str, most: int, default: int) -> Json:
    schema = {"type": "integer", "minimum": 1, "maximum": most, "default": default}
    return {"name": name, "in": "query", "required": False, "schema": schema}


_HOURS = _query("hours", 24 * 366, 168)
_PAGES = (_query("page", 1_000_000, 1), _query("per_page", 100, 30))
_NUMBER = _path("number", {"type": "integer", "minimum": 1, "maximum": 2**31 - 1})
_SCHEMA = _path("name", {"type": "string", "enum": list(schemas.names())})


def _document() -> Json:
    """The schema of a document and its parts, with references as OpenAPI has them."""
    text = schemas.text("actionable-feedback").replace("#/$defs/", "#/components/schemas/")
    whole = json.loads(text)
    parts: Json = whole.pop("$defs")
    about = ("$id", "$schema", "examples")
    return {**parts, "ActionableFeedback": {k: v for k, v in whole.items() if k not in about}}


def _schemas() -> Json:
    return {
        **_document(),
        "problem": _record({"title": _TEXT, "status": {"type": "integer"}, "detail": _TEXT}),
        "app": _record({"id": {"type": "integer"}, "login": _TEXT}),
        "gate": _record(
            {"tag": _TEXT, "gate": _TEXT, "description": _TEXT, "fix": _TEXT, "severity": _TEXT},
        ),
        "issue": _record(
            {
                "tag": _TEXT,
                "count": _COUNT,
                "pct": {"type": "number", "minimum": 0, "maximum": 100},
                "gate": _TEXT,
                "fix": _TEXT,
                "auto_fixable": {"type": "boolean"},
            }
        ),
        "patterns": _record(
            {
                "agent": _TEXT,
                "period_hours": _COUNT,
                "total_prs": _COUNT,
                "rejected_prs": _COUNT,
                "approval_rate": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                "first_pass_prs": _COUNT,
                "top_issues": {"type": "array", "items": _ref("issue"), "maxItems": 5},
                "issue_breakdown": _object(_COUNT),
                "trend": {"type": "string", "enum": ["improving", "stable", "worsening", "no_data"]},
            }
        ),
        "export": _record(
            {
                "login": _TEXT,
                "id": {"type": "integer"},
                "repository": _TEXT,
                **{name: {"type": "array"} for name in _STORED},
            }
        ),
        "feedback": _record(
            {
                "documents": {"type": "array", "items": {"type": "object"}},
                "iteration_history": {"type": "array", "items": {"type": "object"}},
                "feedback_history": {"type": "array", "items": _ref("told"), "maxItems": 5},
                "best_tracker": {"type": ["object", "null"]},
                "feedback_log": {"type": "array", "items": {"type": "object"}},
                "grounding": _record(
                    {
                        "log": {"type": "array", "items": {"type": "object"}},
                        "rates": _record(_RATES),
                        "audit": _record(
                            {
                                "head": _TEXT,
                                "claims": _COUNT,
                                "passed": _COUNT,
                                "failed": {"type": "array", "items": {"type": "object"}},
                            }
                        ),
                    }
                ),
            }
        ),
        "told": _record(
            {
                "iteration": _COUNT,
                "head": _TEXT,
                "timestamp": _TEXT,
                "rejected": {"type": "boolean"},
                "issues": {"type": "array", "items": _TEXT},
                "aspects": _object(_COUNT),
            }
        ),
        "reviewing": _record({**_RATES, "items": _COUNT, "vague_items": _COUNT}),
        "grounding": _record(
            {
                "period_hours": _COUNT,
                "all": _ref("reviewing"),
                "validators": _object(_ref("reviewing")),
            }
        ),
        "advised": _record(
            {
                **dict.fromkeys(("pull_requests", "briefs", "judged", "accepted"), _COUNT),
                "types": _object(_record({"briefs": _COUNT, "pull_requests": _COUNT})),
                "actions": _object(_record(_ACCEPTED)),
            }
        ),
        "advice": _record(
            {
                "period_hours": _COUNT,
                "all": _ref("advised"),
                "authors": _object(_ref("advised")),
                "low_success": {"type": "array", "items": _record({"action": _TEXT, **_ACCEPTED})},
            }
        ),
    }


def _record(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}
