"""`whetstone serve` that looks for missed deliveries every second, so that several runs can be watched."""

import asyncio
import sys

from bot.cli.serve import serve_until_stopped
from bot.inbox.reconcile import ReconcileSchedule
from bot.resources import read_settings

OFTEN = ReconcileSchedule(every=1.0, pause=0.0)

if __name__ == "__main__":
    sys.exit(asyncio.run(serve_until_stopped(read_settings(), web=True, worker=True, reconcile=OFTEN)))
