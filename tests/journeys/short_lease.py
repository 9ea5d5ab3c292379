"""`whetstone serve` with a short lease, so that a take-over can be watched."""

import asyncio
import sys

from bot import wiring
from bot.cli.serve import served
from bot.engine.pulse import Pace

PACE = Pace(beat_every=0.5, late_after=3.0, lease=6.0)

if __name__ == "__main__":
    sys.exit(asyncio.run(served(wiring.settings(), web=True, worker=True, pace=PACE)))
