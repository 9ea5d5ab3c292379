"""`whetstone serve`: run the HTTP server and the worker; `--setup` registers the App first."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot import app
from bot.cli import CliCommand, UsageError
from bot.cli.common import port_number
from bot.inbox.heartbeat import HeartbeatSettings, WatchdogLimits
from bot.inbox.reconcile import ReconcileSchedule
from bot.resources import (
    CannotStart,
    configure_logging_from,
    describe_store,
    read_settings,
    read_settings_without_credentials,
    reconcile_line,
    server_url,
    utc_now,
)
from bot.settings import Settings, SettingsError

if TYPE_CHECKING:
    from bot.web.setup import SetupSessions


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="the address to listen on (HOST, 127.0.0.1)")
    parser.add_argument("--port", type=port_number, help="the port to listen on (PORT, 8080)")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--web-only", action="store_true", help="take deliveries in, work on none (PostgreSQL)")
    part.add_argument("--worker-only", action="store_true", help="work, and listen to nobody (PostgreSQL)")
    parser.add_argument("--setup", action="store_true", help="register the App in the browser, at /setup")


def _run(arguments: argparse.Namespace) -> int:
    if arguments.setup:
        return run_setup(arguments)
    try:
        settings = read_settings()
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
        return asyncio.run(
            serve_until_stopped(settings, web=not arguments.worker_only, worker=not arguments.web_only)
        )
    except (CannotStart, OSError) as reason:
        raise UsageError(str(reason)) from reason


async def serve_until_stopped(  # noqa: PLR0913  each is one choice about the process
    settings: Settings,
    *,
    web: bool,
    worker: bool,
    heartbeat: HeartbeatSettings | None = None,
    limits: WatchdogLimits | None = None,
    reconcile: ReconcileSchedule | None = None,
) -> int:
    """0 once the process was asked to stop and what was under way has come to its end."""
    configure_logging_from(settings)
    print(describe_store(settings), flush=True)
    reconcile = reconcile or ReconcileSchedule()
    if worker:
        print(reconcile_line(reconcile), flush=True)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    limits = limits or WatchdogLimits()
    async with app.run_instance(
        settings, serve=web, work=worker, heartbeat=heartbeat, limits=limits, reconcile=reconcile
    ) as instance:
        # What was loaded at the start stays for good: no later collection has to look through it.
        gc.collect()
        gc.freeze()
        if instance.address:
            at = server_url(*instance.address)
            print(f"Listening on {at}: deliveries go to /webhook.", flush=True)
        await stop.wait()
        print("Stopping: what is under way comes to its end first.", flush=True)
    return 0


COMMAND = CliCommand(
    "serve",
    "Take deliveries in and work on them, in one process.",
    "GITHUB_APP_ID=1 GITHUB_PRIVATE_KEY_PATH=key.pem GITHUB_WEBHOOK_SECRET=… whetstone serve --port 8080",
    _arguments,
    _run,
)


_CREDENTIALS = (
    "GITHUB_APP_ID",
    "GITHUB_PRIVATE_KEY",
    "GITHUB_PRIVATE_KEY_PATH",
    "GITHUB_WEBHOOK_SECRET",
)


def run_setup(arguments: argparse.Namespace) -> int:
    """Register the App where there is none yet, then serve, with the last two steps at /setup."""
    try:
        bare = _at(read_settings_without_credentials(), arguments)
    except SettingsError as mistakes:
        raise UsageError("; ".join(mistakes.problems)) from mistakes
    try:
        return asyncio.run(_set_up(bare, arguments))
    except SettingsError as mistakes:
        raise UsageError("; ".join(mistakes.problems)) from mistakes
    except (CannotStart, OSError) as reason:
        raise UsageError(str(reason)) from reason


async def _set_up(bare: Settings, arguments: argparse.Namespace) -> int:
    from bot.web.setup import SetupSessions

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    guests = SetupSessions(utc_now)
    if not _has_credentials():
        in_the_way = [name for name in _CREDENTIALS if os.environ.get(name, "").strip()]
        if in_the_way:
            raise UsageError(
                f"{', '.join(in_the_way)} of the environment would win over .env; set all or none"
            )
        bare = await _registered(bare, guests, stop)
        if stop.is_set():
            return 0
    settings = _at(read_settings(), arguments)
    settings = replace(settings, port=bare.port)
    configure_logging_from(settings)
    reconcile = ReconcileSchedule()
    print(describe_store(settings), flush=True)
    print(reconcile_line(reconcile), flush=True)
    running = app.run_instance(settings, setup_sessions=guests, limits=WatchdogLimits(), reconcile=reconcile)
    async with running as instance:
        at = server_url(*(instance.address or ("", 0)))
        key = f"?key={guests.key}" if guests.key else ""
        print(f"Listening on {at}: install and test at {at}/setup{key}", flush=True)
        await stop.wait()
    return 0


async def _registered(bare: Settings, guests: SetupSessions, stop: asyncio.Event) -> Settings:
    """The settings with the port that was listened on, once the App is registered."""
    async with app.serve_setup(bare, guests, Path(".env")) as ((host, port), registering):
        at = server_url(host, port)
        print(f"Set up Whetstone in a browser: {at}/setup?key={guests.key}", flush=True)
        print("The key opens one browser; it is good on this server's other addresses, too.", flush=True)
        waiting = asyncio.create_task(stop.wait())
        registering.done.add_done_callback(lambda _: waiting.cancel())
        with suppress(asyncio.CancelledError):
            await waiting
    return replace(bare, port=port)


def _has_credentials() -> bool:
    try:
        read_settings()
    except SettingsError:
        return False
    return True


def _at(settings: Settings, arguments: argparse.Namespace) -> Settings:
    port = settings.port if arguments.port is None else arguments.port
    return replace(settings, host=arguments.host or settings.host, port=port)
