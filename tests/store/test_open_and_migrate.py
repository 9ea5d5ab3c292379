"""Opening makes or brings up the tables, and refuses what could not end well."""

import asyncio
import os
import sqlite3
import stat
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from bot.store import dialects
from bot.store.database import StoreConfigError, load_server_version, parse_store_url
from bot.store.deliveries import load_parked
from bot.store.schema import metadata
from bot.store.store import connect_database, open_store
from tests.store.store_builders import make_delivery


async def ask(url, question):
    """What the database itself says, past the store."""
    database = connect_database(parse_store_url(url), clock=None)
    try:
        return await database.write(lambda transaction: question(transaction.connection))
    finally:
        await database.close()


async def test_the_first_start_makes_directory_and_tables(bare_store_url):
    async with open_store(bare_store_url, worker=True) as store:
        await store.accept(make_delivery("d1"))
        assert len(await store.claim(10)) == 1


async def test_the_migrations_lead_to_the_tables_that_the_code_uses(bare_store_url):
    async with open_store(bare_store_url, worker=False):
        pass

    def differences(connection):
        return compare_metadata(MigrationContext.configure(connection), metadata)

    assert await ask(bare_store_url, differences) == []


async def test_four_instances_may_start_on_an_empty_database_at_once(bare_store_url):
    async def start():
        async with open_store(bare_store_url, worker=False) as store:
            return await store.claim(1)

    assert await asyncio.gather(*(start() for _ in range(4))) == [()] * 4


async def test_who_is_turned_away_at_the_beginning_of_a_file_comes_back(tmp_path, monkeypatch):
    # SQLite does not wait where two switch one file to its write-ahead log at once, whatever it was told.
    monkeypatch.setattr(dialects, "PRAGMAS", ("busy_timeout=0",))
    path = tmp_path / "new.db"
    path.touch(mode=0o600)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    waits = []

    def meanwhile(seconds):
        waits.append(seconds)
        other.execute("COMMIT")

    monkeypatch.setattr(dialects.time, "sleep", meanwhile)
    mode = await ask(f"sqlite:///{path}", lambda one: one.execute(text("PRAGMA journal_mode")).scalar())
    other.close()
    assert (mode, waits) == ("wal", [dialects.BUSY_RETRY_SECONDS])


async def test_a_database_newer_than_the_program_is_refused(bare_store_url):
    async with open_store(bare_store_url, worker=False):
        pass
    await ask(bare_store_url, lambda c: c.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    with pytest.raises(StoreConfigError, match="the database is at revision 9999, newer than this version's"):
        async with open_store(bare_store_url, worker=False):
            pass


async def test_a_commit_to_a_file_survives_a_power_cut(sqlite_url):
    def pragmas(connection):
        names = ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
        return {name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in names}

    expected = {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 5000, "foreign_keys": 1}
    assert await ask(sqlite_url, pragmas) == expected


async def test_a_file_has_one_worker_and_the_second_learns_who_it_is(sqlite_url):
    async with open_store(sqlite_url, worker=True):
        with pytest.raises(StoreConfigError, match=r"process \d+ already uses .*PostgreSQL"):
            async with open_store(sqlite_url, worker=True):
                pass


async def test_the_lock_of_a_worker_that_ended_is_free(sqlite_url):
    async with open_store(sqlite_url, worker=True):
        pass
    async with open_store(sqlite_url, worker=True) as store:
        assert await store.claim(1) == ()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("sqlite:////var/lib/whetstone.db", Path("/var/lib/whetstone.db")),
        ("sqlite:///data/whetstone.db", Path.cwd() / "data/whetstone.db"),
        ("postgresql://me:secret@db.example/whetstone", "postgresql://me:secret@db.example/whetstone"),
        (
            "postgres://me:secret@db.example/w?sslmode=require",
            "postgresql://me:secret@db.example/w?sslmode=require",
        ),
        ("postgresql:///w?host=/run/postgresql", "postgresql:///w?host=/run/postgresql"),
    ],
)
def test_an_address_is_a_file_or_a_server(url, address):
    assert parse_store_url(url) == address


@pytest.mark.parametrize("url", ["", "sqlite://", "sqlite:///", "mysql://x/y", "whetstone.db", "postgres:x"])
def test_an_unknown_address_is_refused_with_the_ones_that_work(url):
    with pytest.raises(StoreConfigError, match=r"DATABASE_URL .* use sqlite:///relative\.db"):
        parse_store_url(url)


KEPT = "SELECT attstorage::text FROM pg_attribute WHERE attrelid = 'delivery'::regclass AND attname = 'body'"


async def test_a_server_keeps_bodies_without_squeezing_them_first(postgres_url):
    async with open_store(postgres_url, worker=False):
        assert await ask(postgres_url, lambda connection: connection.execute(text(KEPT)).scalar()) == "e"


async def test_only_a_server_tells_its_version(store, store_url):
    version = await store.read(load_server_version)
    assert (version is None or version >= 17, version is None) == (True, store_url.startswith("sqlite"))


async def test_transactions_that_wait_together_are_committed_together_and_fail_alone(sqlite_url):
    async with open_store(sqlite_url, worker=True) as store:
        database = store.database

        def made(number):
            def work(transaction):
                transaction.execute(text("INSERT INTO numbers VALUES (:n)"), {"n": number})
                if number == 3:
                    raise KeyError(number)
                return number

            return work

        await database.write(
            lambda transaction: transaction.execute(text("CREATE TABLE numbers (n)")) and None
        )
        outcomes = await asyncio.gather(*(database.write(made(n)) for n in range(6)), return_exceptions=True)
        kept = await database.read(
            lambda transaction: transaction.execute(text("SELECT n FROM numbers")).scalars().all()
        )
    assert [outcome for outcome in outcomes if not isinstance(outcome, KeyError)] == [0, 1, 2, 4, 5]
    assert sorted(kept) == [0, 1, 2, 4, 5]


@pytest.fixture
def open_umask():
    """Files are made for everybody, unless whoever makes them says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes_in(directory):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in (directory, *directory.iterdir())}


@pytest.mark.usefixtures("open_umask")
async def test_only_its_owner_can_read_a_new_store_and_the_files_beside_it(bare_sqlite_url):
    directory = Path(bare_sqlite_url.removeprefix("sqlite:///")).parent
    async with open_store(bare_sqlite_url, worker=True) as store:
        await store.accept(make_delivery("d1"))
        modes = modes_in(directory)
    private = dict.fromkeys(("store.db", "store.db-wal", "store.db-shm", "store.db.lock"), 0o600)
    assert modes == {directory.name: 0o700, **private}


def with_mode(path, mode):
    path.touch()
    path.chmod(mode)
    return path


@pytest.mark.parametrize("which", ["", "-wal"])
async def test_a_store_that_every_user_can_read_is_refused_with_what_to_do(sqlite_url, which):
    path = sqlite_url.removeprefix("sqlite:///")
    readable = with_mode(Path(f"{path}{which}"), 0o644)
    with pytest.raises(StoreConfigError) as refused:
        async with open_store(sqlite_url, worker=False):
            pass
    assert str(refused.value) == f"every user of this machine can read {readable}; run: chmod 600 {path}*"
    with_mode(readable, 0o600)
    async with open_store(sqlite_url, worker=False) as store:
        assert await store.read(load_parked) == ()


async def test_a_store_that_its_group_can_read_is_opened(sqlite_url):
    with_mode(Path(sqlite_url.removeprefix("sqlite:///")), 0o640)
    async with open_store(sqlite_url, worker=False) as store:
        assert await store.read(load_parked) == ()
