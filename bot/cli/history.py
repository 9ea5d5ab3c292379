"""`whetstone history`: an author's record in a repository, or everybody's, from the store."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

from bot import wiring
from bot.cli import Command, terminal
from bot.cli.comment import repository_named
from bot.cli.mistakes import said_in_one_line
from bot.cli.numbers import whole
from bot.ports import StoreUnavailable

_MOST_HOURS = 24 * 3650


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", help="whose authors")
    parser.add_argument("login", metavar="LOGIN", nargs="?", help="one author; without it all of them")
    parser.add_argument(
        "--hours",
        type=whole(1, _MOST_HOURS),
        help="the period (168; for one author the shortest that says enough)",
    )
    parser.add_argument("--json", action="store_true", help="the patterns as JSON")


def _run(arguments: argparse.Namespace) -> int:
    repository_named(arguments.repository)
    try:
        with said_in_one_line():
            return asyncio.run(_told(arguments))
    except StoreUnavailable as error:
        print(f"whetstone history: {error}", file=sys.stderr)
        return 1


async def _told(arguments: argparse.Namespace) -> int:
    if arguments.login:
        text, patterns = await wiring.history_of(arguments.repository, arguments.login, arguments.hours)
        print(json.dumps(patterns) if arguments.json else text, end="\n" if arguments.json else "")
        return 0
    everybody = await wiring.everybodys_patterns(arguments.repository, arguments.hours or 168)
    if arguments.json:
        print(json.dumps(everybody))
        return 0
    if not everybody:
        print("No pull request was judged in this time.")
    elif terminal.is_terminal():
        headings = ("author", "judged", "rejected", "trend", "broken gates")
        terminal.show(headings, (_row(login, known) for login, known in everybody.items()))
    else:
        for login, known in everybody.items():
            print(f"{login}: {_line(known)}")
    return 0


def _row(login: str, known: dict[str, Any]) -> tuple[str, ...]:
    trend = "" if known["trend"] == "no_data" else known["trend"]
    return login, str(known["total_prs"]), str(known["rejected_prs"]), trend, _broken(known)


def _broken(known: dict[str, Any]) -> str:
    return ", ".join(f"{tag} {count}" for tag, count in known["issue_breakdown"].items())


def _line(known: dict[str, Any]) -> str:
    """`9 judged, 2 rejected, improving; date_errors 3`."""
    trend = "too few for a trend" if known["trend"] == "no_data" else known["trend"]
    nothing = "rejected without a tag" if known["rejected_prs"] else "no gate broken"
    return (
        f"{known['total_prs']} judged, {known['rejected_prs']} rejected, {trend}; {_broken(known) or nothing}"
    )


COMMAND = Command(
    "history",
    "Show which gates an author breaks, how often, and whether it gets better.",
    "whetstone history acme/knowledge 'rio-agent[bot]' --hours 720",
    _arguments,
    _run,
)
