"""The worker goes on, whatever its store raises beside the turns."""

import asyncio
from datetime import UTC, datetime

import pytest

from bot.inbox import retry
from bot.inbox.heartbeat import Heartbeat, HeartbeatSettings
from bot.inbox.worker import Worker
from bot.store.model import StoreUnavailable
from bot.turn.store import apply_turn
from tests.inbox.store_wrapper import StoreWrapper
from tests.store.store_builders import make_delivery, make_turn_result


class Once(StoreWrapper):
    """The store, of which one thing fails the first time."""

    def __init__(self, store, name: str, error: Exception) -> None:
        super().__init__(store)
        self._name = name
        self._error = error
        self.failed = asyncio.Event()

    def __getattr__(self, name):
        if name != self._name or self.failed.is_set():
            return super().__getattr__(name)
        return self._fails

    async def _fails(self, *_):
        self.failed.set()
        raise self._error


class Turns:
    """Turns that come to their end at once."""

    def __init__(self, store) -> None:
        self.store = store
        self.taken = asyncio.Event()

    async def process(self, claim) -> None:
        await apply_turn(self.store, claim, make_turn_result(claim))
        self.taken.set()


@pytest.fixture
def store_url(sqlite_url) -> str:
    """One store is enough: what goes on does not depend on it."""
    return sqlite_url


@pytest.mark.parametrize("error", [StoreUnavailable("away"), ValueError("ours")], ids=["away", "ours"])
@pytest.mark.parametrize("name", ["sweep", "record_heartbeat", "claim", "next_due"])
async def test_a_worker_takes_turns_after_anything_beside_them_failed(store, monkeypatch, name, error):
    monkeypatch.setattr(retry, "MAX_STORE_BACKOFF", 0.01)
    failing, turns = Once(store, name, error), Turns(store)
    worker = Worker(
        failing, turns, lambda: datetime.now(UTC), heartbeat=Heartbeat(HeartbeatSettings(interval=0.01))
    )
    running, taken = asyncio.create_task(worker.run()), asyncio.create_task(turns.taken.wait())
    await failing.failed.wait()
    await store.accept(make_delivery("d1", "pull:77:1"))
    await asyncio.wait({running, taken}, return_when=asyncio.FIRST_COMPLETED)
    assert (taken.done(), running.done()) == (True, False)
    await worker.wait_stopped()
    await running
