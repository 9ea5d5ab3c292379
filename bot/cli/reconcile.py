"""`whetstone reconcile`: redeliver webhooks that failed."""

from __future__ import annotations

import argparse
import json
from datetime import timedelta

from bot.cli import terminal
from bot.cli.common import positive_number
from bot.github.model import DeliveryAttempt
from bot.resources import open_app_api_from, read_settings, utc_now


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--days",
        type=positive_number(30),
        default=3,
        help="how far back to look (default: 3, as long as GitHub keeps deliveries)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="list failed deliveries without redelivering them"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per delivery")


async def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from bot.inbox.reconcile import failed_deliveries, redeliver

    async with open_app_api_from(read_settings()) as github:
        since = utc_now() - timedelta(days=arguments.days)
        failed = failed_deliveries(await github.deliveries(since))
        outcomes = [(attempt, "failed") for attempt in failed]
        if not arguments.dry_run:
            words = {True: "redelivered", False: "expired on GitHub"}
            outcomes = [(attempt, words[await redeliver(github, attempt)]) for attempt in failed]
    _show(outcomes, as_json=arguments.json)


def _show(outcomes: list[tuple[DeliveryAttempt, str]], *, as_json: bool) -> None:
    rows = [
        (attempt.guid, attempt.event, f"{attempt.at:%Y-%m-%d %H:%M} UTC", attempt.status, outcome)
        for attempt, outcome in outcomes
    ]
    names = ("delivery", "event", "at", "status", "now")
    if as_json:
        for row in rows:
            print(json.dumps(dict(zip(names, row, strict=True))))
    elif rows:
        terminal.print_table(names, rows)
    else:
        print("No failed deliveries.")
