"""A turn that fails is tried later, counted, and given up on in the end, whoever is to blame."""

import asyncio
import logging
from datetime import UTC, datetime

import pytest

from bot.github.errors import Forbidden
from bot.inbox.heartbeat import Heartbeat, HeartbeatSettings
from bot.inbox.retry import MAX_ATTEMPTS, StoreBackoff
from bot.inbox.runner import LaneRunner
from bot.inbox.worker import Worker
from bot.store.deliveries import load_parked
from bot.store.model import StoreUnavailable
from bot.turn.store import apply_turn
from tests.inbox.store_wrapper import StoreWrapper
from tests.store.store_builders import claim_one, make_delivery, make_turn_result


class Failing:
    """Turns that fail with one error wherever the delivery "bad" is among theirs."""

    def __init__(self, error: Exception, store=None) -> None:
        self.error = error
        self.store = store
        self.taken: list[list[str]] = []

    async def process(self, claim) -> None:
        self.taken.append([one.id for one in claim.deliveries])
        if "bad" in self.taken[-1]:
            raise self.error
        await apply_turn(self.store, claim, make_turn_result(claim))


class Noting:
    """Turns that leave something to be written with the release, which the store never takes."""

    def __init__(self, store) -> None:
        self.store = store

    async def process(self, claim) -> None:
        self.store.note_claimed(claim, refuse)


def refuse(_transaction) -> None:
    raise ValueError("no such row")


class Stuck:
    """A turn that never comes to its end."""

    async def process(self, _claim) -> None:
        await asyncio.Event().wait()


class Hasty(StoreWrapper):
    """The store, in which no lane delays, and of which a test can take things away."""

    def __init__(self, store) -> None:
        super().__init__(store)
        self.delays: list[float | None] = []
        self.away: set[str] = set()
        self.asked = 0
        self.refused = asyncio.Event()

    async def release(self, claim, *, retry_after=None, attempt=0) -> None:
        self._here("release")
        self.delays.append(retry_after)
        rest = None if retry_after is None else 0.0
        await self._store.release(claim, retry_after=rest, attempt=attempt)

    async def claim(self, limit):
        self._here("claim")
        return await self._store.claim(limit)

    def _here(self, name: str) -> None:
        if name in self.away:
            self.asked += 1
            self.refused.set()
            raise StoreUnavailable("database or disk is full")


@pytest.fixture
def hasty(store):
    return Hasty(store)


def worker(store, turns) -> Worker:
    return Worker(store, turns, lambda: datetime.now(UTC))


def runner(store, turns) -> LaneRunner:
    return LaneRunner(store, turns, lambda: datetime.now(UTC), asyncio.Event(), Heartbeat())


async def turns_of(hasty, turns, most: int = MAX_ATTEMPTS) -> None:
    """Turns until nothing is due."""
    hands = runner(hasty, turns)
    for _ in range(most):
        claims = await hasty.claim(1)
        if not claims:
            return
        await hands.run(claims[0])


async def parked(store) -> list[str]:
    return [each.id for each in await store.read(load_parked)]


async def test_what_our_code_cannot_digest_is_given_up_on_without_the_good_ones_beside_it(hasty):
    for name in ("good", "bad", "better"):
        await hasty.accept(make_delivery(name))
    turns = Failing(ValueError("no such thing"), hasty)
    await turns_of(hasty, turns, most=2 * MAX_ATTEMPTS)
    assert await parked(hasty) == ["bad"]
    assert ["good"] in turns.taken
    assert ["better"] in turns.taken


async def test_one_that_the_store_never_takes_is_given_up_on_without_the_good_ones_beside_it(hasty):
    for name in ("good", "bad", "better"):
        await hasty.accept(make_delivery(name))
    turns = Failing(StoreUnavailable("index row size exceeds maximum"), hasty)
    await turns_of(hasty, turns, most=2 * MAX_ATTEMPTS)
    assert await parked(hasty) == ["bad"]
    assert ["good"] in turns.taken


async def test_a_turn_that_the_store_never_takes_rests_longer_each_time_and_is_given_up_on(hasty):
    await hasty.accept(make_delivery("bad"))
    await turns_of(hasty, Failing(StoreUnavailable("index row size exceeds maximum")))
    assert hasty.delays[:4] == [1.0, 2.0, 4.0, 8.0]
    assert await parked(hasty) == ["bad"]


async def test_a_turn_whose_last_note_is_never_taken_rests_longer_each_time_and_is_given_up_on(hasty):
    await hasty.accept(make_delivery("bad"))
    await turns_of(hasty, Noting(hasty))
    assert [delay for delay in hasty.delays if delay is not None][:4] == [1.0, 2.0, 4.0, 8.0]
    assert await parked(hasty) == ["bad"]


async def test_a_turn_waits_where_the_store_takes_nothing_at_all(hasty):
    await hasty.accept(make_delivery("bad"))
    hasty.away = {"release"}
    hands = runner(hasty, Failing(StoreUnavailable("away")))
    taken = asyncio.create_task(hands.run(await claim_one(hasty)))
    await hasty.refused.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    assert not taken.done()
    hands.stopping.set()
    await taken
    hasty.away = set()
    assert [one.id for one in (await claim_one(hasty)).deliveries] == ["bad"]


async def test_a_turn_that_is_dropped_for_a_late_beat_has_had_an_attempt(hasty):
    await hasty.accept(make_delivery("slow"))
    held_up = worker(hasty, Stuck())
    held_up._start(await claim_one(hasty))
    held_up.heartbeat.record(held_up.heartbeat.now() - 100)
    held_up.heartbeat.settings = HeartbeatSettings(interval=0.0)
    beats = asyncio.create_task(held_up._heartbeats())
    await asyncio.wait(held_up._running)
    beats.cancel()
    assert [one.attempt for one in (await claim_one(hasty)).deliveries] == [1]


async def test_a_suspended_installation_is_tried_again_and_a_permission_that_lacks_is_not(hasty):
    await hasty.accept(make_delivery("bad"))
    await turns_of(hasty, Failing(Forbidden("This installation has been suspended")), most=3)
    assert await parked(hasty) == []
    await turns_of(hasty, Failing(Forbidden("not accessible by integration", "checks=write")), most=1)
    assert await parked(hasty) == ["bad"]


async def test_a_store_from_which_nothing_can_be_claimed_is_left_alone_for_a_while(hasty, caplog):
    caplog.set_level(logging.WARNING)
    await hasty.accept(make_delivery("waiting"))
    hasty.away = {"claim"}
    hands = worker(hasty, Failing(ValueError()))
    running = asyncio.create_task(hands.run())
    await hasty.refused.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    hands.stop()
    await running
    assert hasty.asked == 1
    assert [each.message for each in caplog.records] == [
        "can't claim lanes: StoreUnavailable database or disk is full"
    ]


def test_a_store_that_refuses_is_asked_less_and_less_and_told_of_twice(caplog):
    caplog.set_level(logging.WARNING)
    outage, delays = StoreBackoff("can't claim lanes"), []
    for _ in range(7):
        outage.failed(StoreUnavailable("full"))
        delays.append(outage.delay)
    outage.recovered()
    assert delays == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert outage.delay == 0.0
    assert [each.message for each in caplog.records] == [
        "can't claim lanes: StoreUnavailable full",
        "can't claim lanes: recovered after 7 failures",
    ]
