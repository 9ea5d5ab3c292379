"""Of all instances that share a store, one looks for missed deliveries in each interval."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import pytest

from bot.store.model import ReconcileOutcome
from bot.store.reconcile import record_missed, record_redelivery
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.store.store_builders import claim_one, make_delivery, make_turn_result

EVERY = 600
FIRST = datetime.fromtimestamp(0, UTC)
AT = datetime(2026, 11, 15, 9, tzinfo=UTC)


@pytest.fixture
async def two(postgres_url, clock):
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(open_store(postgres_url, worker=True, clock=clock, instance=name))
            for name in ("one", "two")
        ]


async def test_a_run_is_due_once_in_an_interval(timed_store, clock):
    async def due():
        await timed_store.record_heartbeat()
        return await timed_store.begin_reconcile(EVERY)

    assert [await due(), await due()] == [FIRST, None]
    clock.advance(EVERY - 1)
    assert await due() is None
    clock.advance(1)
    assert [await due(), await due()] == [FIRST, None]


async def test_a_run_goes_on_where_the_last_complete_one_ended(timed_store, clock):
    await timed_store.begin_reconcile(EVERY)
    await timed_store.end_reconcile(ReconcileOutcome(is_complete=True, scanned_until=AT))
    clock.advance(EVERY)
    assert await timed_store.begin_reconcile(EVERY) == AT
    await timed_store.end_reconcile(ReconcileOutcome(resent=3))
    clock.advance(EVERY)
    assert await timed_store.begin_reconcile(EVERY) == AT


async def test_a_rate_limit_holds_for_every_instance(two, clock):
    one, other = two
    await one.begin_reconcile(EVERY)
    await one.end_reconcile(ReconcileOutcome(not_before=clock.now + timedelta(seconds=EVERY + 60)))
    clock.advance(EVERY)
    assert await other.begin_reconcile(EVERY) is None
    clock.advance(60)
    assert await other.begin_reconcile(EVERY) == FIRST


async def test_instances_that_ask_at_once_do_not_both_run(postgres_url):
    async with AsyncExitStack() as stack:
        four = [await stack.enter_async_context(open_store(postgres_url, worker=True)) for _ in range(4)]
        begun = await asyncio.gather(*(store.begin_reconcile(EVERY) for store in four for _ in range(5)))
    assert [run for run in begun if run] == [FIRST]


async def test_another_instance_takes_over_from_one_that_is_gone(two, clock):
    one, other = two
    await one.begin_reconcile(EVERY)
    for seconds, run in ((29, None), (1, FIRST)):
        clock.advance(seconds)
        await other.record_heartbeat()
        assert await other.begin_reconcile(EVERY) == run


async def test_a_restarted_server_runs_at_its_start_but_not_as_often_as_it_crashes(store_url, clock):
    async def started():
        async with open_store(store_url, worker=True, clock=clock) as store:
            return await store.begin_reconcile(EVERY)

    assert [await started(), await started()] == [FIRST, None]
    clock.advance(10)
    assert await started() == FIRST


async def test_a_run_noted_by_a_clock_that_was_ahead_delays_no_other(timed_store, clock):
    clock.advance(days=2)
    await timed_store.begin_reconcile(EVERY)
    clock.advance(days=-2)
    assert await timed_store.begin_reconcile(EVERY) == FIRST


async def test_only_what_never_came_is_missed_and_each_is_counted(timed_store, clock):
    for name in ("queued", "done", "parked"):
        await timed_store.accept(make_delivery(name, name))
    for claim in await timed_store.claim(10):
        turn = make_turn_result(claim)
        if claim.lane == "parked":
            turn = type(turn)(None, (), (), (("parked", "no"),))
        if claim.lane != "queued":
            await apply_turn(timed_store, claim, turn)
        await timed_store.release(claim)
    known = ["queued", "done", "parked"]
    assert await timed_store.write(record_missed, [*known, "lost", "other"]) == (2, {"lost": 0, "other": 0})
    await timed_store.write(record_redelivery, "lost")
    assert await timed_store.write(record_missed, [*known, "lost", "new"]) == (1, {"lost": 1, "new": 0})
    clock.advance(days=9)
    await timed_store.sweep()
    assert await timed_store.write(record_missed, ["lost"]) == (1, {"lost": 0})
    assert (await claim_one(timed_store)).lane == "queued"


async def test_thousands_that_were_missed_are_counted(store):
    ids = [f"lost-{number}" for number in range(2500)]
    new, asked = await store.write(record_missed, ids)
    assert (new, len(asked)) == (2500, 2500)
