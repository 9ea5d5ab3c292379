"""An agent's pull request on the fake GitHub, with the real bot beside it."""

from __future__ import annotations

import asyncio

import pytest

from bot.client import Whetstone
from tests.journeys.harness import Harness

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"


class AgentHarness(Harness):
    """The harness, and what an agent is given: a token, the server's address, the App's login."""

    def __init__(self, database_url: str) -> None:
        super().__init__(database_url)
        self.knowledge = self.github.repository(
            "acme/knowledge", private=True, collaborators={"alice": "write", "rio-agent[bot]": "read"}
        )
        self.pull = self.github.open_pull_request(self.knowledge, "rio-agent[bot]")
        self.token = self.github.user_token("rio-agent[bot]")

    @property
    def server_url(self) -> str:
        return "http://{}:{}".format(*self.bot.address)

    @property
    def environment(self) -> dict[str, str]:
        """What an agent sets, without WHETSTONE_URL or WHETSTONE_LOGIN."""
        return {"GH_TOKEN": self.token, "GITHUB_API_URL": self.github.api_url}

    def client(self, **given) -> Whetstone:
        """A client that reads the thread, as the agent."""
        return Whetstone(
            **{"token": self.token, "login": "whetstone[bot]", "api_url": self.github.api_url, **given}
        )

    async def reject(self, body: str = "<!-- ISSUES: date_errors -->", inline=()) -> None:
        self.github.submit_review(self.pull, "alice", REJECT, body, list(inline))
        await self.wait_until_idle()

    async def approve(self) -> None:
        self.advance_clock()
        self.github.submit_review(self.pull, "alice", APPROVE)
        await self.wait_until_idle()

    def from_thread(self, coroutine) -> None:
        """Run something on the event loop, from a client's thread, and wait for it."""
        asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)


@pytest.fixture
async def agent(sqlite_url):
    """The harness with its bot running."""
    harness = AgentHarness(sqlite_url)
    harness.loop = asyncio.get_running_loop()
    async with harness.github, harness.run_bot():
        yield harness
