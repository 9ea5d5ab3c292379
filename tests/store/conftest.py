import pytest

from bot.store.store import open_store
from tests.clock import Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def timed_store(store_url, clock):
    """A worker's store whose time only the test moves."""
    async with open_store(store_url, worker=True, clock=clock, instance="one") as opened:
        yield opened
