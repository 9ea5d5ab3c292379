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

    def __init__(self, store, *, crowded_seconds) -> None:
        super().__init__(store)
        self.crowded_seconds = crowded_seconds


class CrowdedOnClaim(AtTheDoor):
    """A store at which deliveries begin to crowd with the claim of their lanes."""

    async def claim(self, limit):
        claims = await self._store.claim(limit)
        self.crowded_seconds = 60.0
        return claims


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


async def work(worker, turns):
    """Run the worker until nothing is left; returns how many lanes had begun with the first."""
    running = asyncio.create_task(worker.run())
    await turns.begun.wait()
    first = len(turns.taken)
    turns.may_end.set()
    await worker.wait_until_idle()
    await worker.wait_stopped()
    await running
    return first


@pytest.mark.parametrize(("crowded_seconds", "at_once"), [(0.0, 4), (60.0, 1)])
async def test_while_deliveries_crowd_one_lane_is_taken_at_a_time(
    store, monkeypatch, crowded_seconds, at_once
):
    monkeypatch.setattr(working, "CROWDED_PAUSE", 0.01)
    await asyncio.gather(*(store.accept(make_delivery(f"of {lane}", lane)) for lane in LANES))
    turns = Turns(store)
    crowded = AtTheDoor(store, crowded_seconds=crowded_seconds)
    first = await work(Worker(crowded, turns, lambda: datetime.now(UTC)), turns)
    assert (first, len(set(turns.taken))) == (at_once, 4)


async def test_lanes_claimed_when_a_crowd_begins_start_one_at_a_time(store, monkeypatch):
    monkeypatch.setattr(working, "CROWDED_PAUSE", 0.01)
    await asyncio.gather(*(store.accept(make_delivery(f"of {lane}", lane)) for lane in LANES))
    turns = Turns(store)
    crowded = CrowdedOnClaim(store, crowded_seconds=0.0)
    first = await work(Worker(crowded, turns, lambda: datetime.now(UTC)), turns)
    assert (first, len(set(turns.taken))) == (1, 4)


async def test_a_turn_begins_as_soon_as_the_crowd_is_over(store, monkeypatch):
    monkeypatch.setattr(working, "CROWDED_PAUSE", 60)
    await store.accept(make_delivery("of a lane", LANES[0]))
    turns = Turns(store)
    crowded = AtTheDoor(store, crowded_seconds=0.01)
    worker = Worker(crowded, turns, lambda: datetime.now(UTC))
    asyncio.get_running_loop().call_soon(setattr, crowded, "crowded_seconds", 0.0)
    assert await work(worker, turns) == 1


async def test_a_stop_does_not_wait_for_the_crowd(store, monkeypatch):
    monkeypatch.setattr(working, "CROWDED_PAUSE", 60)
    await store.accept(make_delivery("of a lane", LANES[0]))
    turns = Turns(store)
    turns.may_end.set()
    crowded = CrowdedOnClaim(store, crowded_seconds=0.0)
    worker = Worker(crowded, turns, lambda: datetime.now(UTC))
    running = asyncio.create_task(worker.run())
    await worker.is_registered.wait()
    await worker.wait_stopped()
    await running


async def test_a_few_deliveries_are_no_crowd(door):
    for number in range(deliveries.CROWD_SIZE - 1):
        await door.accept(make_delivery(f"d{number}"))
    assert not door.crowded_seconds


async def test_many_that_wait_at_once_are_a_crowd(door, monkeypatch):
    monkeypatch.setattr(deliveries, "CROWD_ECHO_SECONDS", 60)
    numbers = range(deliveries.CROWD_UNANSWERED)
    entering = [asyncio.create_task(door.accept(make_delivery(f"d{number}"))) for number in numbers]
    await asyncio.sleep(0)
    assert door.crowded_seconds
    await asyncio.gather(*entering)
    assert door.crowded_seconds


async def test_fewer_that_wait_at_once_are_no_crowd(door, monkeypatch):
    monkeypatch.setattr(deliveries, "CROWD_ECHO_SECONDS", 60)
    numbers = range(deliveries.CROWD_UNANSWERED - 1)
    await asyncio.gather(*(door.accept(make_delivery(f"d{number}")) for number in numbers))
    assert not door.crowded_seconds


async def test_many_within_a_moment_are_a_crowd_even_if_each_is_answered_at_once(door, monkeypatch):
    monkeypatch.setattr(deliveries, "CROWD_SECONDS", 60)
    for number in range(deliveries.CROWD_SIZE):
        await door.accept(make_delivery(f"d{number}", LANES[number % 4]))
    assert door.crowded_seconds


async def test_a_crowd_is_forgotten(door, monkeypatch):
    monkeypatch.setattr(deliveries, "CROWD_SECONDS", 0)
    monkeypatch.setattr(deliveries, "CROWD_ECHO_SECONDS", 0)
    await asyncio.gather(
        *(door.accept(make_delivery(f"d{number}")) for number in range(deliveries.CROWD_SIZE))
    )
    assert not door.crowded_seconds
