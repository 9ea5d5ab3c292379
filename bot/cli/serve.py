"""`whetstone serve`: the HTTP server and the worker in one process."""

from __future__ import annotations

import argparse
import asyncio
import gc
import signal
import sys
from dataclasses import replace

from bot import wiring
from bot.cli import Command, UsageError
from bot.cli.numbers import port
from bot.settings import Settings, SettingsError


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="the address to listen on (HOST, 127.0.0.1)")
    parser.add_argument("--port", type=port, help="the port to listen on (PORT, 8080)")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--web-only", action="store_true", help="take deliveries in, work on none (PostgreSQL)")
    part.add_argument("--worker-only", action="store_true", help="work, and listen to nobody (PostgreSQL)")
    parser.add_argument("--setup", action="store_true", help="register the App in the browser, at /setup")


def _run(arguments: argparse.Namespace) -> int:
    if arguments.setup:
        from bot.cli.setting_up import set_up

        return set_up(arguments)
    try:
        settings = wiring.settings()
    except SettingsError as mistakes:
        for problem in mistakes.problems:
            print(f"whetstone serve: {problem}", file=sys.stderr)
        if any(problem.startswith("GITHUB_APP_ID is not set") for problem in mistakes.problems):
            print("To register an App in the browser: whetstone serve --setup", file=sys.stderr)
        return 2
    settings = replace(
        settings,
        host=arguments.host or settings.host,
        port=settings.port if arguments.port is None else arguments.port,
    )
    if (arguments.web_only or arguments.worker_only) and settings.database_url.startswith("sqlite"):
        raise UsageError(
            "SQLite is one process a file; --web-only and --worker-only need PostgreSQL (DATABASE_URL)"
        )
    try:
        return asyncio.run(served(settings, web=not arguments.worker_only, worker=not arguments.web_only))
    except (wiring.CannotStart, OSError) as reason:
        raise UsageError(str(reason)) from reason


async def served(  # noqa: PLR0913  each is one choice about the process
    settings: Settings,
    *,
    web: bool,
    worker: bool,
    pace: wiring.Pace | None = None,
    limits: wiring.Limits | None = None,
    reconcile: wiring.ReconcileSchedule | None = None,
) -> int:
    """0 once the process was asked to stop and what was under way has come to its end."""
    wiring.configure_log(settings)
    print(wiring.store_line(settings), flush=True)
    reconcile = reconcile or wiring.reconcile_schedule()
    if worker:
        print(wiring.reconcile_line(reconcile), flush=True)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    limits = limits or wiring.loop_limits()
    async with wiring.running(
        settings, serve=web, work=worker, pace=pace, limits=limits, reconcile=reconcile
    ) as instance:
        # What was loaded at the start stays for good: no later collection has to look through it.
        gc.collect()
        gc.freeze()
        if instance.address:
            at = wiring.served_at(*instance.address)
            print(f"Listening on {at}: deliveries go to /webhook.", flush=True)
        await stop.wait()
        print("Stopping: what is under way comes to its end first.", flush=True)
    return 0


COMMAND = Command(
    "serve",
    "Take deliveries in and work on them, in one process.",
    "GITHUB_APP_ID=1 GITHUB_PRIVATE_KEY_PATH=key.pem GITHUB_WEBHOOK_SECRET=… whetstone serve --port 8080",
    _arguments,
    _run,
)
