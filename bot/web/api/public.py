"""Public endpoints and the OpenAPI description."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

from aiohttp import web

from bot.findings.turns import Turn
from bot.gates import schemas
from bot.gates.model import Gate
from bot.gates.rule_book import RuleBook
from bot.github.errors import GitHubError
from bot.github.model import TokenAccess
from bot.pull_request.model import FindingStatus
from bot.values import Account
from bot.web.api.access import RepositoryGuard
from bot.web.cache import SingleFlightCache
from bot.web.responses import api_not_found, cached_response, github_unavailable

OpenApiJson = dict[str, Any]

TEXT_SCHEMA = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_STORED = ("pull_requests", "documents", "verdicts", "commands", "rulings", "fixes", "deliveries")
_RATES: OpenApiJson = {
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
_ACCEPTED: OpenApiJson = {
    "judged": _COUNT,
    "accepted": _COUNT,
    "rate": {"type": "number", "minimum": 0, "maximum": 1},
}


_OPTIONAL_TEXT: OpenApiJson = {"type": ["string", "null"]}
_OPTIONAL_LINE: OpenApiJson = {"type": ["integer", "null"], "minimum": 1}
_STATUS: OpenApiJson = {"type": "string", "enum": [status.value for status in FindingStatus]}
_LOCATION: OpenApiJson = {
    "type": "object",
    "properties": {
        "path": TEXT_SCHEMA,
        "line": _OPTIONAL_LINE,
        "end_line": _OPTIONAL_LINE,
    },
    "required": ["path", "line", "end_line"],
}


def api_schemas() -> OpenApiJson:
    """Every schema by its name."""
    return {
        **_document(),
        "validation": {
            **object_schema(
                {
                    "id": TEXT_SCHEMA,
                    "pull_request": _COUNT,
                    "status": {"type": "string", "enum": ["queued", "applied", "refused"]},
                }
            ),
            "description": "Applied: with head, verdict, findings, more, blocking and replaced_by; "
            "refused: with the reason.",
        },
        "problem": object_schema(
            {"title": TEXT_SCHEMA, "status": {"type": "integer"}, "detail": TEXT_SCHEMA}
        ),
        "app": object_schema({"id": {"type": "integer"}, "login": TEXT_SCHEMA}),
        "gate": object_schema(
            {
                "tag": TEXT_SCHEMA,
                "gate": TEXT_SCHEMA,
                "description": TEXT_SCHEMA,
                "fix": TEXT_SCHEMA,
                "severity": TEXT_SCHEMA,
            },
        ),
        "issue": object_schema(
            {
                "tag": TEXT_SCHEMA,
                "count": _COUNT,
                "pct": {"type": "number", "minimum": 0, "maximum": 100},
                "gate": TEXT_SCHEMA,
                "fix": TEXT_SCHEMA,
                "auto_fixable": {"type": "boolean"},
            }
        ),
        "patterns": object_schema(
            {
                "agent": TEXT_SCHEMA,
                "period_hours": _COUNT,
                "total_prs": _COUNT,
                "rejected_prs": _COUNT,
                "approval_rate": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                "first_pass_prs": _COUNT,
                "top_issues": {"type": "array", "items": schema_ref("issue"), "maxItems": 5},
                "issue_breakdown": map_schema(_COUNT),
                "trend": {"type": "string", "enum": ["improving", "stable", "worsening", "no_data"]},
            }
        ),
        "export": object_schema(
            {
                "login": TEXT_SCHEMA,
                "id": {"type": "integer"},
                "repository": TEXT_SCHEMA,
                **{name: {"type": "array"} for name in _STORED},
            }
        ),
        "feedback": object_schema(
            {
                "documents": {"type": "array", "items": {"type": "object"}},
                "iteration_history": {"type": "array", "items": {"type": "object"}},
                "feedback_history": {"type": "array", "items": schema_ref("told"), "maxItems": 5},
                "best_tracker": {"type": ["object", "null"]},
                "feedback_log": {"type": "array", "items": {"type": "object"}},
                "grounding": object_schema(
                    {
                        "log": {"type": "array", "items": {"type": "object"}},
                        "rates": object_schema(_RATES),
                        "audit": object_schema(
                            {
                                "head": TEXT_SCHEMA,
                                "claims": _COUNT,
                                "passed": _COUNT,
                                "failed": {"type": "array", "items": {"type": "object"}},
                            }
                        ),
                    }
                ),
            }
        ),
        "findings": object_schema(
            {
                "findings": {"type": "array", "items": schema_ref("finding")},
                "omitted": _COUNT,
                "turn": {"type": "string", "enum": [turn.value for turn in Turn]},
                "pending": {"type": "array", "items": TEXT_SCHEMA},
                "head": _OPTIONAL_TEXT,
                "current_head": TEXT_SCHEMA,
                "iteration": {"type": ["integer", "null"], "minimum": 1},
            }
        ),
        "finding": object_schema(
            {
                "id": {"type": "string", "pattern": "^f[0-9]+$"},
                "status": _STATUS,
                "tag": _OPTIONAL_TEXT,
                "gate": _OPTIONAL_TEXT,
                "looks_like": _OPTIONAL_TEXT,
                "blocking": {"type": "boolean"},
                "by": TEXT_SCHEMA,
                "words": TEXT_SCHEMA,
                "location": {"anyOf": [_LOCATION, {"type": "null"}]},
                "url": TEXT_SCHEMA,
                "reported_at": TEXT_SCHEMA,
                "history": {
                    "type": "array",
                    "items": object_schema(
                        {"status": _STATUS, **dict.fromkeys(("by", "at", "head"), TEXT_SCHEMA)}
                    ),
                },
            }
        ),
        "lessons": object_schema(
            {
                "repository": TEXT_SCHEMA,
                "agent": _OPTIONAL_TEXT,
                "pull_requests": _COUNT,
                "lessons": {"type": "array", "items": schema_ref("lesson")},
                "removals": {"type": "array", "items": schema_ref("lesson")},
                "helped": _COUNT,
                "without_effect": _COUNT,
                "agents": {
                    "type": "array",
                    "items": object_schema(
                        {
                            "agent": TEXT_SCHEMA,
                            "model": _OPTIONAL_TEXT,
                            "pull_requests": _COUNT,
                            "tags": map_schema(_COUNT),
                        }
                    ),
                },
                "markdown": TEXT_SCHEMA,
            }
        ),
        "lesson": object_schema(
            {
                **dict.fromkeys(("tag", "gate", "instruction", "text", "fix"), TEXT_SCHEMA),
                **{name: {"type": "boolean"} for name in ("blocking", "auto_fixable")},
                **dict.fromkeys(("broken", "of", "prevented", "inferred"), _COUNT),
                "folder": _OPTIONAL_TEXT,
                "paths": {"type": "array", "items": TEXT_SCHEMA},
                "evidence": {
                    "type": "array",
                    "items": object_schema({"number": _COUNT, "url": TEXT_SCHEMA}),
                },
                "last_fix": {"type": ["object", "null"]},
                "effect": {"type": ["object", "null"]},
            }
        ),
        "told": object_schema(
            {
                "iteration": _COUNT,
                "head": TEXT_SCHEMA,
                "timestamp": TEXT_SCHEMA,
                "rejected": {"type": "boolean"},
                "issues": {"type": "array", "items": TEXT_SCHEMA},
                "aspects": map_schema(_COUNT),
            }
        ),
        "reviewing": object_schema({**_RATES, "items": _COUNT, "vague_items": _COUNT}),
        "grounding": object_schema(
            {
                "period_hours": _COUNT,
                "all": schema_ref("reviewing"),
                "validators": map_schema(schema_ref("reviewing")),
            }
        ),
        "advised": object_schema(
            {
                **dict.fromkeys(("pull_requests", "briefs", "judged", "accepted"), _COUNT),
                "types": map_schema(object_schema({"briefs": _COUNT, "pull_requests": _COUNT})),
                "actions": map_schema(object_schema(_ACCEPTED)),
            }
        ),
        "advice": object_schema(
            {
                "period_hours": _COUNT,
                "all": schema_ref("advised"),
                "authors": map_schema(schema_ref("advised")),
                "low_success": {
                    "type": "array",
                    "items": object_schema({"action": TEXT_SCHEMA, **_ACCEPTED}),
                },
            }
        ),
    }


def schema_ref(name: str) -> OpenApiJson:
    """A reference to the schema of this name."""
    return {"$ref": f"#/components/schemas/{name}"}


def map_schema(values: OpenApiJson) -> OpenApiJson:
    """A map from names to values of one schema."""
    return {"type": "object", "additionalProperties": values}


def object_schema(properties: OpenApiJson) -> OpenApiJson:
    """An object with all of these properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _document() -> OpenApiJson:
    """The schema of a document and its parts, with references as OpenAPI has them."""
    text = schemas.schema_text("actionable-feedback").replace("#/$defs/", "#/components/schemas/")
    whole = json.loads(text)
    parts: OpenApiJson = whole.pop("$defs")
    about = ("$id", "$schema", "examples")
    return {**parts, "ActionableFeedback": {k: v for k, v in whole.items() if k not in about}}


_REPO = "/api/v1/repos/{owner}/{repo}"
_TOKEN: list[OpenApiJson] = [{"token": []}]


@cache
def describe_api() -> OpenApiJson:
    """The OpenAPI description of the HTTP API."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Whetstone",
            "version": "1",
            "description": "What reviewers rejected in a repository, and how its authors have done since.",
        },
        "paths": {
            f"{_REPO}/patterns": _guarded(
                "Every author's patterns by login", map_schema(schema_ref("patterns")), _HOURS, *_PAGES
            ),
            f"{_REPO}/authors/{{login}}/patterns": _guarded(
                "One author's patterns", schema_ref("patterns"), _path("login"), _HOURS
            ),
            f"{_REPO}/authors/{{login}}/export": _guarded(
                "Everything stored about an author", schema_ref("export"), _path("login"), *_PAGES
            ),
            f"{_REPO}/grounding": _guarded(
                "How many of the validators' claims were verified", schema_ref("grounding"), _HOURS
            ),
            f"{_REPO}/advice": _guarded(
                "Which advice was accepted at the next verdict", schema_ref("advice"), _HOURS
            ),
            f"{_REPO}/lessons": _guarded(
                "What reviews here keep asking for, with evidence and measured effect",
                schema_ref("lessons"),
                {"name": "agent", "in": "query", "required": False, "schema": TEXT_SCHEMA},
                _query("max", 50, 10),
                _query("least", 100, 2),
            ),
            f"{_REPO}/pulls/{{number}}/feedback": _guarded(
                "The documents of a pull request, newest first", schema_ref("feedback"), _NUMBER, *_PAGES
            ),
            f"{_REPO}/pulls/{{number}}/findings": _guarded(
                "Every finding with its status and history, and whose turn it is",
                schema_ref("findings"),
                _NUMBER,
                *_PAGES,
            ),
            f"{_REPO}/pulls/{{number}}/selection-report": _guarded(
                "Which iteration was selected, and why", None, _NUMBER
            ),
            f"{_REPO}/pulls/{{number}}/validations": _validations(),
            f"{_REPO}/validations/{{id}}": _guarded(
                "The status of a validation", schema_ref("validation"), _path("id")
            ),
            f"{_REPO}/gates": _guarded("The gates in force", {"type": "array", "items": schema_ref("gate")}),
            "/api/v1/app": _open("The App's own login", schema_ref("app"), {503: "GitHub is unavailable"}),
            "/schemas/{name}.json": _open(
                "A published schema", {"type": "object"}, {404: "No such schema"}, _SCHEMA_NAME
            ),
            "/openapi.json": _open("This description", {"type": "object"}, {}),
        },
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A GitHub token. Read access to metadata is enough.",
                }
            },
            "schemas": api_schemas(),
        },
    }


def _guarded(summary: str, content: OpenApiJson | None, *parameters: OpenApiJson) -> OpenApiJson:
    kind, schema = ("application/json", content) if content else ("text/markdown", TEXT_SCHEMA)
    problems = {
        "400": "Invalid parameter",
        "401": "The token is missing or unknown to GitHub",
        "404": "Not found, or not visible to this token",
        "429": "Too many requests with this token",
        "503": "GitHub or the store is unavailable",
    }
    return {
        "get": {
            "summary": summary,
            "security": _TOKEN,
            "parameters": [_path("owner"), _path("repo"), *parameters],
            "responses": {"200": _answer(summary, kind, schema), "304": {"description": "Not modified"}}
            | {status: _problem(what) for status, what in problems.items()},
        }
    }


def _validations() -> OpenApiJson:
    problems = {
        "400": "Invalid parameter",
        "401": "The token is missing, unknown to GitHub, or an OIDC token for another server",
        "403": "The token can't write here, or the workflow run may not validate this pull request",
        "404": "Not found, or not visible to this token",
        "408": "The body took too long to arrive",
        "413": "The body is larger than 10 MiB",
        "422": "A body in none of the formats, with every problem",
        "429": "Too many requests, or too much data at once, with this token",
        "503": "GitHub or the store is unavailable",
    }
    query = {"head": "^[0-9a-f]{40}$", "tool": "^[ -~]{0,100}$", "root": "^[ -~]{0,200}$"}
    texts = [
        {"name": name, "in": "query", "required": False, "schema": {"type": "string", "pattern": pattern}}
        for name, pattern in query.items()
    ]
    reports = (schemas.schema_validator(f"reports/{name}").schema for name in ("sarif", "rdjson", "findings"))
    forms = [schema_ref("ActionableFeedback"), *map(_without_definitions, reports)]
    accepted = {
        "id": TEXT_SCHEMA,
        "results": _COUNT,
        "mapped": _COUNT,
        "unmapped": {"type": "array", "items": TEXT_SCHEMA},
        "status_url": TEXT_SCHEMA,
    }
    return {
        "post": {
            "summary": "Submit a document, SARIF 2.1.0, rdjson, rdjsonl, JUnit XML or the short form",
            "security": _TOKEN,
            "parameters": [_path("owner"), _path("repo"), _NUMBER, *texts],
            "requestBody": {
                "required": True,
                "description": "The format is detected from the content; rdjsonl and JUnit XML are not JSON.",
                "content": {"application/json": {"schema": {"anyOf": forms}}},
            },
            "responses": {
                "202": {
                    "description": "Stored; it will be processed",
                    "content": {"application/json": {"schema": object_schema(accepted)}},
                }
            }
            | {status: _problem(what) for status, what in problems.items()},
        }
    }


def _without_definitions(schema: Any) -> OpenApiJson:
    return {key: value for key, value in schema.items() if key not in {"$schema", "$defs", "title"}}


def _open(
    summary: str, content: OpenApiJson, problems: dict[int, str], *parameters: OpenApiJson
) -> OpenApiJson:
    kind = "application/schema+json" if parameters else "application/json"
    return {
        "get": {
            "summary": summary,
            "security": [],
            "parameters": list(parameters),
            "responses": {"200": _answer(summary, kind, content), "304": {"description": "Not modified"}}
            | {str(status): _problem(what) for status, what in problems.items()},
        }
    }


def _answer(summary: str, kind: str, schema: OpenApiJson) -> OpenApiJson:
    return {
        "description": summary,
        "headers": {"ETag": {"schema": TEXT_SCHEMA}},
        "content": {kind: {"schema": schema}},
    }


def _problem(what: str) -> OpenApiJson:
    return {"description": what, "content": {"application/problem+json": {"schema": schema_ref("problem")}}}


def _path(name: str, schema: OpenApiJson = TEXT_SCHEMA) -> OpenApiJson:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query(name: str, most: int, default: int) -> OpenApiJson:
    schema = {"type": "integer", "minimum": 1, "maximum": most, "default": default}
    return {"name": name, "in": "query", "required": False, "schema": schema}


_HOURS = _query("hours", 24 * 366, 168)
_PAGES = (_query("page", 1_000_000, 1), _query("per_page", 100, 30))
_NUMBER = _path("number", {"type": "integer", "minimum": 1, "maximum": 2**31 - 1})
_SCHEMA_NAME = _path("name", {"type": "string", "enum": list(schemas.schema_names())})


PUBLIC_MAX_AGE = 30.0
"""Seconds for which GitHub is not asked again who we are, whatever it said."""
_SCHEMA = "application/schema+json"


@dataclass(frozen=True, slots=True)
class PublicEndpoints:
    """Answers that need no token, and the gates, which need one."""

    me: Callable[[], Awaitable[Account]]
    rule_book: RuleBook
    shared: SingleFlightCache[str, Account | GitHubError] = field(
        default_factory=lambda: SingleFlightCache(PUBLIC_MAX_AGE)
    )

    def routes(self, guard: RepositoryGuard) -> list[web.RouteDef]:
        """The routes about the bot itself."""
        return [
            guard.get("/gates", self.gates),
            web.get("/api/v1/app", self.app, allow_head=False),
            web.get("/schemas/{name}.json", self.schema, allow_head=False),
            web.get("/openapi.json", self.openapi, allow_head=False),
        ]

    async def gates(self, request: web.Request, access: TokenAccess) -> web.Response:
        """The gates in force in a repository, in order."""
        rules = await self.rule_book.rules(access.repository)
        return cached_response(request, [_gate(gate) for gate in rules.gates])

    async def app(self, request: web.Request) -> web.Response:
        """The App's login: agents trust comments of this account only."""
        me = await self.shared.get("me", self._me)
        if isinstance(me, GitHubError):
            return github_unavailable(me, datetime.now(UTC)).response()
        return cached_response(request, {"id": me.id, "login": me.login})

    async def _me(self) -> Account | GitHubError:
        try:
            return await self.me()
        except GitHubError as error:
            return error  # cached as well: anybody may ask, as often as they like

    async def schema(self, request: web.Request) -> web.Response:
        """A published schema by its name."""
        try:
            text = schemas.schema_text(request.match_info["name"])
        except LookupError:
            return api_not_found(
                f"Unknown schema. Use one of {', '.join(schemas.schema_names())}."
            ).response()
        return cached_response(request, text, content_type=_SCHEMA)

    async def openapi(self, request: web.Request) -> web.Response:
        """The description of this API."""
        return cached_response(request, describe_api())


def _gate(gate: Gate) -> dict[str, Any]:
    return {**asdict(gate), "severity": gate.severity.value, "aspect": gate.aspect.value}
