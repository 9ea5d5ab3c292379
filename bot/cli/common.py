"""Options, input, error reporting and job hand-over that several commands share."""

from __future__ import annotations

import argparse
import codecs
import json
import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot import regex
from bot.cli import UsageError, terminal
from bot.gates.model import Gates
from bot.resources import CannotStart, open_existing_store, read_database_url, utc_now
from bot.settings import Settings, SettingsError, load_api_url
from bot.store.model import Delivery, JobFailed, StoreUnavailable
from bot.values import Repository

if TYPE_CHECKING:
    from bot.client import Whetstone
    from bot.gates.config import RepositoryRules
    from bot.inbox.jobs import JobFollower
    from bot.store.store import Store


def explain_failure(error: Exception) -> tuple[str, int] | None:
    """Return the line and the exit code of wrong settings and foreseen failures; None for any other error."""
    if isinstance(error, SettingsError):
        return "; ".join(error.problems), 2
    if isinstance(error, CannotStart):
        return str(error), 2
    # Loaded only now: it brings the HTTP client, which most commands start without.
    from bot.github.errors import GitHubError

    return (str(error), 1) if isinstance(error, JobFailed | StoreUnavailable | GitHubError) else None


def _number_between(kind: type[int | float], low: float, high: float, allowed: str) -> Callable[[str], Any]:
    def parse(text: str) -> int | float:
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"must be {allowed}, not {text!r}")
        return number

    return parse


def integer_between(low: int, high: float = math.inf) -> Callable[[str], Any]:
    """Parse an integer in these bounds; the error names them."""
    bounds = f"of {low} or more" if high == math.inf else f"from {low} to {high}"
    return _number_between(int, low, high, f"an integer {bounds}")


def positive_number(high: float) -> Callable[[str], Any]:
    """Parse a number above zero, up to this one."""
    return _number_between(float, math.ulp(0), high, f"a number above 0 and at most {high:g}")


port_number = integer_between(0, 65535)
"""A TCP port; 0 lets the system choose."""
positive_integer = integer_between(1)
"""The number of an issue or a pull request."""


# An account that an enterprise manages has an underscore in its login.
_REPOSITORY = regex.Regex(r"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+")


def repository_name(text: str) -> str:
    """Return the text if it is an `OWNER/REPO`."""
    if not _REPOSITORY.fullmatch(text):
        raise UsageError(f"{text!r} is not a repository; write it as OWNER/REPO")
    return text


def add_repository(parser: argparse.ArgumentParser, purpose: str = "the repository", **options: Any) -> None:
    """Add the argument that names a repository."""
    parser.add_argument("repository", metavar="OWNER/REPO", type=repository_name, help=purpose, **options)


def read_input(name: str) -> bytes:
    """Read the file of this name, or standard input where it is `-`."""
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}") from None


def load_pack_or_file(name: str) -> Gates:
    """Load the gates of a pack, named as in `extends` or given as a file."""
    from bot.gates.packs import load_pack, rules_directory

    shipped = rules_directory() / f"{name}.yml"
    try:
        return load_pack(shipped if shipped.is_file() and "/" not in name else Path(name))
    except OSError as error:
        raise CannotStart(
            f"{name}: {error.strerror}; name a file, or a pack in {rules_directory()}"
        ) from error


@asynccontextmanager
async def run_job(configuration: Settings, delivery: Delivery) -> AsyncIterator[tuple[JobFollower, bool]]:
    """Hand a job to the running server, else do it here while the block lasts.

    Yields what follows the job, and whether a server does it.
    """
    from bot.app import run_instance
    from bot.inbox.jobs import JobFollower

    if await hand_over(configuration, delivery):
        async with open_existing_store(configuration.database_url) as store:
            yield JobFollower(store, utc_now), True
        return
    async with run_instance(configuration, serve=False, weekly=False) as instance:
        await instance.store.accept(delivery)
        yield JobFollower(instance.store, utc_now), False
        await instance.wait_until_idle()


async def hand_over(configuration: Settings, delivery: Delivery) -> bool:
    """Hand a delivery to the server that runs on this machine; False if none does."""
    from bot.web.webhook import hand_over_delivery

    secret = configuration.webhook_secrets[0].encode()
    return await hand_over_delivery(delivery, secret, configuration.host, configuration.port)


@asynccontextmanager
async def open_recorded(name: str) -> AsyncIterator[tuple[Store, Repository, RepositoryRules]]:
    """Open the store for the repository of this name, with the rules in force there."""
    from bot.turn.rule_book import stored_rules

    async with open_existing_store(read_database_url()) as store:
        repository = await find_recorded_repository(store, name)
        yield store, repository, await stored_rules(store, repository)


async def find_recorded_repository(store: Store, name: str) -> Repository:
    """Return the repository of this name; raises where nothing is recorded about it."""
    from bot.store.repositories import find_repository

    repository = await store.read(find_repository, name)
    if repository is None:
        raise CannotStart(
            f"nothing is recorded about {name}: no delivery has arrived from it yet; "
            f"to import its earlier pull requests: whetstone backfill {name}"
        )
    return repository


def client_from_environment(login: str | None = None) -> Whetstone:
    """Return the client that the environment describes; a given login goes before the environment's."""
    from bot import client  # only few commands need it

    environ = {**os.environ, "GITHUB_API_URL": load_api_url(os.environ, Path(".env"))}
    try:
        return client.Whetstone.from_environment({**environ, "WHETSTONE_LOGIN": login} if login else environ)
    except client.Refused as error:
        raise UsageError(str(error)) from None


def answer_comments(command: str, answer: Callable[[str], object], keys: Sequence[str]) -> int:
    """Write these of the answer to each comment as it comes; return 1 where a line could not be read."""
    terminal.prompt_for_input('JSON lines such as {"id": …, "text": "…"}')
    failures = 0
    for number, line in enumerate(_read_lines(), 1):
        if not line.strip():
            continue
        try:
            identity, text = _parse_line(line)
        except ValueError as error:
            print(f"whetstone {command}: line {number}: {error}", file=sys.stderr)
            failures += 1
            continue
        answered = answer(text)
        print(json.dumps({"id": identity, **{key: getattr(answered, key) for key in keys}}), flush=True)
    return 1 if failures else 0


def _read_lines() -> Iterator[str]:
    """Yield the lines as they come, so that a reader at the other end of a pipe need not wait."""
    bom = codecs.BOM_UTF8  # some editors begin a file with it
    for raw in sys.stdin.buffer:
        yield raw.removeprefix(bom).decode("utf-8", "replace")
        bom = b""


def _parse_line(line: str) -> tuple[Any, str]:
    try:
        comment = json.loads(line, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        raise ValueError('not valid JSON; expected {"id": …, "text": "…"}') from None
    if not isinstance(comment, dict) or "id" not in comment:
        raise ValueError('"id" is missing; expected {"id": …, "text": "…"}')
    text = comment.get("text")
    if text is None or text != str(text):
        raise ValueError('"text" must be a string; expected {"id": …, "text": "…"}')
    try:
        json.dumps(comment["id"], allow_nan=False)
    except ValueError:
        raise ValueError('"id" is too large; expected {"id": …, "text": "…"}') from None
    return comment["id"], text


def _reject_constant(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(name)
