"""Which part of GitHub's GraphQL schema do the tests need?

Usage: python tests/judges/trim_graphql.py schema.graphql
where the file is `schema.graphql` of the npm package `@octokit/graphql-schema` (MIT).
Writes `github.graphql` beside this script: only the types and fields below, without prose.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphql import DocumentNode, Visitor, parse, print_ast, visit

TARGET = Path(__file__).with_name("github.graphql")

FIELDS = {
    "Query": "viewer",
    "Mutation": "addReaction minimizeComment",
    "AddReactionInput": "clientMutationId content subjectId",
    "AddReactionPayload": "clientMutationId reaction",
    "MinimizeCommentInput": "classifier clientMutationId subjectId",
    "MinimizeCommentPayload": "clientMutationId minimizedComment",
    "IssueComment": "id isMinimized minimizedReason",
    "Minimizable": "isMinimized minimizedReason",
    "Reaction": "content",
    "User": "databaseId id login",
}
WHOLE = ["ReactionContent", "ReportedContentClassifiers"]


class _WithoutProse(Visitor):
    def enter(self, node: Any, *_: Any) -> Any:
        prose = {"description": None, "directives": ()}
        return replace(node, **{name: empty for name, empty in prose.items() if getattr(node, name, empty)})


def trim(document: DocumentNode) -> str:
    """The schema with only the types and fields above."""
    kept = []
    for node in document.definitions:
        name = node.name.value
        if name not in FIELDS and name not in WHOLE:
            continue
        trimmed = visit(node, _WithoutProse())
        if name in FIELDS:
            wanted = FIELDS[name].split()
            parts = {"fields": tuple(each for each in trimmed.fields if each.name.value in wanted)}
            if getattr(trimmed, "interfaces", None):
                parts["interfaces"] = tuple(each for each in trimmed.interfaces if each.name.value in FIELDS)
            trimmed = replace(trimmed, **parts)
        kept.append(print_ast(trimmed))
    return "\n\n".join(kept) + "\n"


if __name__ == "__main__":
    TARGET.write_text(trim(parse(Path(sys.argv[1]).read_text(encoding="utf-8"))), encoding="utf-8")
