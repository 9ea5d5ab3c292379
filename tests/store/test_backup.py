"""A backup of either kind of database fills either kind, and nothing of it is lost."""

import gzip
import io
import json

import pytest
from sqlalchemy import select

from bot.store.backup import BadBackup, restore_backup, write_backup
from bot.store.database import StoreConfigError, parse_store_url
from bot.store.lanes import record_heartbeat
from bot.store.schema import known_revisions, metadata, outbox_table
from bot.store.store import connect_database, open_store
from tests.journeys.harness import Harness
from tests.store.store_builders import claim_one, claim_with_effects, make_delivery, make_show_comment

LEFT_OUT = {"instance", "spending"}


def read_tables(transaction):
    """Every row of every table."""
    return {
        table.name: sorted(map(tuple, transaction.execute(select(table))), key=repr)
        for table in metadata.sorted_tables
        if table.name not in LEFT_OUT
    }


async def back_up(url) -> io.BytesIO:
    file = io.BytesIO()
    async with open_store(url, worker=False) as store:
        await write_backup(store.database, file, "0.1.0")
    file.seek(0)
    return file


async def restore(url, file):
    database = connect_database(parse_store_url(url), None)
    try:
        return await restore_backup(database, file)
    finally:
        await database.close()


async def fill(url):
    """A real history: a rejection with its comment, a record, a document, a config."""
    harness = Harness(url)
    knowledge = harness.github.repository("acme/knowledge", collaborators={"alice": "write"})
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
    async with harness.github, harness.run_bot():
        harness.github.submit_review(
            pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: date_errors --> — ünïcödé \U0001f600"
        )
        await harness.wait_until_idle()


async def test_everything_is_the_same_after_a_restore_into_either_database(store_url, bare_store_url):
    await fill(store_url)
    size = await restore(bare_store_url, await back_up(store_url))
    async with open_store(store_url, worker=False) as old, open_store(bare_store_url, worker=False) as new:
        before, after = await old.read(read_tables), await new.read(read_tables)
    assert {name for name, rows in before.items() if rows} >= {
        "delivery",
        "pull_request",
        "sticky",
        "record",
        "document",
        "repository",
    }
    assert after == before
    assert size.rows == sum(map(len, before.values()))


async def test_a_restored_store_takes_up_its_work(store_url, bare_store_url):
    async with open_store(store_url, worker=True) as store:
        await store.accept(make_delivery("d1"))
        await claim_one(store)  # held while the backup is made
        file = await back_up(store_url)
    await restore(bare_store_url, file)
    async with open_store(bare_store_url, worker=True) as store:
        claim = await claim_one(store)
    assert ([delivery.id for delivery in claim.deliveries], claim.crashes) == (["d1"], 0)


async def test_a_write_that_may_have_been_sent_since_is_looked_up_before_it_is_repeated(
    store_url, bare_store_url
):
    async with open_store(store_url, worker=True) as store:
        await claim_with_effects(store, make_show_comment())
        file = await back_up(store_url)
    await restore(bare_store_url, file)
    async with open_store(bare_store_url, worker=False) as store:
        (row,) = await store.read(lambda transaction: transaction.execute(select(outbox_table)).all())
    assert (row.state, row.sending_at) == ("sending", row.created_at)


async def test_a_backup_is_of_one_moment_whatever_is_written_meanwhile(store_url):
    async with open_store(store_url, worker=False) as store:
        await store.accept(make_delivery("d1"))

        def count_twice(transaction):
            first = len(transaction.execute(select(metadata.tables["delivery"])).all())
            writer.send(None)
            return first, len(transaction.execute(select(metadata.tables["delivery"])).all())

        writer = _write_from_elsewhere(store_url)
        assert await store.database.snapshot(count_twice) == (1, 1)
        assert len(await store.read(lambda t: t.execute(select(metadata.tables["delivery"])).all())) == 2


def _write_from_elsewhere(url):
    """Accept a delivery from another thread, with its own connection, while the caller waits."""
    import asyncio
    import threading

    async def accept():
        async with open_store(url, worker=False) as other:
            await other.accept(make_delivery("d2"))

    def write():
        thread = threading.Thread(target=lambda: asyncio.run(accept()))
        thread.start()
        thread.join(60)
        yield

    return write()


async def test_a_store_with_something_in_it_is_left_alone(store_url):
    async with open_store(store_url, worker=False) as store:
        await store.accept(make_delivery("d1"))
    file = await back_up(store_url)
    with pytest.raises(StoreConfigError, match=r"the store is not empty \(delivery, lane\)"):
        await restore(store_url, file)


async def test_an_empty_store_may_be_restored_into_whatever_runs_beside_it(store_url, bare_store_url):
    async with open_store(bare_store_url, worker=False) as store:
        await store.write(record_heartbeat, "another")
    await fill(store_url)
    assert (await restore(bare_store_url, await back_up(store_url))).rows > 0


def lines_of(file):
    return gzip.decompress(file.getvalue()).splitlines(keepends=True)


def packed(lines):
    return io.BytesIO(gzip.compress(b"".join(lines)))


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda lines: lines[:-1], "its end is missing"),
        (lambda lines: [line for line in lines if b"d1" not in line], "its end is missing"),
        (
            lambda lines: [line.replace(b'"delivery"', b'"other"') for line in lines],
            "is not a valid backup",
        ),
        (lambda lines: [line.replace(b'"event"', b'"other"') for line in lines], "is not a valid backup"),
        (lambda lines: [line.replace(b'"d1",', b"") for line in lines], "is not a valid backup"),
        (lambda lines: lines[1:], "not a Whetstone backup"),
        (lambda lines: [b"hello\n", *lines], "is not a valid backup"),
        (
            lambda lines: [lines[0].replace(b'"0.1.0"', b'"9.0"').replace(b'"00', b'"99'), *lines[1:]],
            "of version 9.0",
        ),
        (lambda _: [], "not a Whetstone backup"),
    ],
)
async def test_a_damaged_backup_restores_nothing(sqlite_url, bare_sqlite_url, damage, what):
    async with open_store(sqlite_url, worker=False) as store:
        await store.accept(make_delivery("d1"))
    lines = lines_of(await back_up(sqlite_url))
    assert json.loads(lines[0])["revision"] == known_revisions()[-1]
    with pytest.raises(BadBackup, match=what):
        await restore(bare_sqlite_url, packed(damage(lines)))
    async with open_store(bare_sqlite_url, worker=False) as store:
        assert not any((await store.read(read_tables)).values())


async def test_a_file_that_was_cut_off_restores_nothing(sqlite_url, bare_store_url):
    await fill(sqlite_url)
    whole = (await back_up(sqlite_url)).getvalue()
    for file in (whole[:-40], b"no gzip", b""):
        with pytest.raises(BadBackup):
            await restore(bare_store_url, io.BytesIO(file))
    async with open_store(bare_store_url, worker=False) as store:
        assert not any((await store.read(read_tables)).values())


async def test_a_backup_of_an_older_version_is_brought_up_to_date(bare_store_url):
    """One that knew fewer columns: the revision before the newest, with a delivery in it."""
    first = known_revisions()[0]
    columns = ["id", "event", "lane", "installation_id", "body", "received_at", "accepted_at", "position"]
    row = ["d1", "pull_request", "pull:77:212", 5, "e30=", 1.0, 1.0, 1, "done", 1, None, 2.0]
    lines = [
        {"whetstone_backup": 1, "revision": first, "version": "0.0.1"},
        {"table": "delivery", "columns": [*columns, "state", "attempts", "error", "finished_at"]},
        row,
        {"rows": 1},
    ]
    await restore(bare_store_url, packed([json.dumps(line).encode() + b"\n" for line in lines]))
    async with open_store(bare_store_url, worker=False) as store:
        (stored,) = (await store.read(read_tables))["delivery"]
    assert (stored[0], stored[4]) == ("d1", b"{}")
