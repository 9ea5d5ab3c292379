"""The description of this API in the words of OpenAPI 3.1; a test holds it against the running server."""

from __future__ import annotations

from functools import cache

from bot.adapters import schemas
from bot.adapters.web.api.openapi_shapes import TEXT, Json, by_name, record, ref, shapes

_REPO = "/api/v1/repos/{owner}/{repo}"
_TOKEN: list[Json] = [{"token": []}]


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
                "Every author's patterns by login", by_name(ref("patterns")), _HOURS, *_PAGES
            ),
            f"{_REPO}/authors/{{login}}/patterns": _guarded(
                "One author's patterns", ref("patterns"), _path("login"), _HOURS
            ),
            f"{_REPO}/authors/{{login}}/export": _guarded(
                "All that is stored about an author", ref("export"), _path("login"), *_PAGES
            ),
            f"{_REPO}/grounding": _guarded(
                "How much of what the validators claimed was so", ref("grounding"), _HOURS
            ),
            f"{_REPO}/advice": _guarded(
                "Which advice was accepted at the next verdict", ref("advice"), _HOURS
            ),
            f"{_REPO}/pulls/{{number}}/feedback": _guarded(
                "The documents of a pull request, newest first", ref("feedback"), _NUMBER, *_PAGES
            ),
            f"{_REPO}/pulls/{{number}}/selection-report": _guarded(
                "Which iteration is the result, and why", None, _NUMBER
            ),
            f"{_REPO}/pulls/{{number}}/validations": _taken_in(),
            f"{_REPO}/gates": _guarded("The gates in force", {"type": "array", "items": ref("gate")}),
            "/api/v1/app": _open("The App's own login", ref("app"), {503: "GitHub is away"}),
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
            "schemas": shapes(),
        },
    }


def _guarded(summary: str, content: Json | None, *parameters: Json) -> Json:
    kind, schema = ("application/json", content) if content else ("text/markdown", TEXT)
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
        "408": "The body did not come in time",
        "413": "The body is larger than 10 MiB",
        "422": "Neither an actionable-feedback document nor a SARIF 2.1.0 log, and why",
        "429": "Too many calls, or too much at once, with this token",
        "503": "GitHub or the store is away",
    }
    sha = {"type": "string", "pattern": "^[0-9a-f]{40}$"}
    head = {"name": "head", "in": "query", "required": False, "schema": sha}
    log = record({"version": {"const": "2.1.0"}, "runs": {"type": "array", "items": {"type": "object"}}})
    either = {"anyOf": [ref("ActionableFeedback"), log]}
    queued = {"status": {"type": "string", "const": "queued"}, "delivery": TEXT}
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
                    "content": {"application/json": {"schema": record(queued)}},
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
        "headers": {"ETag": {"schema": TEXT}},
        "content": {kind: {"schema": schema}},
    }


def _problem(what: str) -> Json:
    return {"description": what, "content": {"application/problem+json": {"schema": ref("problem")}}}


def _path(name: str, schema: Json = TEXT) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query(name: str, most: int, default: int) -> Json:
    schema = {"type": "integer", "minimum": 1, "maximum": most, "default": default}
    return {"name": name, "in": "query", "required": False, "schema": schema}


_HOURS = _query("hours", 24 * 366, 168)
_PAGES = (_query("page", 1_000_000, 1), _query("per_page", 100, 30))
_NUMBER = _path("number", {"type": "integer", "minimum": 1, "maximum": 2**31 - 1})
_SCHEMA = _path("name", {"type": "string", "enum": list(schemas.names())})
