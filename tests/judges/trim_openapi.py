"""Which part of GitHub's OpenAPI description do the tests need?

Usage: python tests/judges/trim_openapi.py api.github.com.json
where the file is `generated/api.github.com.json` of the npm package `@octokit/openapi` (MIT).
Writes `openapi.json.gz` beside this script: only the operations and webhooks below, without prose.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).with_name("openapi.json.gz")

REPO = "/repos/{owner}/{repo}"

OPERATIONS = (
    "GET /app",
    "POST /app-manifests/{code}/conversions",
    "GET /app/hook/config",
    "GET /app/hook/deliveries",
    "POST /app/hook/deliveries/{delivery_id}/attempts",
    "GET /app/installations",
    "POST /app/installations/{installation_id}/access_tokens",
    "GET /installation/repositories",
    "GET /rate_limit",
    "GET /user",
    "GET /users/{username}",
    f"GET {REPO}",
    f"GET {REPO}/installation",
    f"GET {REPO}/actions/jobs/{{job_id}}/logs",
    f"GET {REPO}/actions/runs",
    f"GET {REPO}/actions/runs/{{run_id}}",
    f"POST {REPO}/check-runs",
    f"PATCH {REPO}/check-runs/{{check_run_id}}",
    f"GET {REPO}/check-runs/{{check_run_id}}/annotations",
    f"GET {REPO}/collaborators/{{username}}/permission",
    f"GET {REPO}/commits",
    f"GET {REPO}/commits/{{commit_sha}}/pulls",
    f"GET {REPO}/commits/{{ref}}/check-runs",
    f"GET {REPO}/commits/{{ref}}/status",
    f"GET {REPO}/compare/{{basehead}}",
    f"GET {REPO}/contents/{{path}}",
    f"GET {REPO}/git/blobs/{{file_sha}}",
    f"GET {REPO}/git/trees/{{tree_sha}}",
    f"GET {REPO}/issues",
    f"POST {REPO}/issues",
    f"GET {REPO}/issues/{{issue_number}}",
    f"PATCH {REPO}/issues/{{issue_number}}",
    f"GET {REPO}/issues/{{issue_number}}/comments",
    f"POST {REPO}/issues/{{issue_number}}/comments",
    f"GET {REPO}/issues/{{issue_number}}/labels",
    f"POST {REPO}/issues/{{issue_number}}/labels",
    f"DELETE {REPO}/issues/{{issue_number}}/labels/{{name}}",
    f"PATCH {REPO}/issues/comments/{{comment_id}}",
    f"POST {REPO}/issues/comments/{{comment_id}}/reactions",
    f"POST {REPO}/labels",
    f"GET {REPO}/labels/{{name}}",
    f"GET {REPO}/pulls",
    f"GET {REPO}/pulls/{{pull_number}}",
    f"GET {REPO}/pulls/{{pull_number}}/comments",
    f"POST {REPO}/pulls/{{pull_number}}/comments/{{comment_id}}/replies",
    f"GET {REPO}/pulls/{{pull_number}}/files",
    f"GET {REPO}/pulls/{{pull_number}}/reviews",
    f"POST {REPO}/pulls/{{pull_number}}/reviews",
    f"POST {REPO}/pulls/comments/{{comment_id}}/reactions",
)

WEBHOOKS = (
    "check-run-completed",
    "check-run-created",
    "installation-created",
    "installation-deleted",
    "installation-new-permissions-accepted",
    "installation-suspend",
    "installation-unsuspend",
    "installation-repositories-added",
    "installation-repositories-removed",
    "issue-comment-created",
    "issue-comment-deleted",
    "issue-comment-edited",
    "issues-closed",
    "issues-opened",
    "issues-edited",
    "issues-labeled",
    "issues-reopened",
    "issues-unlabeled",
    "pull-request-closed",
    "pull-request-converted-to-draft",
    "pull-request-edited",
    "pull-request-labeled",
    "pull-request-locked",
    "pull-request-opened",
    "pull-request-ready-for-review",
    "pull-request-reopened",
    "pull-request-review-request-removed",
    "pull-request-review-requested",
    "pull-request-synchronize",
    "pull-request-unlabeled",
    "pull-request-unlocked",
    "pull-request-review-dismissed",
    "pull-request-review-edited",
    "pull-request-review-submitted",
    "pull-request-review-comment-created",
    "pull-request-review-comment-deleted",
    "pull-request-review-comment-edited",
    "pull-request-review-thread-resolved",
    "pull-request-review-thread-unresolved",
    "push",
    "repository-archived",
    "repository-deleted",
    "repository-privatized",
    "repository-publicized",
    "repository-renamed",
    "repository-transferred",
    "repository-unarchived",
    "status",
)

# No prose; and no discriminators, which GitHub puts on answers that are lists.
DROPPED = frozenset(
    {
        "description",
        "summary",
        "example",
        "examples",
        "externalDocs",
        "tags",
        "title",
        "links",
        "discriminator",
    }
)


def trim(description: dict[str, Any]) -> dict[str, Any]:
    """The description with only the operations and webhooks above and what they refer to."""
    _correct(description)
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        method, path = operation.split()
        paths.setdefault(path, {})[method.lower()] = _without_prose(
            description["paths"][path][method.lower()]
        )
    webhooks = {name: _webhook(description, name) for name in WEBHOOKS}
    kept: dict[str, Any] = {
        "openapi": description["openapi"],
        "info": {"title": description["info"]["title"], "version": description["info"]["version"]},
        "servers": [{"url": "https://api.github.com"}],
        "paths": paths,
        "x-webhooks": webhooks,
        "components": {},
    }
    _follow(kept, description["components"], kept["components"])
    return kept


def _correct(description: dict[str, Any]) -> None:
    """Mend what GitHub's own answers contradict."""
    # In this one list an account would have to be a user and an enterprise at once.
    answer = description["paths"]["/app/installations"]["get"]["responses"]["200"]
    answer["content"]["application/json"]["schema"]["items"] = {"$ref": "#/components/schemas/installation"}
    schemas = description["components"]["schemas"]
    labels = schemas["pull-request-simple"]["properties"]["labels"]["items"]
    labels["properties"]["description"]["nullable"] = True
    for name in ("pull-request", "pull-request-simple"):  # a deleted fork leaves no repository
        head = schemas[name]["properties"]["head"]["properties"]
        head["repo"] = {"$ref": "#/components/schemas/nullable-repository"}
    for name in ("pull-request-review-comment", "review-comment"):
        for gone in ("line", "position"):  # both are null once the comment is outdated
            schemas[name]["properties"][gone]["nullable"] = True


def _webhook(description: dict[str, Any], name: str) -> Any:
    content = description["x-webhooks"][name]["post"]["requestBody"]["content"]
    return _without_prose(content["application/json"]["schema"])


def _without_prose(node: Any, *, names: bool = False) -> Any:
    """The node without prose; `names` says that its keys are names of things, not keywords."""
    if isinstance(node, list):
        return [_without_prose(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: _without_prose(value, names=key in {"properties", "responses", "content"} and not names)
        for key, value in node.items()
        if names or not (key in DROPPED or key.startswith("x-") or key == "headers")
    }
    if kept.get("nullable") is True and "enum" in kept and None not in kept["enum"]:
        # The description means null by `nullable` alone; a validator wants it among the values.
        kept["enum"] = [*kept["enum"], None]
    if "responses" in kept and not names:
        # A response without a description is no valid description.
        kept["responses"] = {
            status: answer if "$ref" in answer else {"description": "", **answer}
            for status, answer in kept["responses"].items()
        }
    return kept


def _follow(node: Any, source: dict[str, Any], into: dict[str, Any]) -> None:
    if isinstance(node, list):
        for each in node:
            _follow(each, source, into)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                _copy(value, source, into)
            else:
                _follow(value, source, into)


def _copy(reference: str, source: dict[str, Any], into: dict[str, Any]) -> None:
    _, _, kind, name = reference.split("/")
    if name in into.setdefault(kind, {}):
        return
    part = _without_prose(source[kind][name])
    into[kind][name] = {"description": "", **part} if kind == "responses" else part
    _follow(part, source, into)


def main() -> None:
    """Read the full description named on the command line and write the trimmed one."""
    trimmed = trim(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    text = json.dumps(trimmed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # No time of writing inside: the same description gives the same bytes.
    TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
