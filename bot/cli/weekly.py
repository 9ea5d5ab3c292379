"""`whetstone weekly`: the running week of a repository, into its summary issue or onto the terminal."""

from __future__ import annotations

import argparse
import asyncio
import sys

from bot import wiring
from bot.cli import Command
from bot.cli.comment import repository_named
from bot.cli.mistakes import said_in_one_line
from bot.ports import GitHubError, JobFailed, StoreUnavailable

_NOTHING = "No pull request was judged this week: there is nothing to tell."


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", help="whose week")
    parser.add_argument("--dry-run", action="store_true", help="print the issue, and write nothing")


def _run(arguments: argparse.Namespace) -> int:
    repository_named(arguments.repository)
    telling = _shown if arguments.dry_run else _told
    try:
        with said_in_one_line():
            return asyncio.run(telling(arguments.repository))
    except (GitHubError, JobFailed, StoreUnavailable) as error:
        print(f"whetstone weekly: {error}", file=sys.stderr)
        return 1


async def _shown(name: str) -> int:
    issue = await wiring.week_so_far(name)
    print(issue.body if issue else _NOTHING)
    return 0


async def _told(name: str) -> int:
    settings = wiring.settings()
    if await wiring.week_so_far(name) is None:
        print(_NOTHING)
        return 0
    handed_over = await wiring.tell_week(settings, name)
    done = "The running server has told the week" if handed_over else "The week is told"
    print(f"{done}; a summary issue that somebody closed stays as it is.")
    return 0


COMMAND = Command(
    "weekly",
    "Tell a repository's running week in its summary issue; the clock's own run is not used up.",
    "whetstone weekly acme/knowledge --dry-run",
    _arguments,
    _run,
)
