"""`whetstone parked`: list and retry parked deliveries."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from bot import settings as settings_of
from bot.cli import UsageError, terminal
from bot.cli.common import hand_over
from bot.resources import (
    NoStore,
    new_id,
    open_existing_store,
    read_database_url,
    read_settings,
    utc_now,
)
from bot.store.model import ParkedDelivery


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--retry", metavar="ID", nargs="+", help="queue these deliveries again; `all` for every one"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per delivery")


async def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    try:
        await _list_or_retry(arguments)
    except NoStore as reason:
        if arguments.retry:
            raise
        if not arguments.json:
            print(f"No parked deliveries: {reason}.")


async def _list_or_retry(arguments: argparse.Namespace) -> None:
    from bot.store.deliveries import load_parked

    async with open_existing_store(read_database_url()) as store:
        parked = await store.read(load_parked)
        if arguments.retry:
            await _retry(parked, arguments.retry)
            return
    if parked and terminal.is_terminal() and not arguments.json:
        terminal.print_table(("delivery", "event", "lane", "parked", "error"), map(_row, parked))
        return
    for delivery in parked:
        line = "{}  {}  {}  parked {}: {}".format(*_row(delivery))
        print(json.dumps(asdict(delivery), default=str) if arguments.json else line)
    if not parked and not arguments.json:
        print("No parked deliveries.")


async def _retry(parked: tuple[ParkedDelivery, ...], wanted: list[str]) -> None:
    parked_ids = {delivery.id for delivery in parked}
    ids = tuple(parked_ids) if wanted == ["all"] else tuple(wanted)
    if unknown := [delivery_id for delivery_id in ids if delivery_id not in parked_ids]:
        raise UsageError(f"no parked delivery {', '.join(unknown)}; whetstone parked lists them")
    count = await requeue_parked_deliveries(ids)
    print(f"{count} queued again.")


def _row(delivery: ParkedDelivery) -> tuple[str, ...]:
    when = f"{delivery.parked_at:%Y-%m-%d %H:%M} UTC after {delivery.attempts} attempts"
    return delivery.id, delivery.event, delivery.lane, when, delivery.error


async def requeue_parked_deliveries(ids: tuple[str, ...]) -> int:
    """Queue parked deliveries again, in the running server or here; returns how many."""
    from bot.inbox import internal_deliveries
    from bot.inbox.jobs import JobFollower

    delivery = internal_deliveries.retry_delivery(ids, f"retry-{new_id()}", utc_now())
    try:
        configuration = read_settings()
    except settings_of.SettingsError:  # without a secret nothing can be handed over
        configuration = None
    async with open_existing_store(read_database_url()) as store:
        if configuration and await hand_over(configuration, delivery):
            async for _ in JobFollower(store, utc_now).follow(delivery):
                pass
            return len(ids)
        return await store.retry(ids)
