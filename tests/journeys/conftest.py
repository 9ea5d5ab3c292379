"""The harness of every journey, with SQLite and with PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.journeys.harness import Harness
from tests.judges.judge import Judge


@pytest.fixture
async def harness(store_url) -> AsyncIterator[Harness]:
    """A harness whose bot is not started yet; at the end every exchange is judged."""
    judge = Judge()
    harness = Harness(store_url)
    async with harness.github as github:
        judge.watch(github)
        yield harness
    assert judge.violations == []


@pytest.fixture
async def journey(harness) -> AsyncIterator[Harness]:
    """The harness with its bot running."""
    async with harness.run_bot():
        yield harness


@pytest.fixture
def knowledge(harness):
    """A repository in which alice and bob may write."""
    return harness.github.repository(
        "acme/knowledge", collaborators={"alice": "write", "bob": "maintain", "carol": "read"}
    )


@pytest.fixture
def pull(harness, knowledge):
    """A pull request by an agent."""
    return harness.github.open_pull_request(knowledge, "rio-agent[bot]")
