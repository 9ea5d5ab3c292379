"""`whetstone serve` whose clock is ahead by as many seconds as the file beside its SQLite file says."""

import asyncio
import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot import app
from bot.inbox.heartbeat import WatchdogLimits
from bot.resources import configure_logging_from, read_settings, server_url


def clock_file(database_url: str) -> Path:
    """The file that says how far the clock is ahead; without it the clock is right."""
    return Path(f"{database_url.removeprefix('sqlite:///')}.clock")


async def serve() -> None:
    """Serve until SIGTERM, by a clock that may jump at any moment."""
    settings = replace(read_settings(), log_level="CRITICAL")
    file = clock_file(settings.database_url)

    def clock() -> datetime:
        ahead = float(file.read_text("utf-8") or 0) if file.exists() else 0.0
        return datetime.now(UTC) + timedelta(seconds=ahead)

    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    configure_logging_from(settings)
    limits = WatchdogLimits()
    async with app.run_instance(settings, clock=clock, store_clock=clock, limits=limits) as instance:
        print(f"Listening on {server_url(*instance.address)}", flush=True)  # noqa: T201  as `serve` does
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(serve())
