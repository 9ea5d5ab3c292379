"""`/setup` once there are credentials: is the App installed, and does a delivery arrive?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from aiohttp import web

from bot.adapters.web.setup import pages
from bot.adapters.web.setup.guests import Guests
from bot.domain.app_facts import AboutApp, Installed, Sent
from bot.ports import GitHubError

_KEPT = timedelta(days=3)


class Desk(Protocol):
    """What is asked of GitHub as the App."""

    async def about(self) -> AboutApp:
        """The App as it is registered."""
        ...

    async def installations(self) -> tuple[Installed, ...]:
        """Everywhere it is installed."""
        ...

    async def deliveries(self, since: datetime) -> tuple[Sent, ...]:
        """What GitHub sent since then, newest first."""
        ...

    async def redeliver(self, delivery_id: int) -> None:
        """Have it sent again."""
        ...


@dataclass(frozen=True, slots=True)
class Trying:
    """The last two steps: install, and send a test event."""

    guests: Guests
    desk: Callable[[], AbstractAsyncContextManager[Desk]]
    now: Callable[[], datetime]
    looks: int = 20
    pause: float = 0.5
    """Seconds between two looks at GitHub's list."""

    def routes(self) -> list[web.RouteDef]:
        """The page, its one button, and what a reload of the last step finds."""
        return [
            web.get("/setup", self.guests.only(self.show)),
            web.get("/setup/callback", self.guests.only(self.show)),
            web.post("/setup/test", self.guests.only(self.test)),
        ]

    async def show(self, _: web.Request, session: str) -> web.Response:
        """Who the App is, where it is installed, and the two buttons."""
        return await self._page(session, "")

    async def test(self, _: web.Request, session: str) -> web.Response:
        """The page with what came of a delivery that GitHub was asked for."""
        try:
            async with self.desk() as desk:
                outcome = await self._tried(desk)
        except GitHubError as error:
            outcome = pages.outcome(f"GitHub could not be asked: {error}", good=False)
        return await self._page(session, outcome)

    async def _page(self, session: str, outcome: str) -> web.Response:
        try:
            async with self.desk() as desk:
                app, installed = await desk.about(), await desk.installations()
        except GitHubError as error:
            return pages.page("That did not work", pages.stopped(f"GitHub: {error}"), step=2, status=502)
        body = pages.installing(
            app.login,
            f"{app.url}/installations/new",
            [each.account for each in installed],
            self.guests.form_token(session),
            outcome,
        )
        return pages.page("Install and try it", body, step=3 if installed else 2)

    async def _tried(self, desk: Desk) -> str:
        sent = await desk.deliveries(self.now() - _KEPT)
        # GitHub pings every new App once; that is the one event without any meaning.
        chosen = next((each for each in sent if each.event == "ping"), next(iter(sent), None))
        if chosen is None:
            return pages.outcome(
                "GitHub has sent nothing yet that it could send again: install it first.", good=False
            )
        await desk.redeliver(chosen.id)
        for _ in range(self.looks):
            await asyncio.sleep(self.pause)
            again = await desk.deliveries(self.now() - _KEPT)
            if found := next((e for e in again if e.guid == chosen.guid and e.id > sent[0].id), None):
                return _said(found)
        return pages.outcome(
            "GitHub has not sent it yet; look again in a minute with whetstone doctor.", good=False
        )


def _said(sent: Sent) -> str:
    if sent.ok:
        return pages.outcome(f"GitHub sent {sent.event}, and this server took it: {sent.status}.", good=True)
    return pages.outcome(
        f"GitHub sent {sent.event}, but: {sent.status}. Does the webhook's address lead here from outside?",
        good=False,
    )
