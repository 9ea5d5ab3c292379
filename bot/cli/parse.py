"""`whetstone parse`: print the marker and document of a comment."""

from __future__ import annotations

import argparse
import json
import sys

from bot.cli import CommandFailed, terminal
from bot.feedback.marker import FEEDBACK_MARKER, parse_document
from bot.markdown.escape import parse_marker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--document", action="store_true", help="print the feedback document instead of the marker"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    terminal.prompt_for_input("a comment")
    body = sys.stdin.buffer.read().decode("utf-8", "replace")
    content = parse_document(body) if arguments.document else parse_marker(FEEDBACK_MARKER, body)
    kind = "feedback document" if arguments.document else f"{FEEDBACK_MARKER} marker"
    missing = CommandFailed(f"the comment has no {kind}")
    if content is None:
        raise missing
    try:
        print(json.dumps(content, ensure_ascii=False, allow_nan=False))
    except ValueError:  # JSON has no NaN and no infinity
        raise missing from None
