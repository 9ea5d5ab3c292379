"""`whetstone comment`: print what the App says about a pull request."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from pathlib import Path

from bot import settings as settings_of
from bot.cli import CommandFailed
from bot.cli.common import parse_repository_name, positive_integer, report_errors
from bot.feedback.marker import FEEDBACK_MARKER, find_bot_comment, parse_document
from bot.markdown.escape import parse_marker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("repository", metavar="OWNER/REPO", help="where the pull request is")
    parser.add_argument("number", metavar="N", type=positive_integer, help="the pull request's number")
    parser.add_argument("--login", required=True, help="the App's login; whose marker counts")
    parser.add_argument("--marker", action="store_true", help="the marker instead of the document")


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    from bot.github.user_api import fetch_comments

    repository = parse_repository_name(arguments.repository)
    token = os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN")
    with report_errors():
        api_url = settings_of.load_api_url(os.environ, Path(".env"))
        comments = asyncio.run(fetch_comments(api_url, token, repository, arguments.number))
    comment = find_bot_comment(arguments.login, comments)
    if comment is None:
        raise CommandFailed(f"{arguments.login} has said nothing there")
    marker = parse_marker(FEEDBACK_MARKER, comment.body)
    # A resolved comment needs no document: its marker says `accept`.
    content = marker if arguments.marker else parse_document(comment.body) or marker
    print(json.dumps(content, ensure_ascii=False))
    return 0
