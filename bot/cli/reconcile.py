"""`whetstone reconcile`: have GitHub send again what it could not deliver."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from datetime import timedelta

from bot import wiring
from bot.cli import Command, terminal
from bot.cli.mistakes import said_in_one_line
from bot.cli.numbers import above_zero
from bot.domain.app_facts import Sent
from bot.ports import GitHubError
from bot.settings import Settings


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days", type=above_zero(30), default=3, help="how far back (3; GitHub keeps no more)"
    )
    parser.add_argument("--dry-run", action="store_true", help="list what failed, and ask for nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object a delivery")


def _run(arguments: argparse.Namespace) -> int:
    try:
        with said_in_one_line():
            return asyncio.run(_reconciled(wiring.settings(), arguments))
    except GitHubError as error:
        print(f"whetstone reconcile: {error}", file=sys.stderr)
        return 1


async def _reconciled(settings: Settings, arguments: argparse.Namespace) -> int:
    async with wiring.reconciliation(settings) as reconciliation:
        failed = await reconciliation.failed(timedelta(days=arguments.days))
        outcome = [(sent, "failed") for sent in failed]
        if not arguments.dry_run:
            words = {True: "sent again", False: "forgotten by GitHub"}
            outcome = [(sent, words[ok]) async for sent, ok in reconciliation.send_again(failed)]
    _show(outcome, as_json=arguments.json)
    return 0


def _show(outcome: list[tuple[Sent, str]], *, as_json: bool) -> None:
    rows = [(s.guid, s.event, f"{s.at:%Y-%m-%d %H:%M} UTC", s.status, done) for s, done in outcome]
    names = ("delivery", "event", "at", "status", "now")
    if as_json:
        for row in rows:
            print(json.dumps(dict(zip(names, row, strict=True))))
    elif rows:
        terminal.show(names, rows)
    else:
        print("Nothing is missing: GitHub delivered everything.")


COMMAND = Command(
    "reconcile",
    "Ask GitHub for the deliveries that failed, and have them sent again; nothing happens twice.",
    "whetstone reconcile --days 1",
    _arguments,
    _run,
)
