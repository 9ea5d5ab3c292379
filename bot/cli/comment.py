"""`whetstone comment`: for agents, what the App says about a pull request."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys

from bot import wiring
from bot.cli import Command, UsageError
from bot.cli.mistakes import said_in_one_line
from bot.cli.numbers import at_least_one
from bot.domain import regex
from bot.domain.comment_marker import MARKER
from bot.domain.escape import read_marker
from bot.domain.spoken import document, word_of
from bot.ports import GitHubError

# An account that an enterprise manages has an underscore in its login.
_REPOSITORY = regex.Pattern(r"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+")


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", help="where the pull request is")
    parser.add_argument("number", metavar="N", type=at_least_one, help="the pull request's number")
    parser.add_argument("--login", required=True, help="the App's login; whose marker counts")
    parser.add_argument("--marker", action="store_true", help="the marker instead of the document")


def _run(arguments: argparse.Namespace) -> int:
    repository = repository_named(arguments.repository)
    token = os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN")
    try:
        with said_in_one_line():
            thread = asyncio.run(wiring.thread(token, repository, arguments.number))
    except GitHubError as error:
        print(f"whetstone comment: {error}", file=sys.stderr)
        return 1
    found = word_of(arguments.login, thread)
    if found is None:
        print(f"whetstone comment: {arguments.login} has said nothing there", file=sys.stderr)
        return 1
    marker = read_marker(MARKER, found.body)
    # A resolved comment needs no document: its marker says `accept`.
    shown = marker if arguments.marker else document(found.body) or marker
    print(json.dumps(shown, ensure_ascii=False))
    return 0


def repository_named(text: str) -> tuple[str, str]:
    """Owner and name of `OWNER/REPO`."""
    if not _REPOSITORY.fullmatch(text):
        raise UsageError(f"{text!r} is no repository; use OWNER/REPO")
    owner, _, name = text.partition("/")
    return owner, name


COMMAND = Command(
    "comment",
    "Print the App's feedback on a pull request as JSON, read with your own GH_TOKEN.",
    "GH_TOKEN=$(gh auth token) whetstone comment acme/knowledge 212 --login 'whetstone-acme[bot]'",
    _arguments,
    _run,
)
