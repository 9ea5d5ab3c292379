"""What every part of the wiring needs: time, identity, settings, links, the store, GitHub."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot import settings as settings_of
from bot.domain.comment import Site
from bot.domain.document import SCHEMA_ID
from bot.domain.links import GITHUB, Web
from bot.ports import GitHub
from bot.settings import Settings

if TYPE_CHECKING:
    # Named here for types only: a command such as `render` must not pay for what it does not use.
    from bot.adapters.github.app_desk import AppDesk
    from bot.adapters.metrics import Meter
    from bot.adapters.store import SqlStore
    from bot.adapters.web.setup.guests import Guests as Guests  # noqa: PLC0414  the set-up names it too
    from bot.engine.pulse import Pace as Pace  # noqa: PLC0414  the server's command names it too

READY_WITHIN = 10.0
"""Seconds after which a worker that has not beaten counts as stuck."""


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """An identity that nothing else has."""
    return str(uuid.uuid4())


def settings() -> Settings:
    """What the environment and `.env` say."""
    return settings_of.load(os.environ, Path(".env"))


def site(configuration: Settings) -> Site:
    """Where links lead with these settings."""
    public = configuration.public_url
    schema = f"{public.rstrip('/')}/schemas/actionable-feedback.json" if public else SCHEMA_ID
    return Site(Web(web_address(configuration.api_url)), schema, public and public.rstrip("/"))


def web_address(api_url: str) -> str:
    """The pages that belong to an API's address: GHES has both on one host."""
    parts = urlsplit(api_url)
    if parts.path.rstrip("/").endswith("/api/v3"):
        return f"{parts.scheme}://{parts.netloc}"
    if parts.netloc.startswith("api.") and parts.netloc != "api.github.com":
        return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"
    return GITHUB


@asynccontextmanager
async def store_of(url: str) -> AsyncIterator[SqlStore]:
    """The store beside a running server: reads, accepts and retries, but takes no lanes."""
    from bot.adapters.store import open_store

    async with open_store(url, worker=False) as store:
        yield store


def database_url() -> str:
    """The store's address, for the commands that ask nothing of GitHub."""
    return settings_of.load_database_url(os.environ, Path(".env"))


def configure_log(configuration: Settings) -> None:
    """Log lines as the settings say, without any secret in them."""
    from bot.adapters import log

    log.configure(configuration.log_level, configuration.log_format, configuration.secrets)


def store_line(configuration: Settings) -> str:
    """Which store is used, and whether it survives a restart."""
    shown = settings_of.shown_database(configuration.database_url)
    if configuration.database_url.startswith("sqlite"):
        return f"Store: {shown}, a file on this machine: it survives a restart as long as the disk is kept."
    return f"Store: {shown}, PostgreSQL: it survives a restart, and several machines may share it."


class CannotStart(Exception):
    """Why this process can't begin its work, for the operator."""


@asynccontextmanager
async def github_of(
    configuration: Settings,
    clock: Callable[[], datetime],
    meter: Meter | None = None,
    may_write: Callable[[], bool] = lambda: True,
) -> AsyncIterator[GitHub]:
    """GitHub as these settings reach it, as long as the block runs."""
    from bot.adapters.github import AppKey, connect

    key = AppKey(configuration.app_id, configuration.private_key)
    tracing = [meter.tracing()] if meter else []
    urls = configuration.api_url, configuration.graphql_url
    async with connect(key, *urls, now=clock, tracing=tracing, may_write=may_write) as github:
        yield github


def without_credentials() -> Settings:
    """What the environment and `.env` say while there is no App yet."""
    return settings_of.load_without_credentials(os.environ, Path(".env"))


@asynccontextmanager
async def app_desk(configuration: Settings) -> AsyncIterator[AppDesk]:
    """GitHub as the App itself asks it, for the operator."""
    from bot.adapters.github import AppKey
    from bot.adapters.github.app_desk import app_desk as desk_of

    key = AppKey(configuration.app_id, configuration.private_key)
    async with desk_of(key, configuration.api_url, now=now) as desk:
        yield desk
