"""What was acknowledged or written down is there after `kill -9`, and after the server went away."""

import asyncio
import contextlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import threading

import pytest
from sqlalchemy import update
from sqlalchemy.util import await_only

from bot.store import dialects
from bot.store.database import StoreConfigError, parse_store_url
from bot.store.model import Acceptance, RowState, StoreUnavailable
from bot.store.schema import lane_table
from bot.store.store import open_store
from tests.store.store_builders import claim_one, make_delivery, make_show_comment

ACCEPT_WITHOUT_END = """
import asyncio, sys
from bot.store.store import open_store
from tests.store.store_builders import make_delivery

async def main():
    async with open_store(sys.argv[1], worker=True) as store:
        async def accept(who):
            for number in range(1_000_000):
                name = f"{who}-{number}"
                await store.accept(make_delivery(name, f"pull:1:{number % 50}"))
                print(name, flush=True)
        await asyncio.gather(*(accept(who) for who in range(8)))

asyncio.run(main())
"""

STOP_IN_THE_MIDDLE_OF_A_TURN = """
import asyncio, sys
from bot.store.model import TurnResult
from bot.store.outbox import mark_sending
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.store.store_builders import claim_one, make_delivery, make_show_comment

async def main():
    async with open_store(sys.argv[1], worker=True) as store:
        await store.accept(make_delivery("d1"))
        await store.accept(make_delivery("d2"))
        claim = await claim_one(store)
        (row,) = await apply_turn(store, claim, TurnResult(None, (make_show_comment(),), ("d1",)))
        await store.write_claimed(claim, mark_sending, row)
        print("sending", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def start(script, url):
    # S603: the script is ours, the address the fixture's.
    return subprocess.Popen(  # noqa: S603  our own
        [sys.executable, "-c", script, url], stdout=subprocess.PIPE, text=True
    )


def kill(process):
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read()
    process.stdout.close()
    process.wait()
    return rest


async def test_every_acknowledged_delivery_survives_a_kill(store_url):
    process = start(ACCEPT_WITHOUT_END, store_url)
    lines = [process.stdout.readline() for _ in range(300)]
    acknowledged = [*lines, *kill(process).splitlines(keepends=True)]
    names = [line.strip() for line in acknowledged if line.endswith("\n")]
    async with open_store(store_url, worker=True) as store:
        answers = await asyncio.gather(*(store.accept(make_delivery(name)) for name in names))
    assert set(answers) == {Acceptance.DUPLICATE}


async def test_a_turn_that_was_killed_on_a_file_is_taken_again_at_the_next_start(sqlite_url):
    process = start(STOP_IN_THE_MIDDLE_OF_A_TURN, sqlite_url)
    assert process.stdout.readline() == "sending\n"
    with pytest.raises(StoreConfigError, match=f"process {process.pid} already uses"):
        async with open_store(sqlite_url, worker=True):
            pass
    kill(process)
    async with open_store(sqlite_url, worker=True) as store:
        claim = await claim_one(store)
    assert [one.id for one in claim.deliveries] == ["d2"]
    assert [(row.effect, row.state) for row in claim.outbox] == [(make_show_comment(), RowState.SENDING)]


async def test_a_restarted_server_is_found_again(postgres_server, postgres_url):
    async with open_store(postgres_url, worker=True) as store:
        await store.accept(make_delivery("d1"))
        claim = await claim_one(store)
        postgres_server.stop()
        try:
            for attempt in (
                store.accept(make_delivery("d2")),
                store.claim(1),
                store.record_heartbeat(),
                store.release(claim),
            ):
                with pytest.raises(StoreUnavailable):
                    await attempt
        finally:
            postgres_server.ensure_postgres_running()
        assert await store.accept(make_delivery("d2")) is Acceptance.QUEUED
        again = await claim_one(store)
        assert [one.id for one in again.deliveries] == ["d1", "d2"]


async def test_a_restart_that_nobody_saw_costs_nobody_an_answer(postgres_server, postgres_url):
    async with open_store(postgres_url, worker=True) as store:
        await store.accept(make_delivery("d1"))
        postgres_server.stop()
        postgres_server.ensure_postgres_running()
        assert await store.accept(make_delivery("d2")) is Acceptance.QUEUED


async def test_a_process_stopped_in_the_middle_of_a_statement_holds_up_nobody(postgres_url, monkeypatch):
    half_way, goes_on = asyncio.Event(), asyncio.Event()

    def stopped(transaction):
        transaction.execute(update(lane_table).values(owner="stopped"))
        # The statement is named and described; the process never gets to its parameters.
        begin_a_statement(transaction.connection.connection.driver_connection)
        half_way.set()
        await_only(goes_on.wait())

    database = dialects.PostgresDatabase(parse_store_url(postgres_url), None)
    async with open_store(postgres_url, worker=True) as store, asyncio.TaskGroup() as tasks:
        await store.accept(make_delivery("d1"))
        monkeypatch.setattr(dialects, "TRANSACTION_SECONDS", 0.5)
        held_up = tasks.create_task(fails(database.write(stopped)))
        await half_way.wait()
        monkeypatch.undo()
        assert await store.accept(make_delivery("d2")) is Acceptance.QUEUED
        assert [one.id for one in (await claim_one(store)).deliveries] == ["d1", "d2"]
        goes_on.set()
        assert await held_up, "what it changed is undone"
    await database.close()


def begin_a_statement(driver) -> None:
    for kind, body in ((b"P", b"half\0SELECT 1\0\0\0"), (b"D", b"Shalf\0"), (b"H", b"")):
        driver._transport.write(kind + struct.pack("!i", len(body) + 4) + body)


async def fails(write) -> bool:
    try:
        await write
    except StoreUnavailable:
        return True
    return False


NORMAL, FULL = 1, 2
"""How SQLite names what it writes to the disk before a commit returns: nothing, or everything."""


def synchronous(transaction):
    return transaction.connection.exec_driver_sql("PRAGMA synchronous").scalar()


@pytest.mark.parametrize(("durable", "expected"), [(True, FULL), (False, NORMAL)])
async def test_only_what_may_be_undone_by_a_power_cut_does_not_wait_for_the_disk(
    sqlite_url, durable, expected
):
    async with open_store(sqlite_url, worker=False) as store:
        assert await store.database.write(synchronous, durable=not durable) != expected
        assert await store.database.write(synchronous, durable=durable) == expected


async def test_what_shares_a_commit_with_something_durable_is_durable(sqlite_url):
    async with open_store(sqlite_url, worker=False) as store:
        writes = [store.database.write(synchronous, durable=number == 5) for number in range(10)]
        assert (await asyncio.gather(*writes))[5] == FULL


async def test_a_durable_write_does_not_join_a_commit_that_does_not_wait_for_the_disk(sqlite_url):
    async with open_store(sqlite_url, worker=False) as store:
        late = await write_while_another_runs(store.database, first_durable=False, late_durable=True)
        assert await late == FULL


async def test_what_comes_while_a_durable_commit_is_prepared_joins_it(sqlite_url):
    async with open_store(sqlite_url, worker=False) as store:
        late = await write_while_another_runs(store.database, first_durable=True, late_durable=False)
        assert await late == FULL


async def write_while_another_runs(database, *, first_durable, late_durable):
    """Ask for a write while another one runs; returns the late one, which tells how it is written."""
    loop, running, may_end = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def wait(_transaction):
        loop.call_soon_threadsafe(running.set)
        may_end.wait()

    first = asyncio.create_task(database.write(wait, durable=first_durable))
    await running.wait()
    late = asyncio.create_task(database.write(synchronous, durable=late_durable))
    await asyncio.sleep(0)
    may_end.set()
    await first
    return late


async def test_one_that_fails_takes_nothing_with_it_that_joined_its_commit(sqlite_url):
    def fail(_transaction):
        raise ValueError("no such thing")

    async with open_store(sqlite_url, worker=False) as store:
        accepting = asyncio.create_task(store.accept(make_delivery("d1")))
        failing = asyncio.create_task(store.database.write(fail))
        with pytest.raises(ValueError, match="no such thing"):
            await failing
        assert await accepting is Acceptance.QUEUED
        assert await store.accept(make_delivery("d1")) is Acceptance.DUPLICATE


async def test_a_claim_finds_what_was_asked_to_be_accepted_before_it(sqlite_url):
    async with open_store(sqlite_url, worker=True) as store:
        accepting = asyncio.create_task(store.accept(make_delivery("d1")))
        await store.wakes.wait()
        claim = await claim_one(store)
        assert [one.id for one in claim.deliveries] == ["d1"]
        assert await accepting is Acceptance.QUEUED


async def test_the_log_is_copied_into_the_file_after_a_durable_write(sqlite_url, tmp_path, monkeypatch):
    monkeypatch.setattr(dialects, "CHECKPOINT_SECONDS", 0)
    file = parse_store_url(sqlite_url)
    async with open_store(sqlite_url, worker=False) as store:
        await store.accept(make_delivery("d1"))
        async with asyncio.timeout(10):
            while not is_in_file(file, "d1", tmp_path / "copy.db"):
                await store.read(synchronous)


def is_in_file(file, delivery_id, copy) -> bool:
    """Whether a delivery is in the file itself, without the log beside it."""
    shutil.copy(file, copy)
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        try:
            return bool(connection.execute("SELECT 1 FROM delivery WHERE id = ?", (delivery_id,)).fetchall())
        except sqlite3.DatabaseError:
            return False  # copied while it was written
