"""Deliveries at the door go before turns, and turns go on all the same."""

import asyncio
from datetime import UTC, datetime

import pytest

from bot.inbox import worker as working
from bot.inbox.worker import Worker
from bot.store import deliveries
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.inbox.store_wrapper import StoreWrapper
from tests.store.store_builders import make_delivery, make_turn_result

LANES = [f"pull:77:{number}" for number in range(4)]


class Turns:
    """Turns that last as long as the test says, and know how many lanes were taken."""

    def __init__(self, store) -> None:
        self.store = store
        self.taken: list[str] = []
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()

    async def process(self, claim) -> None:
        self.taken.append(claim.lane)
        self.begun.set()
        await self.may_end.wait()
        await apply_turn(self.store, claim, make_turn_result(claim))


class AtTheDoor(StoreWrapper):
    """The store, with or without a crowd at its door."""

    def __init__(self, store, *, is_crowded) -> None:
        super().__init__(store)
        self.is_crowded = is_crowded


@pytest.fixture
async def door(sqlite_url):
    async with open_store(sqlite_url, worker=False) as store:
        yield store


async def crowd(store):
    """As many deliveries at once as make a crowd."""
    return [
        asyncio.create_task(store.accept(make_delivery(f"d{number}", LANES[number % 4])))
        for number in range(deliveries.CROWD_SIZE)
    ]


@pytest.mark.parametrize(("is_crowded", "at_once"), [(False, 4), (True, 1)])
async def test_while_deliveries_crowd_one_lane_is_taken_at_a_time(store, monkeypatch, is_crowded, at_once):
    monkeypatch.setattr(working, "CROWDED_PAUSE", 0.01)
    await asyncio.gather(*(store.accept(make_delivery(f"of {lane}", lane)) for lane in LANES))
    turns = Turns(store)
    worker = Worker(AtTheDoor(store, is_crowded=is_crowded), turns, lambda: datetime.now(UTC))
    running = asyncio.create_task(worker.run())
    await turns.begun.wait()
    first = len(turns.taken)
    turns.may_end.set()
    await worker.wait_until_idle()
    await worker.wait_stopped()
    await running
    assert (first, len(set(turns.taken))) == (at_once, 4)


async def test_a_few_deliveries_are_no_crowd(door):
    await asyncio.gather(
        *(door.accept(make_delivery(f"d{number}")) for number in range(deliveries.CROWD_SIZE - 1))
    )
    assert not door.is_crowded


async def test_many_at_once_are_a_crowd_until_shortly_after_the_last_is_answered(door, monkeypatch):
    monkeypatch.setattr(deliveries, "CROWD_SECONDS", 60)
    entering = await crowd(door)
    await asyncio.sleep(0)
    assert door.is_crowded
    await asyncio.gather(*entering)
    assert door.is_crowded


async def test_a_crowd_is_forgotten(door, monkeypatch):
    monkeypatch.setattr(deliveries, "CROWD_SECONDS", 0)
    await asyncio.gather(*await crowd(door))
    assert not door.is_crowded
