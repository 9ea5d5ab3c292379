"""A claim that ends without release is counted as a crash, on its lane and on the delivery that ran alone."""

import itertools
from dataclasses import replace

import pytest

from bot.store.lanes import LEASE_SECONDS, count_queue
from bot.store.model import LaneFenced, TurnResult
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.store.store_builders import LANE, OTHER_LANE, claim_one, make_delivery, make_turn_result

_names = (f"instance-{number}" for number in itertools.count())


@pytest.fixture
def started(store_url, clock):
    """Start a process on the store, once the lease of every earlier one has run out."""

    def start():
        clock.advance(LEASE_SECONDS)
        return open_store(store_url, worker=True, clock=clock, instance=next(_names))

    return start


async def crash(started, *, isolated: str | None = None) -> None:
    """A process claims the lane and ends without releasing it, maybe while it handles one delivery alone."""
    async with started() as store:
        claim = await claim_one(store)
        if isolated:
            alone = tuple(one for one in claim.deliveries if one.id == isolated)
            await store.isolate(replace(claim, deliveries=alone))


async def accept(started, *names: str) -> None:
    async with started() as store:
        for name in names:
            await store.accept(make_delivery(name))


async def test_each_claim_that_ends_with_its_process_is_counted_on_the_lane(started):
    await accept(started, "d1")
    counted = []
    for _ in range(3):
        async with started() as store:
            counted.append((await claim_one(store)).crashes)
    assert counted == [0, 1, 2]


async def test_only_the_lane_that_the_process_owned_is_counted(started):
    await accept(started, "d1")
    await crash(started)
    async with started() as store:
        await store.accept(make_delivery("d2", OTHER_LANE))
        assert {claim.lane: claim.crashes for claim in await store.claim(10)} == {LANE: 1, OTHER_LANE: 0}


async def test_a_released_lane_counts_no_crash(started):
    """As when the process stops, GitHub's limit is met, a turn is deferred, or it fails."""
    await accept(started, "d1")
    for retry, attempt in ((0.0, 0), (30.0, 0), (2.0, 1)):
        async with started() as store:
            await store.release(await claim_one(store), retry_after=retry, attempt=attempt)
    async with started() as store:
        assert (await claim_one(store)).crashes == 0


async def test_a_retry_keeps_the_count_and_a_finished_turn_resets_it(started):
    await accept(started, "d1")
    await crash(started)
    async with started() as store:
        await store.release(await claim_one(store), retry_after=0.0, attempt=1)
        claim = await claim_one(store)
        await apply_turn(store, claim, make_turn_result(claim))
        await store.release(claim)
        await store.accept(make_delivery("d2"))
        assert (claim.crashes, (await claim_one(store)).crashes) == (1, 0)


async def test_a_living_process_that_claims_its_own_lane_again_counts_no_crash(started):
    await accept(started, "d1")
    await crash(started)
    async with started() as store:
        claim = await claim_one(store)
        await store.isolate(claim)
        store.abandon(claim)  # as where the store was away when the lane was to be released
        again = await claim_one(store)
    assert (claim.crashes, again.crashes, [one.crashes for one in again.deliveries]) == (1, 1, [0])


async def test_a_crash_is_counted_on_the_delivery_that_ran_alone_and_on_no_other(started):
    await accept(started, "good", "bad")
    await crash(started)
    await crash(started, isolated="bad")
    await crash(started, isolated="bad")
    await crash(started)  # while it waited for the other lanes
    async with started() as store:
        claim = await claim_one(store)
    assert {one.id: one.crashes for one in claim.deliveries} == {"good": 0, "bad": 2}


async def test_a_released_delivery_that_ran_alone_counts_no_crash(started):
    await accept(started, "d1")
    async with started() as store:
        claim = await claim_one(store)
        await store.isolate(claim)
        await store.release(claim, retry_after=0.0, attempt=1)
    async with started() as store:
        assert [one.crashes for one in (await claim_one(store)).deliveries] == [0]


async def test_a_parked_delivery_that_is_queued_again_starts_over(started):
    await accept(started, "bad")
    await crash(started, isolated="bad")
    async with started() as store:
        claim = await claim_one(store)
        await apply_turn(store, claim, TurnResult(None, (), (), parked=(("bad", "it ends the process"),)))
        await store.release(claim)
        assert (await store.read(count_queue)).parked_crashes == {("bad", "pull_request_review"): 1}
        await store.retry(("bad",))
        claim = await claim_one(store)
        assert [one.crashes for one in claim.deliveries] == [0]
        assert (await store.read(count_queue)).parked_crashes == {}


async def test_crashed_lanes_are_counted_for_the_operator(started):
    await accept(started, "d1")
    await crash(started)
    async with started() as store:
        claim = await claim_one(store)
        crashed = (await store.read(count_queue)).lanes_crashed
        await apply_turn(store, claim, make_turn_result(claim))
        await store.release(claim)
        assert (crashed, (await store.read(count_queue)).lanes_crashed) == (1, 0)


async def test_a_process_that_lost_the_lane_can_not_say_that_it_runs_alone(postgres_url, clock):
    stopped = open_store(postgres_url, worker=True, clock=clock, instance="stopped")
    peer = open_store(postgres_url, worker=True, clock=clock, instance="peer")
    async with stopped as one, peer as other:
        await one.accept(make_delivery("d1"))
        claim = await claim_one(one)
        clock.advance(LEASE_SECONDS)
        await other.record_heartbeat()
        taken = await claim_one(other)
        with pytest.raises(LaneFenced):
            await one.isolate(claim)
        await apply_turn(other, taken, make_turn_result(taken))
        await other.release(taken)
        await other.accept(make_delivery("d2"))
        assert (taken.crashes, (await claim_one(other)).crashes) == (1, 0)
