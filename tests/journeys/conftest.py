"""The town of every journey, on each store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.journeys.environment import Town
from tests.judges.judge import Judge


@pytest.fixture
async def town(store_url) -> AsyncIterator[Town]:
    """A town whose bot is not started yet; at the end every exchange is judged."""
    judge = Judge()
    place = Town(store_url)
    async with place.github as github:
        judge.watch(github)
        yield place
    assert judge.violations == []


@pytest.fixture
async def journey(town) -> AsyncIterator[Town]:
    """A town with its bot at work."""
    async with town.running():
        yield town


@pytest.fixture
def knowledge(town):
    """A repository in which alice and bob may write."""
    return town.github.repository(
        "acme/knowledge", collaborators={"alice": "write", "bob": "maintain", "carol": "read"}
    )


@pytest.fixture
def pull(town, knowledge):
    """A pull request by an agent."""
    return town.github.open_pull_request(knowledge, "rio-agent[bot]")
