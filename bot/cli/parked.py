"""`whetstone parked`: the deliveries that were given up on, and how to try them again."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import asdict

from bot import wiring
from bot.cli import Command, UsageError, terminal
from bot.cli.mistakes import said_in_one_line
from bot.ports import JobFailed, Parked, StoreUnavailable


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--retry", metavar="ID", nargs="+", help="queue these again; `all` for every one")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def _run(arguments: argparse.Namespace) -> int:
    with said_in_one_line():
        url = wiring.database_url()
    try:
        return asyncio.run(_listed(url, arguments))
    except wiring.NoStoreYet as reason:
        if arguments.retry:
            raise UsageError(str(reason)) from reason
        if not arguments.json:
            print(f"Nothing is parked: {reason}.")
        return 0
    except wiring.CannotStart as reason:
        raise UsageError(str(reason)) from reason
    except (JobFailed, StoreUnavailable) as error:
        print(f"whetstone parked: {error}", file=sys.stderr)
        return 1


async def _listed(url: str, arguments: argparse.Namespace) -> int:
    async with wiring.store_of(url) as store:
        parked = await store.parked()
        if arguments.retry:
            return await _retried(parked, arguments.retry)
    if parked and terminal.is_terminal() and not arguments.json:
        terminal.show(("delivery", "event", "lane", "parked", "error"), map(_row, parked))
        return 0
    for delivery in parked:
        print(json.dumps(asdict(delivery), default=str) if arguments.json else _line(delivery))
    if not parked and not arguments.json:
        print("Nothing is parked.")
    return 0


async def _retried(parked: tuple[Parked, ...], wanted: list[str]) -> int:
    known = {delivery.id for delivery in parked}
    ids = tuple(known) if wanted == ["all"] else tuple(wanted)
    if unknown := [given for given in ids if given not in known]:
        raise UsageError(f"nothing is parked under {', '.join(unknown)}")
    count = await wiring.retry_parked(ids)
    print(f"{count} queued again.")
    return 0


def _row(delivery: Parked) -> tuple[str, ...]:
    when = f"{delivery.parked_at:%Y-%m-%d %H:%M} UTC after {delivery.attempts}"
    return delivery.id, delivery.event, delivery.lane, when, delivery.error


def _line(delivery: Parked) -> str:
    return (
        f"{delivery.id}  {delivery.event}  {delivery.lane}  parked {delivery.parked_at:%Y-%m-%d %H:%M} UTC "
        f"after {delivery.attempts} attempts: {delivery.error}"
    )


COMMAND = Command(
    "parked",
    "List the deliveries that were given up on, or queue them again.",
    "whetstone parked --retry 72d3162e-cc78-11e3-81ab-4c9367dc0958",
    _arguments,
    _run,
)
