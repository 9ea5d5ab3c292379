"""One pull request has one worker at a time, and nobody waits for another's storm."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from bot.store import deliveries as limits
from bot.store.database import NOW
from bot.store.lanes import installation_paused_until, pause_installation
from bot.store.model import LaneFenced, TurnResult
from bot.store.schema import instance_table
from bot.turn.store import apply_turn
from tests.store.store_builders import (
    LANE,
    OTHER_LANE,
    claim_one,
    claim_with_effects,
    make_delivery,
    make_show_comment,
    make_turn_result,
)


async def test_all_deliveries_of_a_lane_come_in_one_claim(store):
    for name in ("d1", "d2", "d3"):
        await store.accept(make_delivery(name))
    (claim,) = await store.claim(10)
    assert (claim.lane, claim.installation_id, claim.attempt) == (LANE, 5, 0)
    assert [one.id for one in claim.deliveries] == ["d1", "d2", "d3"]


async def test_a_claimed_lane_is_nobody_elses(store):
    await store.accept(make_delivery("d1"))
    await store.claim(10)
    await store.accept(make_delivery("d2"))
    assert await store.claim(10) == ()


async def test_no_more_lanes_are_claimed_than_asked_for(store):
    for number in range(5):
        await store.accept(make_delivery(f"d{number}", f"pull:1:{number}"))
    assert [len(await store.claim(2)) for _ in range(4)] == [2, 2, 1, 0]


async def test_the_lane_that_waits_longest_comes_first(timed_store, clock):
    for name in ("pull:1:9", "pull:1:3", "pull:1:7"):
        await timed_store.accept(make_delivery(name, name))
        clock.advance(1)
    assert [claim.lane for claim in await timed_store.claim(10)] == ["pull:1:9", "pull:1:3", "pull:1:7"]


async def test_one_installations_storm_does_not_delay_anothers_lane(timed_store, clock):
    for number in range(9):
        await timed_store.accept(make_delivery(f"s{number}", f"pull:1:{number}", installation_id=1))
    clock.advance(60)
    await timed_store.accept(make_delivery("quiet", "pull:2:1", installation_id=2))
    assert "pull:2:1" in {claim.lane for claim in await timed_store.claim(2)}


async def test_a_turn_has_at_most_a_hundred_deliveries_and_the_rest_comes_next(store):
    await asyncio.gather(
        *(
            store.accept(make_delivery(f"d{number:03}"))
            for number in range(limits.MAX_DELIVERIES_PER_CLAIM + 5)
        )
    )
    claim = await claim_one(store)
    await apply_turn(store, claim, make_turn_result(claim))
    await store.release(claim)
    rest = await claim_one(store)
    assert [len(claim.deliveries), [one.id for one in rest.deliveries]] == [
        100,
        ["d100", "d101", "d102", "d103", "d104"],
    ]


@pytest.mark.parametrize(("size", "fit"), [(400, ["d1", "d2"]), (600, ["d1"]), (2000, ["d1"])])
async def test_a_turn_holds_no_more_bodies_than_fit_but_always_one(store, monkeypatch, size, fit):
    monkeypatch.setattr(limits, "MAX_BYTES_PER_CLAIM", 1000)
    for name in ("d1", "d2", "d3"):
        await store.accept(make_delivery(name, body=b"x" * size))
    assert [one.id for one in (await claim_one(store)).deliveries] == fit


async def test_a_released_lane_rests_until_something_arrives(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    await apply_turn(store, claim, make_turn_result(claim))
    await store.release(claim)
    assert (await store.claim(10), await store.next_due()) == ((), None)
    await store.accept(make_delivery("d2"))
    assert [one.id for one in (await claim_one(store)).deliveries] == ["d2"]


async def test_what_arrives_during_a_turn_has_the_next_one(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    await store.accept(make_delivery("d2"))
    await apply_turn(store, claim, make_turn_result(claim))
    await store.release(claim)
    again = await claim_one(store)
    assert [one.id for one in again.deliveries] == ["d2"]
    assert again.fence > claim.fence


async def test_deliveries_that_were_not_dealt_with_come_again(store):
    await store.accept(make_delivery("d1"))
    await store.release(await claim_one(store))
    assert [one.id for one in (await claim_one(store)).deliveries] == ["d1"]


async def test_a_lane_with_unsent_rows_is_due_and_they_come_with_the_claim(store):
    claim = await claim_with_effects(store, make_show_comment())
    await store.release(claim)
    again = await claim_one(store)
    assert [again.deliveries, [row.effect for row in again.outbox]] == [(), [make_show_comment()]]


async def test_a_retry_delays_this_lane_only(timed_store, clock):
    await timed_store.accept(make_delivery("d1"))
    claim = await claim_one(timed_store)
    await timed_store.release(claim, retry_after=60.5, attempt=3)
    await timed_store.accept(make_delivery("d2", OTHER_LANE))
    assert [claim.lane for claim in await timed_store.claim(10)] == [OTHER_LANE]
    clock.advance(60)
    assert (await timed_store.claim(10), await timed_store.next_due()) == ((), 0.5)
    clock.advance(0.5)
    again = await claim_one(timed_store)
    assert (again.lane, again.attempt, [one.attempt for one in again.deliveries]) == (LANE, 3, [1])


async def test_an_arrival_does_not_cut_a_retry_short(timed_store, clock):
    await timed_store.accept(make_delivery("d1"))
    await timed_store.release(await claim_one(timed_store), retry_after=60)
    await timed_store.accept(make_delivery("d2"))
    assert await timed_store.claim(10) == ()
    clock.advance(60)
    assert [one.id for one in (await claim_one(timed_store)).deliveries] == ["d1", "d2"]


async def test_waiting_for_a_rate_limit_uses_no_attempt(timed_store, clock):
    await timed_store.accept(make_delivery("d1"))
    claim = await claim_one(timed_store)
    await timed_store.release(claim, retry_after=10, attempt=claim.attempt)
    clock.advance(10)
    again = await claim_one(timed_store)
    assert (again.attempt, [one.attempt for one in again.deliveries]) == (0, [0])


async def test_a_paused_installation_has_no_lane_due_before_its_time(timed_store, clock):
    await timed_store.accept(make_delivery("d1"))
    await timed_store.accept(make_delivery("d2", "pull:9:1", installation_id=9))
    await timed_store.write(pause_installation, 5, clock.now + timedelta(seconds=90))
    assert [claim.lane for claim in await timed_store.claim(10)] == ["pull:9:1"]
    assert await timed_store.next_due() == 90
    clock.advance(90)
    assert (await claim_one(timed_store)).lane == LANE


async def test_a_shorter_pause_does_not_end_a_longer_one(timed_store, clock):
    await timed_store.accept(make_delivery("d1"))
    for seconds in (90, 30):
        await timed_store.write(pause_installation, 5, clock.now + timedelta(seconds=seconds))
    assert await timed_store.next_due() == 90


async def test_the_next_due_lane_is_the_one_that_waits_least(timed_store):
    for name, seconds in (("d1", 40), ("d2", 20)):
        await timed_store.accept(make_delivery(name, f"pull:1:{name}"))
        await timed_store.release(await claim_one(timed_store), retry_after=seconds)
    assert await timed_store.next_due() == 20


async def test_an_overdue_lane_is_due_now_not_in_the_past(timed_store, clock):
    await timed_store.accept(make_delivery("d1"))
    clock.advance(100)
    assert await timed_store.next_due() == 0


async def test_a_lane_in_work_is_not_waited_for(store):
    await store.accept(make_delivery("d1"))
    await store.claim(10)
    assert await store.next_due() is None


async def test_a_release_can_not_be_repeated(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    await store.release(claim)
    with pytest.raises(LaneFenced):
        await store.release(claim)


async def test_a_lane_that_could_not_be_given_back_is_claimed_again(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    store.abandon(claim)
    again = await claim_one(store)
    assert [one.id for one in again.deliveries] == ["d1"]
    with pytest.raises(LaneFenced):
        await apply_turn(store, claim, make_turn_result(claim))


async def test_a_lane_that_was_swept_away_does_not_repeat_a_fence(timed_store, clock):
    await timed_store.accept(make_delivery("d1"))
    old = await claim_one(timed_store)
    await apply_turn(timed_store, old, make_turn_result(old))
    await timed_store.release(old)
    clock.advance(1)
    await timed_store.sweep()
    await timed_store.accept(make_delivery("d2"))
    new = await claim_one(timed_store)
    assert new.fence > old.fence
    with pytest.raises(LaneFenced):
        await apply_turn(timed_store, old, TurnResult(None, (make_show_comment(),), ()))


async def test_accepting_wakes_the_worker_of_this_process(store):
    store.wakes.clear()
    await store.accept(make_delivery("d1"))
    assert store.wakes.is_set()


async def test_a_release_with_work_left_wakes_the_worker(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    store.wakes.clear()
    await store.release(claim)
    assert store.wakes.is_set()


async def test_a_beat_is_as_old_as_the_clock_says(timed_store, clock):
    clock.advance(7.25)
    assert await heartbeat_ages(timed_store) == [7.25]
    await timed_store.record_heartbeat()
    assert await heartbeat_ages(timed_store) == [0]


async def heartbeat_ages(store) -> list[float]:
    return await store.read(lambda tx: tx.execute(select(NOW - instance_table.c.beat_at)).scalars().all())


async def test_a_pause_is_told_to_whoever_asks_until_it_is_over(timed_store, clock):
    until = clock.now + timedelta(seconds=30)
    await timed_store.write(pause_installation, 5, until)
    assert [await timed_store.read(installation_paused_until, each) for each in (5, 6)] == [until, None]
    clock.advance(30)
    assert await timed_store.read(installation_paused_until, 5) is None
