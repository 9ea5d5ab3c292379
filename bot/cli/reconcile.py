"""`whetstone reconcile`: redeliver webhooks that failed."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.cli import CliCommand, terminal
from bot.cli.common import positive_number, report_usage_errors
from bot.github.errors import GitHubError
from bot.github.model import DeliveryAttempt
from bot.resources import open_app_api_from, read_settings, utc_now
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.inbox.reconcile import FailedDeliveries


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days", type=positive_number(30), default=3, help="how far back (3; GitHub keeps no more)"
    )
    parser.add_argument("--dry-run", action="store_true", help="list what failed, and ask for nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object a delivery")


def _run(arguments: argparse.Namespace) -> int:
    try:
        with report_usage_errors():
            return asyncio.run(_reconciled(read_settings(), arguments))
    except GitHubError as error:
        print(f"whetstone reconcile: {error}", file=sys.stderr)
        return 1


async def _reconciled(settings: Settings, arguments: argparse.Namespace) -> int:
    async with open_reconciler(settings) as reconciliation:
        failed = await reconciliation.find_failed(timedelta(days=arguments.days))
        outcome = [(sent, "failed") for sent in failed]
        if not arguments.dry_run:
            words = {True: "sent again", False: "forgotten by GitHub"}
            outcome = [(sent, words[ok]) async for sent, ok in reconciliation.redeliver(failed)]
    _show(outcome, as_json=arguments.json)
    return 0


def _show(outcome: list[tuple[DeliveryAttempt, str]], *, as_json: bool) -> None:
    rows = [(s.guid, s.event, f"{s.at:%Y-%m-%d %H:%M} UTC", s.status, done) for s, done in outcome]
    names = ("delivery", "event", "at", "status", "now")
    if as_json:
        for row in rows:
            print(json.dumps(dict(zip(names, row, strict=True))))
    elif rows:
        terminal.print_table(names, rows)
    else:
        print("Nothing is missing: GitHub delivered everything.")


COMMAND = CliCommand(
    "reconcile",
    "Ask GitHub for the deliveries that failed, and have them sent again; nothing happens twice.",
    "whetstone reconcile --days 1",
    _arguments,
    _run,
)


@asynccontextmanager
async def open_reconciler(configuration: Settings) -> AsyncIterator[FailedDeliveries]:
    """What brings failed deliveries again."""
    from bot.inbox.reconcile import FailedDeliveries

    async with open_app_api_from(configuration) as github:
        yield FailedDeliveries(github, utc_now)
