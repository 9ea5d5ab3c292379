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
from bot.cli import UsageError
from bot.cli.common import port_number
from bot.inbox.heartbeat import HeartbeatSettings, WatchdogLimits
from bot.inbox.reconcile import ReconcileSchedule
from bot.resources import (
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


SWITCH_SECONDS = 0.001
_PURPOSE = "GitHub sends deliveries to /webhook."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--host", help="the address to listen on (default: HOST, or 127.0.0.1)")
    parser.add_argument("--port", type=port_number, help="the port to listen on (default: PORT, or 8080)")
    part = parser.add_mutually_exclusive_group()
    part.add_argument(
        "--web-only", action="store_true", help="receive deliveries but don't process them (needs PostgreSQL)"
    )
    part.add_argument(
        "--worker-only",
        action="store_true",
        help="process deliveries without an HTTP server (needs PostgreSQL)",
    )
    parser.add_argument("--setup", action="store_true", help="register the App in the browser first")


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    if arguments.setup:
        return run_setup(arguments)
    try:
        settings = read_settings()
    except SettingsError as error:
        for problem in error.problems:
            print(f"whetstone serve: {problem}", file=sys.stderr)
        if any(problem.startswith("GITHUB_APP_ID is not set") for problem in error.problems):
            print("To register an App in the browser: whetstone serve --setup", file=sys.stderr)
        return 2
    settings = _with_address(settings, arguments)
    if (arguments.web_only or arguments.worker_only) and settings.database_url.startswith("sqlite"):
        raise UsageError(
            "--web-only and --worker-only need PostgreSQL (DATABASE_URL): "
            "only one process can use a SQLite file"
        )
    try:
        return asyncio.run(
            serve_until_stopped(settings, web=not arguments.worker_only, worker=not arguments.web_only)
        )
    except OSError as error:
        raise UsageError(str(error)) from error


async def serve_until_stopped(  # noqa: PLR0913  each is one choice about the process
    settings: Settings,
    *,
    web: bool,
    worker: bool,
    heartbeat: HeartbeatSettings | None = None,
    limits: WatchdogLimits | None = None,
    reconcile: ReconcileSchedule | None = None,
    sessions: SetupSessions | None = None,
) -> int:
    """Serve until a signal comes and what is under way has ended; with `sessions`, the set-up pages too."""
    gc.disable()
    # A thread of the store may keep the interpreter for as long, while an answer of GitHub waits.
    sys.setswitchinterval(SWITCH_SECONDS)
    configure_logging_from(settings)
    print(describe_store(settings), flush=True)
    reconcile = reconcile or ReconcileSchedule()
    if worker:
        print(reconcile_line(reconcile), flush=True)
    stop = _stop_on_signal()
    limits = limits or WatchdogLimits()
    async with app.run_instance(
        settings,
        serve=web,
        work=worker,
        heartbeat=heartbeat,
        limits=limits,
        reconcile=reconcile,
        setup_sessions=sessions,
    ) as instance:
        if instance.address:
            url = server_url(*instance.address)
            key = f"?key={sessions.key}" if sessions and sessions.key else ""
            setup = f"install and test at {url}/setup{key}"
            print(f"Listening on {url}: {setup if sessions else _PURPOSE}", flush=True)
        # What was loaded at the start stays for good: no later collection has to look through it.
        gc.collect()
        gc.freeze()
        # What a turn makes is gone with it: looking for cycles every 700 objects takes 3 % of a burst.
        gc.set_threshold(10_000)
        gc.enable()
        await stop.wait()
        print("Stopping: finishing the work in progress.", flush=True)
    return 0


def _stop_on_signal() -> asyncio.Event:
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    return stop


_CREDENTIALS = ("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_PRIVATE_KEY_PATH", "GITHUB_WEBHOOK_SECRET")


def run_setup(arguments: argparse.Namespace) -> int:
    """Register the App where there is none yet, then serve, with the last two steps at /setup."""
    try:
        bare = _with_address(read_settings_without_credentials(), arguments)
        return asyncio.run(_set_up(bare, arguments))
    except OSError as error:
        raise UsageError(str(error)) from error


async def _set_up(bare: Settings, arguments: argparse.Namespace) -> int:
    from bot.web.setup import SetupSessions

    stop = _stop_on_signal()
    sessions = SetupSessions(utc_now)
    if not _has_credentials():
        conflicts = [name for name in _CREDENTIALS if os.environ.get(name, "").strip()]
        if conflicts:
            raise UsageError(
                f"{', '.join(conflicts)} in the environment would override the new .env; "
                "unset them, or set all the credentials and start without --setup"
            )
        bare = await _register(bare, sessions, stop)
        if stop.is_set():
            return 0
    settings = replace(_with_address(read_settings(), arguments), port=bare.port)
    return await serve_until_stopped(settings, web=True, worker=True, sessions=sessions)


async def _register(bare: Settings, sessions: SetupSessions, stop: asyncio.Event) -> Settings:
    """Serve the registration pages until the App is registered; returns the settings with their port."""
    async with app.serve_setup(bare, sessions, Path(".env")) as ((host, port), pages):
        url = server_url(host, port)
        print(f"Set up Whetstone in a browser: {url}/setup?key={sessions.key}", flush=True)
        print("The link works in one browser, and with any address of this server.", flush=True)
        waiting = asyncio.create_task(stop.wait())
        pages.registration.add_done_callback(lambda _: waiting.cancel())
        with suppress(asyncio.CancelledError):
            await waiting
    return replace(bare, port=port)


def _has_credentials() -> bool:
    try:
        read_settings()
    except SettingsError:
        return False
    return True


def _with_address(settings: Settings, arguments: argparse.Namespace) -> Settings:
    port = settings.port if arguments.port is None else arguments.port
    return replace(settings, host=arguments.host or settings.host, port=port)
