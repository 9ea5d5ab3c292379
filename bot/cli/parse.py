"""`whetstone parse`: what a machine reads in a comment."""

from __future__ import annotations

import argparse
import json
import sys

from bot.cli import Command, terminal
from bot.domain.comment_marker import MARKER
from bot.domain.escape import read_marker
from bot.domain.spoken import document


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--document", action="store_true", help="the feedback document instead of the marker")


def _run(arguments: argparse.Namespace) -> int:
    terminal.expects("a comment")
    body = sys.stdin.buffer.read().decode("utf-8", "replace")
    found = _json(document(body) if arguments.document else read_marker(MARKER, body))
    if found is None:
        what = "feedback document" if arguments.document else f"{MARKER} marker"
        print(f"whetstone parse: there is no {what} in the comment", file=sys.stderr)
        return 1
    print(found)
    return 0


def _json(found: dict[str, object] | None) -> str | None:
    """What was found as JSON, which has no NaN and no infinity."""
    try:
        return None if found is None else json.dumps(found, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return None


COMMAND = Command(
    "parse",
    "Print the marker (or the document) of a comment on standard input as JSON.",
    "gh api repos/acme/knowledge/issues/comments/501 --jq .body | whetstone parse --document",
    _arguments,
    _run,
)
