"""`whetstone serve` that certain words in a delivery block: no real text does any more.

Its lease and its watchdog's limits are short, so that what follows can be watched.
"""

import asyncio
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from bot.cli.serve import serve_until_stopped
from bot.inbox import jobs, ownership, parse, processor
from bot.inbox.heartbeat import HeartbeatSettings, WatchdogLimits
from bot.pull_request.events import Event, IgnoredEvent
from bot.resources import read_settings
from bot.store.model import Delivery

HEARTBEAT = HeartbeatSettings(interval=0.25, late_after=1.0, lease=2.0)
LIMITS = WatchdogLimits(look_every=0.1, log_after=0.5, exit_after=1.5)


def spin() -> None:
    """Never end, in Python."""
    while True:
        pass


def backtrack() -> None:
    """Never end, in a pattern, which lets no other thread run."""
    re.match(r"(?:a|a)+$", "a" * 64 + "b")


POISONS: dict[bytes, Callable[[], object]] = {
    b"sleeps here": lambda: time.sleep(3600),
    b"spins here": spin,
    b"backtracks here": backtrack,
}


def parse_or_block(delivery: Delivery) -> Event | IgnoredEvent:
    """Read a delivery as the product does, unless it is poisonous."""
    for words, act in POISONS.items():
        if words in delivery.body:
            act()
    return parse_delivery(delivery)


parse_delivery = parse.parse_delivery

if __name__ == "__main__":
    for module in (parse, jobs, ownership, processor):
        module.parse_delivery = parse_or_block
    settings = replace(read_settings(), log_format="json")
    sys.exit(
        asyncio.run(serve_until_stopped(settings, web=True, worker=True, heartbeat=HEARTBEAT, limits=LIMITS))
    )
