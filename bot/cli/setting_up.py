"""`whetstone serve --setup`: from no credentials to a running server, by way of the browser."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot import wiring
from bot.cli import UsageError
from bot.settings import Settings, SettingsError

if TYPE_CHECKING:
    from bot.wiring import Guests

_CREDENTIALS = (
    "GITHUB_APP_ID",
    "GITHUB_PRIVATE_KEY",
    "GITHUB_PRIVATE_KEY_PATH",
    "GITHUB_WEBHOOK_SECRET",
)


def set_up(arguments: argparse.Namespace) -> int:
    """Register the App where there is none yet, then serve, with the last two steps at /setup."""
    try:
        bare = _at(wiring.without_credentials(), arguments)
    except SettingsError as mistakes:
        raise UsageError("; ".join(mistakes.problems)) from mistakes
    try:
        return asyncio.run(_set_up(bare, arguments))
    except SettingsError as mistakes:
        raise UsageError("; ".join(mistakes.problems)) from mistakes
    except (wiring.CannotStart, OSError) as reason:
        raise UsageError(str(reason)) from reason


async def _set_up(bare: Settings, arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    guests = wiring.new_guests()
    if not _has_credentials():
        in_the_way = [name for name in _CREDENTIALS if os.environ.get(name, "").strip()]
        if in_the_way:
            raise UsageError(
                f"{', '.join(in_the_way)} of the environment would win over .env; set all or none"
            )
        bare = await _registered(bare, guests, stop)
        if stop.is_set():
            return 0
    settings = _at(wiring.settings(), arguments)
    settings = replace(settings, port=bare.port)
    wiring.configure_log(settings)
    reconcile = wiring.reconcile_schedule()
    print(wiring.store_line(settings), flush=True)
    print(wiring.reconcile_line(reconcile), flush=True)
    running = wiring.running(settings, guests=guests, limits=wiring.loop_limits(), reconcile=reconcile)
    async with running as instance:
        at = wiring.served_at(*(instance.address or ("", 0)))
        key = f"?key={guests.key}" if guests.key else ""
        print(f"Listening on {at}: install and test at {at}/setup{key}", flush=True)
        await stop.wait()
    return 0


async def _registered(bare: Settings, guests: Guests, stop: asyncio.Event) -> Settings:
    """The settings with the port that was listened on, once the App is registered."""
    async with wiring.setting_up(bare, guests, Path(".env")) as ((host, port), registering):
        at = wiring.served_at(host, port)
        print(f"Set up Whetstone in a browser: {at}/setup?key={guests.key}", flush=True)
        print("The key opens one browser; it is good on this server's other addresses, too.", flush=True)
        waiting = asyncio.create_task(stop.wait())
        registering.done.add_done_callback(lambda _: waiting.cancel())
        with suppress(asyncio.CancelledError):
            await waiting
    return replace(bare, port=port)


def _has_credentials() -> bool:
    try:
        wiring.settings()
    except SettingsError:
        return False
    return True


def _at(settings: Settings, arguments: argparse.Namespace) -> Settings:
    port = settings.port if arguments.port is None else arguments.port
    return replace(settings, host=arguments.host or settings.host, port=port)
