"""`whetstone serve` with a short lease, so that a take-over can be watched."""

import asyncio
import sys

from bot.cli.serve import serve_until_stopped
from bot.inbox.heartbeat import HeartbeatSettings
from bot.resources import read_settings

HEARTBEAT = HeartbeatSettings(interval=0.5, late_after=3.0, lease=6.0)

if __name__ == "__main__":
    sys.exit(asyncio.run(serve_until_stopped(read_settings(), web=True, worker=True, heartbeat=HEARTBEAT)))
