"""A whole town for a journey: GitHub's stand-in and the real bot, speaking HTTP over loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot import wiring
from bot.domain.comment import MARKER
from bot.domain.escape import read_marker
from bot.settings import Settings
from bot.standin import Standin, new_key_pair

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
