"""`whetstone comment`: print what the App says about a pull request."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

from bot import settings as settings_of
from bot.cli import CliCommand
from bot.cli.common import parse_repository_name, positive_integer, report_usage_errors
from bot.feedback.marker import FEEDBACK_MARKER, find_bot_comment, parse_document
from bot.github.errors import GitHubError
from bot.github.model import ThreadComment
from bot.markdown.escape import parse_marker


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", help="where the pull request is")
    parser.add_argument("number", metavar="N", type=positive_integer, help="the pull request's number")
    parser.add_argument("--login", required=True, help="the App's login; whose marker counts")
    parser.add_argument("--marker", action="store_true", help="the marker instead of the document")


def _run(arguments: argparse.Namespace) -> int:
    repository = parse_repository_name(arguments.repository)
    token = os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN")
    try:
        with report_usage_errors():
            thread = asyncio.run(read_thread(token, repository, arguments.number))
    except GitHubError as error:
        print(f"whetstone comment: {error}", file=sys.stderr)
        return 1
    found = find_bot_comment(arguments.login, thread)
    if found is None:
        print(f"whetstone comment: {arguments.login} has said nothing there", file=sys.stderr)
        return 1
    marker = parse_marker(FEEDBACK_MARKER, found.body)
    # A resolved comment needs no document: its marker says `accept`.
    shown = marker if arguments.marker else parse_document(found.body) or marker
    print(json.dumps(shown, ensure_ascii=False))
    return 0


COMMAND = CliCommand(
    "comment",
    "Print the App's feedback on a pull request as JSON, read with your own GH_TOKEN.",
    "GH_TOKEN=$(gh auth token) whetstone comment acme/knowledge 212 --login 'whetstone-acme[bot]'",
    _arguments,
    _run,
)


async def read_thread(
    token: str | None, repository: tuple[str, str], number: int
) -> tuple[ThreadComment, ...]:
    """A pull request's comments, read with the caller's own token."""
    from bot.github.user_api import fetch_comments

    return await fetch_comments(settings_of.load_api_url(os.environ, Path(".env")), token, repository, number)
