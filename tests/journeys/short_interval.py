"""`whetstone serve` that looks for missed deliveries every second, so that several runs can be watched."""

import asyncio
import sys

from bot import wiring
from bot.cli.serve import served
from bot.engine.reconcile import ReconcileSchedule

OFTEN = ReconcileSchedule(every=1.0, pause=0.0)

if __name__ == "__main__":
    sys.exit(asyncio.run(served(wiring.settings(), web=True, worker=True, reconcile=OFTEN)))
