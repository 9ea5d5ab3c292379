"""A process that was held up for too long does nothing on the strength of what it knew before."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bot.github.auth import AppKey
from bot.github.client import connect_github
from bot.inbox.heartbeat import Heartbeat, HeartbeatSettings, monotonic_clock
from bot.inbox.worker import Worker
from bot.store.model import LaneFenced
from bot.store.store import open_store
from bot.values import Repository
from tests.clock import Clock
from tests.inbox.store_wrapper import StoreWrapper
from tests.store.store_builders import make_delivery


class Seconds:
    """A time of this process that only the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds():
    return Seconds()


@pytest.fixture
def heartbeat(seconds):
    return Heartbeat(HeartbeatSettings(), seconds)


def test_time_goes_on_while_the_machine_is_suspended_where_the_system_can_tell():
    whole = SimpleNamespace(CLOCK_BOOTTIME=7, clock_gettime={7: 500.0}.get, monotonic=lambda: 20.0)
    plain = SimpleNamespace(monotonic=lambda: 20.0)
    assert [monotonic_clock(clocks)() for clocks in (whole, plain)] == [500.0, 20.0]


def test_a_process_that_never_beat_may_not_write(heartbeat):
    assert not heartbeat.is_fresh()


@pytest.mark.parametrize(("age", "fresh"), [(0.0, True), (15.0, True), (15.1, False)])
def test_a_write_may_start_within_fifteen_seconds_of_the_last_good_beat(heartbeat, seconds, age, fresh):
    heartbeat.record(seconds())
    seconds.now += age
    assert heartbeat.is_fresh() is fresh


def test_a_write_ends_before_anybody_can_take_over():
    request = 10
    assert HeartbeatSettings().late_after + request < HeartbeatSettings().lease
    assert HeartbeatSettings().interval * 5 < HeartbeatSettings().late_after


@pytest.fixture
async def github(fake_github_server, keys):
    fake_github = await fake_github_server()
    return fake_github, AppKey(fake_github.app.id, keys.private_pem)


async def test_no_write_leaves_a_process_whose_beat_is_late(github, heartbeat, seconds):
    fake_github, key = github
    place = fake_github.repository("acme/kb")
    pull = fake_github.open_pull_request(place, "bob")
    where = Repository(place.id, "acme", "kb", fake_github.installation_of(place).id)
    async with connect_github(
        key, fake_github.api_url, fake_github.graphql_url, may_write=heartbeat.is_fresh
    ) as client:
        heartbeat.record(seconds())
        posted = await client.create_comment(where, pull.number, "what was true")
        seconds.now += 16
        for write in (
            client.edit_comment(where, posted.id, "stale"),
            client.create_comment(where, pull.number, "stale"),
            client.minimise(where, posted.node_id),
        ):
            with pytest.raises(LaneFenced):
                await write
        assert await client.pull_request(where, pull.number)
    comments = fake_github.comments_of(pull)
    assert [(comment.body, comment.minimized) for comment in comments] == [("what was true", None)]


class Taken:
    """Turns that only say which claims they were given."""

    def __init__(self) -> None:
        self.fences = []
        self.begun = asyncio.Event()

    async def process(self, claim) -> None:
        self.fences.append((claim.lane, claim.fence))
        self.begun.set()


class SlowAnswers(StoreWrapper):
    """A real store; the process is held up before it reads the answer."""

    def __init__(self, store, seconds, **held_up) -> None:
        super().__init__(store)
        self._seconds = seconds
        self._held_up = held_up

    async def claim(self, limit):
        return await self._slowly("claim", self._store.claim(limit))

    async def record_heartbeat(self):
        return await self._slowly("beat", self._store.record_heartbeat())

    async def _slowly(self, name, asked):
        answer = await asked
        self._seconds.now += self._held_up.pop(name, 0)
        return answer


async def test_lanes_whose_claim_was_answered_too_late_are_not_worked_on_but_claimed_anew(
    sqlite_url, heartbeat, seconds
):
    fast = replace(heartbeat.settings, interval=0.01)
    async with open_store(sqlite_url, worker=True) as store:
        await store.accept(make_delivery("d1"))
        (first,) = await store.claim(1)
        await store.release(first)
        turns = Taken()
        slow = SlowAnswers(store, seconds, claim=31)
        worker = Worker(slow, turns, Clock(), heartbeat=Heartbeat(fast, seconds))
        running = asyncio.create_task(worker.run())
        await asyncio.wait_for(turns.begun.wait(), 60)
        await worker.wait_stopped()
        await running
    assert turns.fences[0] == (first.lane, first.fence + 2)


async def test_a_beat_counts_from_when_it_was_asked_for(sqlite_url, heartbeat, seconds):
    async with open_store(sqlite_url, worker=True) as store:
        worker = Worker(SlowAnswers(store, seconds, beat=20), Taken(), Clock(), heartbeat=heartbeat)
        await worker._heartbeat()
    assert (heartbeat.age, heartbeat.is_fresh()) == (20, False)
