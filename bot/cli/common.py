"""Options, usage errors and job hand-over that several commands share."""

from __future__ import annotations

import argparse
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bot import regex
from bot.app import run_instance
from bot.cli import UsageError
from bot.gates.model import Gates
from bot.resources import CannotStart, open_existing_store, utc_now
from bot.settings import Settings, SettingsError
from bot.store.model import Delivery
from bot.values import Repository

if TYPE_CHECKING:
    from bot.inbox.jobs import JobFollower
    from bot.turn.store import SqlStore


@contextmanager
def report_usage_errors() -> Iterator[None]:
    """Wrong settings, and a store that can't be opened, are usage errors inside."""
    try:
        yield
    except SettingsError as mistakes:
        raise UsageError("; ".join(mistakes.problems)) from mistakes
    except CannotStart as reason:
        raise UsageError(str(reason)) from reason


def integer_between(low: int, high: int | None = None) -> Callable[[str], int]:
    """Reads a whole number in these bounds; anything else is refused with the bounds."""
    allowed = f"{low} or more" if high is None else f"from {low} to {high}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low or (high is not None and number > high):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number {allowed}")
        return number

    return read


def positive_number(high: float) -> Callable[[str], float]:
    """Reads a number above zero, up to this one."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 < number <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is no number above 0, up to {high:g}")
        return number

    return read


port_number = integer_between(0, 65535)
"""A TCP port; 0 lets the system choose."""
positive_integer = integer_between(1)
"""What GitHub numbers: issues and pull requests."""


# An account that an enterprise manages has an underscore in its login.
_REPOSITORY = regex.Regex(r"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+")


def parse_repository_name(text: str) -> tuple[str, str]:
    """Owner and name of `OWNER/REPO`."""
    if not _REPOSITORY.fullmatch(text):
        raise UsageError(f"{text!r} is no repository; use OWNER/REPO")
    owner, _, name = text.partition("/")
    return owner, name


def load_pack_or_file(name: str) -> Gates:
    """The gates of a pack, named as in `extends`, or given as a file."""
    from bot.gates.packs import load_pack, rules_directory

    shipped = rules_directory() / f"{name}.yml"
    try:
        return load_pack(shipped if shipped.is_file() and "/" not in name else Path(name))
    except OSError as missing:
        raise CannotStart(
            f"{name}: {missing.strerror}; give a file, or a pack of {rules_directory()}"
        ) from missing


@asynccontextmanager
async def run_job(configuration: Settings, delivery: Delivery) -> AsyncIterator[tuple[JobFollower, bool]]:
    """A job under way, handed to the server that runs, else done here while the block lasts."""
    handed_over = await _hand_over(configuration, delivery)
    async with AsyncExitStack() as stack:
        if handed_over:
            yield (
                _follower(await stack.enter_async_context(open_existing_store(configuration.database_url))),
                True,
            )
            return
        instance = await stack.enter_async_context(run_instance(configuration, serve=False, weekly=False))
        await instance.store.accept(delivery)
        yield _follower(instance.store), False
        await instance.wait_until_idle()


async def _hand_over(configuration: Settings, delivery: Delivery) -> bool:
    from bot.web.webhook import hand_over_delivery

    secret = configuration.webhook_secrets[0].encode()
    return await hand_over_delivery(delivery, secret, configuration.host, configuration.port)


def _follower(store: SqlStore) -> JobFollower:
    from bot.inbox.jobs import JobFollower

    return JobFollower(store, utc_now)


async def find_recorded_repository(store: SqlStore, name: str) -> Repository:
    """Return the repository of this name; raises where nothing is recorded about it."""
    found = await store.memory.repository_named(name)
    if found is None:
        raise CannotStart(
            f"nothing is recorded about {name}: no event of it has come in yet; "
            f"whetstone backfill {name} reads its past"
        )
    return found
