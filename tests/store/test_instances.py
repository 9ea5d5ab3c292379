"""Several instances share one PostgreSQL: no lane twice, nothing lost, no deadlock."""

import asyncio
import random
from contextlib import AsyncExitStack
from itertools import chain

import pytest

from bot.store.deliveries import load_parked
from bot.store.model import Acceptance, LaneFenced, TurnResult
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.store.store_builders import LANE, claim_one, make_delivery, make_show_comment, make_turn_result


@pytest.fixture
async def two(postgres_url, clock):
    """Two instances on one database, with one clock."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(open_store(postgres_url, worker=True, clock=clock, instance=name))
            for name in ("one", "two")
        ]


@pytest.fixture
async def four(postgres_url):
    """Four instances on one database, with the database's clock."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_store(postgres_url, worker=True)) for _ in range(4)]


async def test_no_lane_is_claimed_twice(four):
    lanes = [f"pull:1:{number}" for number in range(200)]
    await asyncio.gather(*(four[0].accept(make_delivery(lane, lane)) for lane in lanes))

    async def claim_all(store):
        claimed = []
        while claims := await store.claim(7):
            claimed += [claim.lane for claim in claims]
        return claimed

    claimed = await asyncio.gather(*(claim_all(store) for store in four))
    assert sorted(chain.from_iterable(claimed)) == sorted(lanes)


async def test_an_instance_that_stopped_beating_loses_its_lanes_and_writes_nothing_more(two, clock):
    one, other = two
    await one.accept(make_delivery("d1"))
    stalled = await claim_one(one)
    clock.advance(29)
    await other.record_heartbeat()
    assert (await other.claim(10), await other.next_due()) == ((), 1)
    clock.advance(1)
    taken = await claim_one(other)
    assert (taken.deliveries, taken.fence) == (stalled.deliveries, stalled.fence + 1)
    with pytest.raises(LaneFenced):
        await apply_turn(one, stalled, TurnResult(None, (make_show_comment("stale"),), ("d1",)))
    assert await apply_turn(other, taken, make_turn_result(taken)) == ()


async def test_an_instance_that_lost_a_lane_may_have_it_again_later(two, clock):
    one, other = two
    await one.accept(make_delivery("d1"))
    stalled = await claim_one(one)
    clock.advance(30)
    taken = await claim_one(other)
    await apply_turn(other, taken, make_turn_result(taken))
    await other.release(taken)
    with pytest.raises(LaneFenced):
        await apply_turn(one, stalled, make_turn_result(stalled))
    await one.accept(make_delivery("d2"))
    assert [delivered.id for delivered in (await claim_one(one)).deliveries] == ["d2"]


async def test_a_beating_instance_keeps_its_lanes(two, clock):
    one, other = two
    await one.accept(make_delivery("d1"))
    claim = await claim_one(one)
    for _ in range(20):
        clock.advance(10)
        await one.record_heartbeat()
        assert await other.claim(10) == ()
    assert await apply_turn(one, claim, make_turn_result(claim)) == ()


async def test_an_instance_that_slept_through_its_lease_is_alive_again_once_it_claims(two, clock):
    one, other = two
    clock.advance(100)
    await one.accept(make_delivery("d1"))
    await claim_one(one)
    assert await other.claim(10) == ()


async def test_an_instance_that_slept_through_its_lease_does_not_take_its_own_turn_twice(two, clock):
    one, _ = two
    await one.accept(make_delivery("d1"))
    await claim_one(one)
    clock.advance(100)
    assert await one.claim(10) == ()


async def test_an_arrival_elsewhere_wakes_a_waiting_worker(four):
    one, other, *_ = four
    one.wakes.clear()
    await other.accept(make_delivery("d1"))
    assert await asyncio.wait_for(one.wakes.wait(), 60) is True


async def test_the_same_delivery_at_two_doors_is_queued_once(four):
    names = [f"d{number}" for number in range(50)]
    chance = random.Random(7)
    answers = await asyncio.gather(
        *(store.accept(make_delivery(name)) for store in four for name in chance.sample(names, 50))
    )
    assert answers.count(Acceptance.QUEUED) == 50


async def test_what_arrives_while_its_lane_is_given_back_is_never_forgotten(four):
    worker, *doors = four

    async def arrive(store, letter):
        for number in range(30):
            await store.accept(make_delivery(f"{letter}{number}"))

    async def work():
        seen = []
        while len(seen) < 90:
            for claim in await worker.claim(10):
                seen += [one.id for one in claim.deliveries]
                await apply_turn(worker, claim, make_turn_result(claim))
                await worker.release(claim)
        return seen

    arrivals = [arrive(store, letter) for store, letter in zip(doors, "abc", strict=True)]
    async with asyncio.timeout(60):
        seen, *_ = await asyncio.gather(work(), *arrivals)
    assert (len(set(seen)), await worker.next_due()) == (90, None)


async def test_doors_workers_and_retries_on_the_same_lanes_do_not_deadlock(four):
    chance = random.Random(7)
    names = [(f"d{number}", f"pull:1:{number % 9}") for number in range(90)]

    async def door(store):
        for start in range(0, 90, 15):
            batch = chance.sample(names[: start + 15], 15)
            await asyncio.gather(*(store.accept(make_delivery(*name)) for name in batch))
            await store.retry(tuple(name for name, _ in batch))

    async def worker(store):
        for _ in range(10):
            for claim in await store.claim(4):
                ids = [one.id for one in claim.deliveries]
                half = len(ids) // 2
                parked = tuple((one, "no") for one in ids[half:])
                await apply_turn(
                    store, claim, TurnResult(None, (make_show_comment(),), tuple(ids[:half]), parked)
                )
                await store.release(claim)

    async def sweeper(store):
        for _ in range(2):
            await store.sweep()

    async with asyncio.timeout(60):
        await asyncio.gather(*(work(store) for store in four for work in (door, worker, sweeper)))
        await worker(four[0])  # the last thing that happened may be a retry of all that was parked
    assert len(await four[0].read(load_parked)) > 0


async def test_the_lanes_of_a_dead_instance_go_to_whoever_starts_next(postgres_url, clock):
    async with open_store(postgres_url, worker=True, clock=clock, instance="one") as dying:
        await dying.accept(make_delivery("d1"))
        await dying.claim(10)
    clock.advance(30)
    async with open_store(postgres_url, worker=True, clock=clock, instance="two") as next_one:
        assert (await claim_one(next_one)).lane == LANE
