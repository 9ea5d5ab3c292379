"""Bodies go after 8 days, parked ones and ids after 30; nothing that is still needed goes at all."""

import asyncio

import pytest
from sqlalchemy import insert, select, text

from bot.store import retention
from bot.store.deliveries import load_parked
from bot.store.model import Acceptance, TurnResult
from bot.store.pull_requests import load_pull_request
from bot.store.schema import delivery_table as delivery_rows
from bot.store.schema import forgotten_table
from bot.turn.store import apply_turn
from tests.builders import make_pull_request
from tests.store.store_builders import (
    claim_one,
    claim_with_effects,
    make_delivery,
    make_show_comment,
    make_turn_result,
)

DAY = 86_400


async def finish(store, *names, parked=False):
    await asyncio.gather(*(store.accept(make_delivery(name)) for name in names))
    claim = await claim_one(store)
    turn = (
        TurnResult(None, (), (), parked=tuple((name, "no") for name in names))
        if parked
        else make_turn_result(claim)
    )
    await apply_turn(store, claim, turn)
    await store.release(claim)


async def body(store, name):
    query = select(delivery_rows.c.body).where(delivery_rows.c.id == name)
    return await store.database.read(lambda transaction: transaction.execute(query).scalar())


async def test_the_body_of_a_done_delivery_goes_after_eight_days_and_its_id_stays(timed_store, clock):
    await finish(timed_store, "d1")
    clock.advance(8 * DAY - 1)
    await timed_store.sweep()
    assert await body(timed_store, "d1") == make_delivery("d1").body
    clock.advance(2)
    await timed_store.sweep()
    assert await body(timed_store, "d1") is None
    assert await timed_store.accept(make_delivery("d1")) is Acceptance.DUPLICATE


async def test_an_id_is_forgotten_after_thirty_days(timed_store, clock):
    await finish(timed_store, "d1")
    clock.advance(30 * DAY + 1)
    await timed_store.sweep()
    assert await timed_store.accept(make_delivery("d1")) is Acceptance.QUEUED


async def test_a_parked_delivery_can_be_retried_for_thirty_days(timed_store, clock):
    await finish(timed_store, "d1", parked=True)
    clock.advance(30 * DAY - 1)
    await timed_store.sweep()
    assert await timed_store.retry(("d1",)) == 1
    assert (await claim_one(timed_store)).deliveries == (make_delivery("d1"),)


async def test_a_parked_delivery_is_forgotten_after_thirty_days(timed_store, clock):
    await finish(timed_store, "d1", parked=True)
    clock.advance(30 * DAY + 1)
    await timed_store.sweep()
    assert await timed_store.read(load_parked) == ()


async def test_what_still_waits_is_never_swept(timed_store, clock):
    claim = await claim_with_effects(timed_store, make_show_comment())
    await apply_turn(timed_store, claim, TurnResult(make_pull_request(), (), ()))
    await timed_store.accept(make_delivery("d2"))
    await timed_store.release(claim, retry_after=60)
    clock.advance(400 * DAY)
    await timed_store.sweep()
    again = await claim_one(timed_store)
    assert (again.deliveries, [row.effect for row in again.outbox]) == (
        (make_delivery("d2"),),
        [make_show_comment()],
    )
    assert await timed_store.read(load_pull_request, again.lane) == make_pull_request()


async def test_a_lane_in_work_is_never_swept(timed_store, clock):
    claim = await claim_with_effects(timed_store)
    clock.advance(400 * DAY)
    await timed_store.sweep()
    assert await apply_turn(timed_store, claim, TurnResult(None, (), ())) == ()


async def test_a_sweep_says_how_many_rows_it_changed_and_the_next_finds_none(timed_store, clock, monkeypatch):
    monkeypatch.setattr(retention, "SWEEP_BATCH", 3)
    await finish(timed_store, *"abcdefghij")
    await timed_store.record_heartbeat()
    clock.advance(9 * DAY)
    await timed_store.record_heartbeat()
    lane_and_bodies = 11
    assert [await timed_store.sweep(), await timed_store.sweep()] == [lane_and_bodies, 0]


async def test_a_sweep_that_is_far_behind_stops_after_a_while(timed_store, clock, monkeypatch):
    monkeypatch.setattr(retention, "SWEEP_BATCH", 2)
    monkeypatch.setattr(retention, "MAX_BATCHES", 3)
    await finish(timed_store, *"abcdefghij")
    clock.advance(9 * DAY)
    await timed_store.record_heartbeat()
    assert [await timed_store.sweep(), await timed_store.sweep()] == [7, 4]


async def test_a_sweep_has_the_database_look_at_what_has_grown(store):
    rows = [{"repository_id": 1, "account_id": number, "at": 0.0} for number in range(2000)]

    def grow(transaction):
        transaction.execute(insert(forgotten_table), rows)
        if transaction.shared:  # which counts its changes a moment later
            transaction.execute(text("SELECT pg_stat_force_next_flush()"))

    def known(transaction):
        told = (
            "SELECT reltuples FROM pg_class WHERE relname = 'forgotten'"
            if transaction.shared
            else "SELECT stat FROM sqlite_stat1 WHERE tbl = 'forgotten'"
        )
        return float(str(transaction.execute(text(told)).scalar()).split()[0])

    await store.database.write(grow)
    await store.sweep()
    assert await store.database.read(known) > 1000  # SQLite looks at some of the rows


# PostgreSQL looks by itself, and its statistics outlive the tables that a test finds emptied.
@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
async def test_a_look_at_a_small_store_promises_nothing_about_its_size(store):
    def known(transaction):
        return transaction.execute(text("SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'lane'")).scalar()

    await store.accept(make_delivery("d1"))
    await store.sweep()
    assert await store.database.read(known) == 0
