"""`whetstone parked`: list and retry parked deliveries."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import asdict

from bot import settings as settings_of
from bot.cli import CliCommand, UsageError, terminal
from bot.cli.common import _follower, _hand_over, report_usage_errors
from bot.inbox.jobs import JobFailed
from bot.resources import (
    CannotStart,
    NoStore,
    new_id,
    open_existing_store,
    read_database_url,
    read_settings,
    utc_now,
)
from bot.store.model import ParkedDelivery, StoreUnavailable


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--retry", metavar="ID", nargs="+", help="queue these again; `all` for every one")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def _run(arguments: argparse.Namespace) -> int:
    with report_usage_errors():
        url = read_database_url()
    try:
        return asyncio.run(_listed(url, arguments))
    except NoStore as reason:
        if arguments.retry:
            raise UsageError(str(reason)) from reason
        if not arguments.json:
            print(f"Nothing is parked: {reason}.")
        return 0
    except CannotStart as reason:
        raise UsageError(str(reason)) from reason
    except (JobFailed, StoreUnavailable) as error:
        print(f"whetstone parked: {error}", file=sys.stderr)
        return 1


async def _listed(url: str, arguments: argparse.Namespace) -> int:
    async with open_existing_store(url) as store:
        parked = await store.parked()
        if arguments.retry:
            return await _retried(parked, arguments.retry)
    if parked and terminal.is_terminal() and not arguments.json:
        terminal.print_table(("delivery", "event", "lane", "parked", "error"), map(_row, parked))
        return 0
    for delivery in parked:
        print(json.dumps(asdict(delivery), default=str) if arguments.json else _line(delivery))
    if not parked and not arguments.json:
        print("Nothing is parked.")
    return 0


async def _retried(parked: tuple[ParkedDelivery, ...], wanted: list[str]) -> int:
    known = {delivery.id for delivery in parked}
    ids = tuple(known) if wanted == ["all"] else tuple(wanted)
    if unknown := [given for given in ids if given not in known]:
        raise UsageError(f"nothing is parked under {', '.join(unknown)}")
    count = await requeue_parked_deliveries(ids)
    print(f"{count} queued again.")
    return 0


def _row(delivery: ParkedDelivery) -> tuple[str, ...]:
    when = f"{delivery.parked_at:%Y-%m-%d %H:%M} UTC after {delivery.attempts}"
    return delivery.id, delivery.event, delivery.lane, when, delivery.error


def _line(delivery: ParkedDelivery) -> str:
    return (
        f"{delivery.id}  {delivery.event}  {delivery.lane}  parked {delivery.parked_at:%Y-%m-%d %H:%M} UTC "
        f"after {delivery.attempts} attempts: {delivery.error}"
    )


COMMAND = CliCommand(
    "parked",
    "List the deliveries that were given up on, or queue them again.",
    "whetstone parked --retry 72d3162e-cc78-11e3-81ab-4c9367dc0958",
    _arguments,
    _run,
)


async def requeue_parked_deliveries(ids: tuple[str, ...]) -> int:
    """Have parked deliveries queued again: by the server that runs, else here; how many."""
    from bot.inbox import internal_deliveries

    delivery = internal_deliveries.retry_delivery(ids, f"retry-{new_id()}", utc_now())
    try:
        configuration = read_settings()
    except settings_of.SettingsError:  # without a secret nothing can be handed over
        configuration = None
    async with open_existing_store(read_database_url()) as store:
        if configuration and await _hand_over(configuration, delivery):
            async for _ in _follower(store).follow(delivery):
                pass
            return len(ids)
        return await store.retry(ids)
