"""An installation writes no more than GitHub allows, and what matters most is written first."""

import asyncio
from contextlib import AsyncExitStack

from bot.store.outbox import spend_write
from bot.store.store import open_store

REJECTION, REPLY, SUMMARY = 0, 1, 2


async def spend_all(store, priority=REJECTION, installation_id=5):
    """How many writes are granted at this moment."""
    granted = 0
    while await store.write(spend_write, installation_id, priority) == 0:
        granted += 1
    return granted


async def test_eighty_writes_go_out_at_once_and_the_next_waits_for_the_minute(timed_store, clock):
    assert await spend_all(timed_store) == 80
    clock.advance(10.5)
    assert await timed_store.write(spend_write, 5, REJECTION) == 49.5
    clock.advance(49.5)
    assert await timed_store.write(spend_write, 5, REJECTION) == 0


async def test_a_refused_write_is_not_counted(timed_store, clock):
    await spend_all(timed_store)
    for _ in range(3):
        await timed_store.write(spend_write, 5, REJECTION)
    clock.advance(60)
    assert await spend_all(timed_store) == 80


async def test_every_installation_has_a_budget_of_its_own(timed_store):
    await spend_all(timed_store, installation_id=5)
    assert await timed_store.write(spend_write, 6, REJECTION) == 0


async def test_summaries_leave_room_for_replies_and_replies_for_rejections(timed_store):
    granted = [await spend_all(timed_store, priority) for priority in (SUMMARY, REPLY, REJECTION)]
    assert granted == [48, 16, 16]


async def test_a_burst_of_five_hundred_is_worked_off_within_both_budgets(timed_store, clock):
    written = []
    while len(written) < 520:
        wait = await timed_store.write(spend_write, 5, REJECTION)
        if wait:
            clock.advance(wait)
        else:
            written.append(clock.now.timestamp())
    assert most_within(written, 60) == 80
    assert most_within(written, 3600) == 500
    assert written[499] - written[0] == 6 * 60
    assert written[500] - written[0] == 3600


async def test_instances_share_one_budget(postgres_url, clock):
    async with AsyncExitStack() as stack:
        stores = [
            await stack.enter_async_context(open_store(postgres_url, worker=False, clock=clock))
            for _ in range(3)
        ]
        assert sum(await asyncio.gather(*(spend_all(store) for store in stores))) == 80


async def test_a_smaller_share_has_room_only_when_enough_writes_have_left(timed_store, clock):
    for _ in range(32):
        await timed_store.write(spend_write, 5, REJECTION)
    clock.advance(50)
    for _ in range(48):
        await timed_store.write(spend_write, 5, REJECTION)
    clock.advance(9)
    assert await timed_store.write(spend_write, 5, SUMMARY) == 51.0
    assert await timed_store.write(spend_write, 5, REJECTION) == 1.0


def most_within(times, seconds):
    return max(sum(start <= at < start + seconds for at in times) for start in times)
