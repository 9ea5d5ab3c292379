"""The turns of a burst share commits on SQLite, and a turn that is alone does not wait for any."""

import asyncio

import pytest

from bot.store import store as storing
from bot.store.store import open_store
from tests.store.store_builders import make_delivery


@pytest.fixture
async def store(sqlite_url):
    async with open_store(sqlite_url, worker=True) as store:
        yield store


async def claim_lanes(store, count):
    for number in range(count):
        await store.accept(make_delivery(f"d{number}", f"pull:77:{number}"))
    return await store.claim(count)


def transaction_of(transaction):
    """What the writes of one commit have in common."""
    return transaction


async def test_turns_of_a_burst_share_a_commit(store, monkeypatch):
    monkeypatch.setattr(storing, "COMMIT_WINDOW", 3600)
    first, *others = await claim_lanes(store, storing.BURST_LANES)
    writes = [asyncio.create_task(store.write_claimed(first, transaction_of))]
    await store.database.write(transaction_of)  # the first one waits meanwhile, and joins no commit
    writes += [asyncio.create_task(store.write_claimed(claim, transaction_of)) for claim in others]
    await asyncio.sleep(0)
    store._end_window()  # as the clock does
    transactions = await asyncio.gather(*writes)
    assert len(set(map(id, transactions))) == 1


async def test_a_few_turns_wait_for_nobody(store, monkeypatch):
    monkeypatch.setattr(storing, "COMMIT_WINDOW", 3600)
    claims = await claim_lanes(store, storing.BURST_LANES - 1)
    await asyncio.gather(*(store.write_claimed(claim, transaction_of) for claim in claims))


async def test_the_turns_of_a_burst_are_written_and_released(store, monkeypatch):
    monkeypatch.setattr(storing, "COMMIT_WINDOW", 0)
    claims = await claim_lanes(store, storing.BURST_LANES)
    for claim in claims:
        await store.write_claimed(claim, transaction_of)
        await store.release(claim)
    assert await store.claim(10)  # their deliveries were not finished


async def test_one_that_is_cancelled_while_it_waits_holds_up_no_other(store, monkeypatch):
    monkeypatch.setattr(storing, "COMMIT_WINDOW", 3600)
    first, second, *_ = await claim_lanes(store, storing.BURST_LANES)
    cancelled = asyncio.create_task(store.write_claimed(first, transaction_of))
    other = asyncio.create_task(store.write_claimed(second, transaction_of))
    await asyncio.sleep(0)
    cancelled.cancel()
    store._end_window()  # as the clock does
    await other
    assert cancelled.cancelled()
