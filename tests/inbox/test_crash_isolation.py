"""A lane that may be what ends the process runs alone, and the delivery that does end it is parked."""

import asyncio
import itertools
import logging
from datetime import UTC, datetime

import pytest

from bot.inbox.retry import isolate_delivery
from bot.inbox.worker import Worker
from bot.store.deliveries import load_parked
from bot.store.lanes import LEASE_SECONDS
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.clock import Clock
from tests.store.store_builders import LANE, OTHER_LANE, claim_one, make_delivery, make_turn_result

_names = (f"instance-{number}" for number in itertools.count())
REASON = "the process ended 3 times while handling this delivery alone"


class Turns:
    """Turns that come to their end when they are let, and note which lanes ran at the same time."""

    def __init__(self, store) -> None:
        self.store = store
        self.go_on = asyncio.Event()
        self.begun = asyncio.Event()
        self.taken: list[list[str]] = []
        self.beside: list[set[str]] = []
        self._running: set[str] = set()

    async def process(self, claim) -> None:
        self._running.add(claim.lane)
        self.taken.append([one.id for one in claim.deliveries])
        self.beside.append(set(self._running))
        self.begun.set()
        await self.go_on.wait()
        await apply_turn(self.store, claim, make_turn_result(claim))
        self._running.remove(claim.lane)


@pytest.fixture
def started(store_url):
    """Start a process on the store, once the lease of every earlier one has run out."""
    clock = Clock()

    def start():
        clock.advance(LEASE_SECONDS)
        return open_store(store_url, worker=True, clock=clock, instance=next(_names))

    return start


def working(store, turns) -> Worker:
    return Worker(store, turns, lambda: datetime.now(UTC))


async def crash(started, times: int, *, is_alone: bool = False) -> None:
    for _ in range(times):
        async with started() as store:
            claim = next(each for each in await store.claim(10) if each.lane == LANE)
            if is_alone:
                await store.isolate(isolate_delivery(claim) if len(claim.deliveries) > 1 else claim)


async def work(store, turns) -> None:
    """Work until nothing is due."""
    worker = working(store, turns)
    running = asyncio.create_task(worker.run())
    await worker.wait_until_idle()
    await worker.wait_stopped()
    await running


async def test_after_two_crashes_a_lanes_deliveries_run_one_by_one_beside_no_other_lane(started):
    async with started() as store:
        await store.accept(make_delivery("d1"))
        await store.accept(make_delivery("d2"))
    await crash(started, 2)
    async with started() as store:
        await store.accept(make_delivery("other", OTHER_LANE))
        turns = Turns(store)
        worker = working(store, turns)
        running = asyncio.create_task(worker.run())
        await turns.begun.wait()
        await store.accept(make_delivery("later", "pull:77:214"))
        turns.go_on.set()
        await worker.wait_until_idle()
        await worker.wait_stopped()
        await running
    assert turns.taken[0] == ["other"], "what runs already comes to its end first"
    assert [ids for ids in turns.taken if ids[0].startswith("d")] == [["d1"], ["d2"]]
    assert all(beside == {LANE} for beside in turns.beside if LANE in beside)


async def test_one_crash_changes_nothing(started):
    async with started() as store:
        await store.accept(make_delivery("d1"))
        await store.accept(make_delivery("d2"))
    await crash(started, 1)
    async with started() as store:
        turns = Turns(store)
        turns.go_on.set()
        await work(store, turns)
    assert turns.taken == [["d1", "d2"]]


async def test_the_delivery_that_ended_the_process_three_times_alone_is_parked_and_the_others_go_on(
    started, caplog
):
    caplog.set_level(logging.ERROR)
    async with started() as store:
        await store.accept(make_delivery("bad"))
        await store.accept(make_delivery("good"))
    await crash(started, 2)
    await crash(started, 3, is_alone=True)
    async with started() as store:
        turns = Turns(store)
        turns.go_on.set()
        await work(store, turns)
        assert [(each.id, each.error) for each in await store.read(load_parked)] == [("bad", REASON)]
        await store.accept(make_delivery("next"))
        assert (await claim_one(store)).crashes == 0, "the lane has shown that it is innocent"
    assert turns.taken[0] == ["good"]
    assert [(each.message, each.delivery) for each in caplog.records] == [
        (f"a delivery was parked: {REASON}", "bad")
    ]


async def test_two_crashes_alone_park_nothing(started):
    async with started() as store:
        await store.accept(make_delivery("slow"))
    await crash(started, 2)
    await crash(started, 2, is_alone=True)
    async with started() as store:
        turns = Turns(store)
        turns.go_on.set()
        await work(store, turns)
        assert (turns.taken, await store.read(load_parked)) == ([["slow"]], ())


async def test_a_process_that_stops_while_a_lane_waits_to_run_alone_counts_no_crash(started):
    async with started() as store:
        await store.accept(make_delivery("d1"))
    await crash(started, 2)
    async with started() as store:
        worker = working(store, Turns(store))
        never = asyncio.create_task(asyncio.Event().wait())
        claim = await claim_one(store)
        waiting = asyncio.create_task(worker._runner.run(claim, {never}))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        never.cancel()
    async with started() as store:
        again = await claim_one(store)
    assert (again.crashes, again.deliveries) == (2, claim.deliveries)


async def test_a_process_whose_turns_all_run_is_asked_to_stop_and_does_not_wait_for_one_to_end(
    started, monkeypatch
):
    monkeypatch.setattr("bot.inbox.worker.SHUTDOWN_SECONDS", 0.1)
    async with started() as store:
        await store.accept(make_delivery("d1"))
    await crash(started, 2)
    async with started() as store:
        turns = Turns(store)
        worker = working(store, turns)
        running = asyncio.create_task(worker.run())
        await turns.begun.wait()
        async with asyncio.timeout(30):
            await worker.wait_stopped()
            await running
        assert (await claim_one(store)).crashes == 2
