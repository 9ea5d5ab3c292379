"""`whetstone parse`: print the marker and document of a comment."""

from __future__ import annotations

import argparse
import json
import sys

from bot.cli import CliCommand, CommandFailed, terminal
from bot.feedback.marker import FEEDBACK_MARKER, parse_document
from bot.markdown.escape import parse_marker


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--document", action="store_true", help="the feedback document instead of the marker")


def _run(arguments: argparse.Namespace) -> int:
    terminal.prompt_for_input("a comment")
    body = sys.stdin.buffer.read().decode("utf-8", "replace")
    content = parse_document(body) if arguments.document else parse_marker(FEEDBACK_MARKER, body)
    kind = "feedback document" if arguments.document else f"{FEEDBACK_MARKER} marker"
    missing = CommandFailed(f"there is no {kind} in the comment")
    if content is None:
        raise missing
    try:
        print(json.dumps(content, ensure_ascii=False, allow_nan=False))
    except ValueError:  # JSON has no NaN and no infinity
        raise missing from None
    return 0


COMMAND = CliCommand(
    "parse",
    "Print the marker (or the document) of a comment on standard input as JSON.",
    "gh api repos/acme/knowledge/issues/comments/501 --jq .body | whetstone parse --document",
    _arguments,
    _run,
)
