"""`whetstone serve` that certain words in a delivery block: no real text does any more.

Its lease and its watchdog's limits are short, so that what follows can be watched.
"""

import asyncio
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from bot import wiring
from bot.adapters import payloads
from bot.cli.serve import served
from bot.domain.events import Event, Ignored
from bot.engine.pulse import Pace
from bot.engine.watchdog import Limits
from bot.ports import Delivery

PACE = Pace(beat_every=0.25, late_after=1.0, lease=2.0)
LIMITS = Limits(look_every=0.1, log_after=0.5, exit_after=1.5)


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


def read(delivery: Delivery) -> Event | Ignored:
    """Read a delivery as the product does, unless it is poisonous."""
    for words, act in POISONS.items():
        if words in delivery.body:
            act()
    return payloads_read(delivery)


payloads_read = payloads.read

if __name__ == "__main__":
    payloads.read = read
    settings = replace(wiring.settings(), log_format="json")
    sys.exit(asyncio.run(served(settings, web=True, worker=True, pace=PACE, limits=LIMITS)))
