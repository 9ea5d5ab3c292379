"""Open what the settings name: the store, GitHub, a listening socket, the log."""

from __future__ import annotations

import errno
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot import settings as settings_of
from bot.markdown.links import FEEDBACK_SCHEMA_ID, GITHUB_URL, GitHubLinks, LinkContext
from bot.settings import Settings
from bot.store.model import StoreUnavailable

if TYPE_CHECKING:
    # Named here for types only: a command such as `render` must not pay for what it does not use.
    from aiohttp.web import Application

    from bot.github.app_api import GitHubAppApi
    from bot.github.client import GitHub
    from bot.inbox.reconcile import ReconcileSchedule
    from bot.metrics import Meter
    from bot.store.store import Store

READY_HEARTBEAT_SECONDS = 10.0
"""Seconds without a heartbeat after which a worker counts as stuck."""


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A new unique id."""
    return str(uuid.uuid4())


def read_settings() -> Settings:
    """The settings of the environment and `.env`."""
    return settings_of.load_settings(os.environ, Path(".env"))


def environment_has_credentials() -> bool:
    """Whether the environment or `.env` sets any of the App's credentials."""
    return settings_of.has_credentials(os.environ, Path(".env"))


def link_context(configuration: Settings) -> LinkContext:
    """The base URLs of links with these settings."""
    public = configuration.public_url
    schema = f"{public.rstrip('/')}/schemas/actionable-feedback.json" if public else FEEDBACK_SCHEMA_ID
    return LinkContext(GitHubLinks(web_url(configuration.api_url)), schema, public and public.rstrip("/"))


def web_url(api_url: str) -> str:
    """The web URL that belongs to an API URL; an enterprise server has both on one host."""
    parts = urlsplit(api_url)
    if parts.path.rstrip("/").endswith("/api/v3"):
        return f"{parts.scheme}://{parts.netloc}"
    if parts.netloc.startswith("api.") and parts.netloc != "api.github.com":
        return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"
    return GITHUB_URL


class CannotStart(Exception):
    """The process can't start; the message tells the operator why."""


class NoStore(CannotStart):
    """Nothing was ever stored where `DATABASE_URL` points."""


@asynccontextmanager
async def open_existing_store(url: str) -> AsyncIterator[Store]:
    """Open an existing store beside a running server, to read, accept and retry, but not to claim lanes."""
    from bot.store.database import StoreConfigError
    from bot.store.store import open_store

    if not has_store(url):
        raise NoStore(
            f"no store exists yet at {settings_of.redact_database_url(url)} (DATABASE_URL); "
            "whetstone serve creates it on first start"
        )
    async with AsyncExitStack() as stack:
        try:
            store = await stack.enter_async_context(open_store(url, worker=False))
        except StoreConfigError as reason:
            raise CannotStart(str(reason)) from reason
        except (StoreUnavailable, OSError) as error:
            raise StoreUnavailable(describe_store_error(url, error)) from error
        yield store


def has_store(url: str) -> bool:
    """Whether the SQLite file exists; a PostgreSQL server is assumed to."""
    from bot.store.database import parse_store_url

    where = parse_store_url(url)
    return not isinstance(where, Path) or where.exists()


def describe_store_error(url: str, error: Exception) -> str:
    """Why the store can't be opened, with the setting's name and without the password."""
    where = settings_of.redact_database_url(url)
    return f"can't open the store {where} (DATABASE_URL): {_reason(error)}"


@asynccontextmanager
async def listen(app: Application, host: str, port: int) -> AsyncIterator[tuple[str, int]]:
    """Serve the application and yield its address; a failure names the settings to change."""
    from bot.web.server import serve_application

    async with AsyncExitStack() as stack:
        try:
            address = await stack.enter_async_context(serve_application(app, host, port))
        except OSError as error:
            raise CannotStart(_describe_listen_error(host, port, error)) from error
        yield address


def server_url(host: str, port: int) -> str:
    """The URL of a server at this host and port."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _describe_listen_error(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use by another program; set PORT (or --port) to a free one"
    if error.errno == errno.EACCES:
        return f"this user may not listen on port {port}; set PORT (or --port) to a port above 1023"
    return f"{host} is not an address of this machine ({_reason(error)}); set HOST (or --host)"


def _reason(error: BaseException) -> str:
    error = error.__cause__ if isinstance(error.__cause__, OSError) else error
    match error:
        case ConnectionRefusedError():
            return "connection refused"
        case socket.gaierror():
            return "the host name can't be resolved"
        case TimeoutError():
            return "timed out"
        case OSError() if error.strerror and error.filename:
            return f"{error.filename}: {error.strerror}"
        case OSError() if error.strerror:
            return error.strerror
        case _:
            return str(error) or type(error).__name__


def read_database_url() -> str:
    """The store's URL, for commands that don't call GitHub."""
    return settings_of.load_database_url(os.environ, Path(".env"))


def configure_logging_from(configuration: Settings) -> None:
    """Configure logging by the settings, with all secrets redacted."""
    from bot import logging as bot_logging

    bot_logging.configure_logging(configuration.log_level, configuration.log_format, configuration.secrets)


def describe_store(configuration: Settings) -> str:
    """Describe the store, and whether it survives a restart."""
    shown = settings_of.redact_database_url(configuration.database_url)
    if configuration.database_url.startswith("sqlite"):
        return f"Store: {shown} (SQLite). It survives a restart if the disk does."
    return f"Store: {shown} (PostgreSQL). It survives a restart and can be shared by several machines."


def reconcile_line(schedule: ReconcileSchedule) -> str:
    """Describe how often missed deliveries are requested."""
    minutes = schedule.every / 60
    return f"Missed deliveries are recovered at start and every {minutes:g} minutes."


@asynccontextmanager
async def open_github(
    configuration: Settings,
    clock: Callable[[], datetime],
    meter: Meter | None = None,
    may_write: Callable[[], bool] = lambda: True,
    store: Store | None = None,
) -> AsyncIterator[GitHub]:
    """Open the GitHub client; with `store`, it heeds the pauses of rate-limited installations."""
    from bot.github.auth import AppKey, never_paused
    from bot.github.client import connect_github
    from bot.store.lanes import installation_paused_until

    async with connect_github(
        AppKey(configuration.app_id, configuration.private_key),
        configuration.api_url,
        configuration.graphql_url,
        now=clock,
        count=meter.count_request if meter else None,
        may_write=may_write,
        paused=(lambda which: store.read(installation_paused_until, which)) if store else never_paused,
    ) as github:
        yield github


def read_settings_without_credentials() -> Settings:
    """The settings of the environment and `.env` while there is no App yet."""
    return settings_of.load_settings_without_credentials(os.environ, Path(".env"))


@asynccontextmanager
async def open_app_api_from(
    configuration: Settings, meter: Meter | None = None, may_write: Callable[[], bool] = lambda: True
) -> AsyncIterator[GitHubAppApi]:
    """Open the API of the App itself."""
    from bot.github.app_api import open_app_api
    from bot.github.auth import AppKey

    key = AppKey(configuration.app_id, configuration.private_key)
    count = meter.count_request if meter else None
    async with open_app_api(
        key, configuration.api_url, now=utc_now, count=count, may_write=may_write
    ) as github:
        yield github
