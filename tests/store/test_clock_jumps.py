"""A clock that was ahead and is put back leaves nothing waiting for the time that it showed."""

from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from bot.store.lanes import installation_paused_until, pause_installation
from bot.store.model import PermissionBlock, RowState, TurnResult
from bot.store.outbox import RATE_WINDOWS, load_blocks, mark_sending, record_block, spend_write
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.store.store_builders import LANE, claim_one, claim_with_effects, make_delivery, make_show_comment

TWO_DAYS = 2 * 86_400
JUMPS = (60, 1800, 12 * 3600, TWO_DAYS)
"""Seconds: some are shorter than a lane may rest, or an installation pause."""


async def test_what_came_while_the_clock_was_ahead_is_claimed_once_it_is_put_back(timed_store, clock):
    clock.advance(TWO_DAYS)
    await timed_store.accept(make_delivery("d1"))
    clock.advance(-TWO_DAYS)
    assert (await timed_store.next_due(), (await claim_one(timed_store)).lane) == (0, LANE)


async def test_a_retry_by_a_clock_that_was_ahead_is_not_waited_for(timed_store, clock):
    await timed_store.accept(make_delivery("d1"))
    claim = await claim_one(timed_store)
    clock.advance(TWO_DAYS)
    await timed_store.release(claim, retry_after=900, attempt=9)
    clock.advance(-TWO_DAYS)
    assert (await claim_one(timed_store)).attempt == 9


async def test_a_pause_by_a_clock_that_was_ahead_is_not_waited_for_and_a_new_one_is(timed_store, clock):
    await timed_store.accept(make_delivery("d1"))
    clock.advance(TWO_DAYS)
    await timed_store.write(pause_installation, 5, clock.now + timedelta(seconds=60))
    clock.advance(-TWO_DAYS)
    assert (await timed_store.read(installation_paused_until, 5), await timed_store.next_due()) == (None, 0)
    await timed_store.write(pause_installation, 5, clock.now + timedelta(seconds=60))
    assert (await timed_store.claim(10), await timed_store.next_due()) == ((), 60)


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_worker_that_goes_on_beating_claims_at_once_what_came_during_the_jump(
    timed_store, clock, jump
):
    clock.advance(jump)
    await timed_store.accept(make_delivery("d1"))
    await timed_store.record_heartbeat()
    clock.advance(-jump)
    await timed_store.record_heartbeat()
    assert (await claim_one(timed_store)).lane == LANE


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_worker_that_starts_after_the_clock_was_put_back_claims_at_once(store_url, clock, jump):
    clock.advance(jump)
    async with open_store(store_url, worker=True, clock=clock) as ahead:
        await ahead.accept(make_delivery("d1"))
        await ahead.write(pause_installation, 5, clock.now)
        await ahead.claim(10)
        ahead.leave = _die
    clock.advance(-jump)
    async with open_store(store_url, worker=True, clock=clock) as later:
        clock.advance(30)
        assert (await claim_one(later)).lane == LANE


async def _die() -> None:
    """End as `kill -9` does: without a word to the store."""


async def test_what_is_left_of_a_wait_is_waited_for_after_the_clock_was_put_back(timed_store, clock):
    clock.advance(1800)
    await timed_store.accept(make_delivery("d1"))
    await timed_store.release(await claim_one(timed_store), retry_after=300)
    await timed_store.write(pause_installation, 5, clock.now + timedelta(seconds=900))
    await timed_store.record_heartbeat()
    clock.advance(-1800)
    await timed_store.record_heartbeat()
    assert await timed_store.next_due() == 900


async def test_a_dead_instance_whose_last_beat_lies_ahead_loses_its_lanes(postgres_url, clock):
    async with AsyncExitStack() as stack:
        dead, alive = [
            await stack.enter_async_context(open_store(postgres_url, worker=True, clock=clock, instance=name))
            for name in ("dead", "alive")
        ]
        clock.advance(TWO_DAYS)
        await dead.accept(make_delivery("d1"))
        await dead.record_heartbeat()
        await dead.claim(10)
        clock.advance(-TWO_DAYS)
        await alive.record_heartbeat()
        assert await alive.claim(10) == (), "it may be alive: it has its lease to beat again"
        clock.advance(30)
        await alive.record_heartbeat()
        assert (await claim_one(alive)).lane == LANE


async def test_writes_counted_by_a_clock_that_was_ahead_block_no_write(timed_store, clock):
    clock.advance(TWO_DAYS)
    for _ in range(RATE_WINDOWS[0].most):
        await timed_store.write(spend_write, 5, 0)
    clock.advance(-TWO_DAYS)
    assert await timed_store.write(spend_write, 5, 0) == 0


async def test_a_refusal_noted_by_a_clock_that_was_ahead_is_no_recent_one(timed_store, clock):
    clock.advance(TWO_DAYS)
    await timed_store.write(record_block, PermissionBlock(5, 1, "comment", "issues=write"))
    clock.advance(-TWO_DAYS)
    assert [each.recent for each in await timed_store.read(load_blocks, 5)] == [False]


async def test_a_write_begun_while_the_clock_was_ahead_can_be_looked_up_soon(timed_store, clock):
    clock.advance(TWO_DAYS)
    claim = await claim_with_effects(timed_store, make_show_comment())
    await timed_store.write_claimed(
        claim, mark_sending, (await apply_turn(timed_store, claim, TurnResult(None, (), ())))[0]
    )
    await timed_store.record_heartbeat()
    await timed_store.release(claim)
    clock.advance(-TWO_DAYS)
    await timed_store.record_heartbeat()
    (row,) = (await claim_one(timed_store)).outbox
    assert (row.state, row.sending_at <= row.read_at) == (RowState.SENDING, True)
