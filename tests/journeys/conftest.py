"""A whole town for a journey: GitHub's stand-in and the real bot, speaking HTTP over loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from bot import wiring
from bot.domain.comment import MARKER
from bot.domain.escape import read_marker
from bot.settings import Settings
from bot.standin import AppFacts, Standin, new_key_pair
from tests.judges.judge import Judge

KEYS = new_key_pair()
SECRET = "journey-secret"


@dataclass
class Town:
    """The stand-in, and the bot once it has been started."""

    github: Standin
    database_url: str
    bot: wiring.Instance | None = None

    @property
    def settings(self) -> Settings:
        return Settings(
            app_id=self.github.app.id,
            private_key=KEYS.private_pem,
            webhook_secrets=(SECRET,),
            api_url=self.github.api_url,
            graphql_url=self.github.graphql_url,
            database_url=self.database_url,
            port=0,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[wiring.Instance]:
        """The bot, from start to graceful stop."""
        async with wiring.running(self.settings) as instance:
            host, port = instance.address
            self.github.webhook_url = f"http://{host}:{port}/webhook"
            self.bot = instance
            yield instance
        self.bot = None

    async def settled(self) -> None:
        """Return when every webhook was delivered and the bot has nothing left to do."""
        while True:
            await self.github.until(lambda: self.github.deliveries.is_idle)
            await self.bot.worker.settled()
            if self.github.deliveries.is_idle:
                return

    def comments(self, pull) -> list[str]:
        """The bodies of the bot's comments in the thread, oldest first."""
        return [each.body for each in self.github.comments_of(pull) if each.user is self.github.app.bot]

    def markers(self, pull) -> list[dict]:
        """The markers in the thread: there is never more than one."""
        return [found for body in self.comments(pull) if (found := read_marker(MARKER, body))]


@pytest.fixture
async def town(store_url) -> AsyncIterator[Town]:
    """A town whose bot is not started yet; at the end every exchange is judged."""
    facts = AppFacts(public_pem=KEYS.public_pem, webhook_secret=SECRET)
    judge = Judge()
    async with Standin(facts) as github:
        judge.watch(github)
        yield Town(github, store_url)
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
