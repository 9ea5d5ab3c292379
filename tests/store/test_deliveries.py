"""A delivery that was acknowledged is on disk, once, in the order it came."""

import asyncio

import pytest

from bot.store import deliveries
from bot.store.deliveries import load_parked
from bot.store.model import Acceptance, StoreUnavailable, TurnResult
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.store.store_builders import LANE, OTHER_LANE, claim_one, make_delivery, make_turn_result

QUEUED, DUPLICATE = Acceptance.QUEUED, Acceptance.DUPLICATE


async def test_a_delivery_comes_out_as_it_went_in(store):
    sent = make_delivery("d1", body=bytes(range(256)))
    assert await store.accept(sent) is QUEUED
    assert (await claim_one(store)).deliveries == (sent,)


async def test_an_acknowledged_delivery_is_there_for_another_connection(store, store_url):
    await store.accept(make_delivery("d1"))
    async with open_store(store_url, worker=False) as other:
        assert await other.accept(make_delivery("d1")) is DUPLICATE


async def test_a_queued_delivery_is_not_taken_twice(store):
    assert [await store.accept(make_delivery("d1")) for _ in range(3)] == [QUEUED, DUPLICATE, DUPLICATE]
    assert [one.id for one in (await claim_one(store)).deliveries] == ["d1"]


async def test_a_repeat_while_the_lane_is_worked_on_is_a_duplicate(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    assert await store.accept(make_delivery("d1")) is DUPLICATE
    await apply_turn(store, claim, make_turn_result(claim))
    await store.release(claim)
    assert await store.claim(10) == ()


async def test_a_repeat_of_what_was_done_is_a_duplicate_and_starts_nothing(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    await apply_turn(store, claim, make_turn_result(claim))
    await store.release(claim)
    assert await store.accept(make_delivery("d1")) is DUPLICATE
    assert await store.claim(10) == ()


async def test_a_repeat_of_what_was_parked_is_queued_again(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    await apply_turn(store, claim, TurnResult(None, (), (), parked=(("d1", "ValueError: no"),)))
    await store.release(claim)
    assert await store.accept(make_delivery("d1")) is QUEUED
    assert await store.read(load_parked) == ()
    assert (await claim_one(store)).deliveries == (make_delivery("d1"),)


async def test_the_same_id_twice_at_the_same_instant_is_queued_once(store):
    answers = await asyncio.gather(*(store.accept(make_delivery("d1")) for _ in range(5)))
    assert answers == [QUEUED, DUPLICATE, DUPLICATE, DUPLICATE, DUPLICATE]


async def test_a_repeat_at_the_same_instant_does_not_move_the_first(store):
    await asyncio.gather(*(store.accept(make_delivery(name)) for name in ("d1", "d2", "d1")))
    assert [one.id for one in (await claim_one(store)).deliveries] == ["d1", "d2"]


async def test_deliveries_keep_the_order_in_which_they_came(store):
    names = [f"d{number}" for number in (7, 3, 9, 1, 5)]
    await asyncio.gather(*(store.accept(make_delivery(name)) for name in names))
    await store.accept(make_delivery("a-later-one"))
    assert [one.id for one in (await claim_one(store)).deliveries] == [*names, "a-later-one"]


async def test_the_order_holds_over_a_restart_even_if_the_clock_stands_still(store_url, clock):
    for name in ("d2", "d1", "d3"):
        async with open_store(store_url, worker=False, clock=clock) as store:
            await store.accept(make_delivery(name))
    async with open_store(store_url, worker=True, clock=clock) as store:
        assert [one.id for one in (await claim_one(store)).deliveries] == ["d2", "d1", "d3"]


async def test_what_arrives_together_is_committed_together(store, monkeypatch):
    sizes = []
    commit = deliveries.GroupCommit._commit

    async def counted(self, batch):
        sizes.append(len(batch))
        return await commit(self, batch)

    monkeypatch.setattr(deliveries.GroupCommit, "_commit", counted)
    await asyncio.gather(*(store.accept(make_delivery(f"d{number}")) for number in range(64)))
    assert sizes == [64]


async def test_more_than_a_batch_is_committed_in_order(store):
    names = [f"d{number}" for number in range(deliveries.MAX_BATCH + 50)]
    answers = await asyncio.gather(*(store.accept(make_delivery(name, f"pull:1:{name}")) for name in names))
    assert answers == [QUEUED] * len(names)


async def test_one_delivery_that_can_not_be_kept_takes_no_other_with_it(store):
    answers = await asyncio.gather(
        store.accept(make_delivery("good")),
        store.accept(make_delivery("half a character \ud800")),
        store.accept(make_delivery("as good", OTHER_LANE)),
        return_exceptions=True,
    )
    assert [type(answer) for answer in answers] == [Acceptance, StoreUnavailable, Acceptance]
    assert {claim.lane for claim in await store.claim(10)} == {LANE, OTHER_LANE}


async def test_a_caller_that_goes_away_leaves_the_others_their_answers(store):
    impatient = asyncio.create_task(store.accept(make_delivery("d1")))
    patient = asyncio.create_task(store.accept(make_delivery("d2")))
    await asyncio.sleep(0)
    impatient.cancel()
    assert await patient is QUEUED
    assert impatient.cancelled()


async def test_closing_commits_what_still_waits(store_url):
    async with open_store(store_url, worker=False) as store:
        waiting = [asyncio.create_task(store.accept(make_delivery(f"d{number}"))) for number in range(20)]
        await asyncio.sleep(0)
    assert await asyncio.gather(*waiting) == [QUEUED] * 20


async def test_a_closed_store_takes_nothing(store_url):
    async with open_store(store_url, worker=False) as store:
        pass
    with pytest.raises(StoreUnavailable):
        await store.accept(make_delivery("d1"))


async def test_a_large_body_is_kept_whole(store):
    sent = make_delivery("d1", body=b"\0\xff" * 2_000_000)
    await store.accept(sent)
    assert (await claim_one(store)).deliveries == (sent,)


async def test_a_parked_delivery_that_comes_again_wakes_the_worker_once_it_is_queued(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    await apply_turn(store, claim, TurnResult(None, (), (), parked=(("d1", "no such thing"),)))
    await store.release(claim)
    store.wakes.clear()
    accepting = asyncio.create_task(store.accept(make_delivery("d1")))
    async with asyncio.timeout(10):
        while not (claims := await store.claim(1)):
            await store.wakes.wait()
            store.wakes.clear()
    assert [one.id for one in claims[0].deliveries] == ["d1"]
    assert await accepting is Acceptance.QUEUED
