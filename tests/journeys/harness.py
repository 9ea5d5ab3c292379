"""A fake GitHub and the real bot, speaking HTTP over loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from bot import app
from bot.fakegithub.apps import new_key_pair
from bot.fakegithub.world import AppRegistration
from bot.feedback.marker import FEEDBACK_MARKER
from bot.markdown.escape import parse_marker
from bot.settings import Settings
from tests.scripted_github import ScriptedGitHub

KEYS = new_key_pair()
SECRET = "journey-secret"
ON_ONE_STORE = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
"""For journeys about what is decided: the others run every statement on both stores."""


class Harness:
    """The fake GitHub, and the bot while it runs."""

    def __init__(self, database_url: str, *, enterprise: bool = False) -> None:
        self.clock_offset = timedelta(0)
        registration = AppRegistration(public_pem=KEYS.public_pem, webhook_secret=SECRET)
        self.github = ScriptedGitHub(registration, clock=self.clock, enterprise=enterprise)
        self.github.deliveries.patience = 60  # the machine may be slow, and nobody sends it again
        self.database_url = database_url
        self.bot: app.RunningInstance | None = None

    def clock(self) -> datetime:
        """What GitHub's clock says."""
        return datetime.now(UTC) + self.clock_offset

    def advance_clock(self, seconds: float = 5) -> None:
        """GitHub's clock goes on: its times have whole seconds, and one second can't be put in order."""
        self.clock_offset += timedelta(seconds=seconds)

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
    async def run_bot(self) -> AsyncIterator[app.RunningInstance]:
        """The bot, from start to graceful stop."""
        async with app.run_instance(self.settings) as instance:
            host, port = instance.address
            self.github.webhook_url = f"http://{host}:{port}/webhook"
            self.bot = instance
            yield instance
        self.bot = None

    async def wait_until_idle(self) -> None:
        """Return when every webhook was delivered and the bot has nothing left to do."""
        while True:
            await self.github.until(lambda: self.github.deliveries.is_idle)
            await self.bot.worker.wait_until_idle()
            if self.github.deliveries.is_idle:
                return

    def comments(self, pull) -> list[str]:
        """The bodies of the bot's comments in the thread, oldest first."""
        return [each.body for each in self.github.comments_of(pull) if each.user is self.github.app.bot]

    def markers(self, pull) -> list[dict]:
        """The markers in the thread: there is never more than one."""
        return [found for body in self.comments(pull) if (found := parse_marker(FEEDBACK_MARKER, body))]
