"""`/setup` while there are no credentials: how does one button register the App?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web

from bot.adapters.github.manifest import Order, Registration, form_address, is_of_one_machine, manifest
from bot.adapters.web.setup import pages
from bot.adapters.web.setup.guests import Guests
from bot.ports import GitHubError, Gone

log = logging.getLogger("whetstone.setup")

_UNKEPT = (OSError, ValueError, RuntimeError)
"""A disk that is full or locked, text that is none, a link that leads to itself."""


@dataclass(slots=True)
class Registering:
    """From the form to the stored key; `done` holds the App once it is registered."""

    guests: Guests
    web_url: str
    convert: Callable[[str], Awaitable[Registration]]
    keep: Callable[[Registration, Order], None]
    public_url: str = ""
    try_out: Callable[[], None] = lambda: None
    """Raises what would keep `keep` from keeping."""
    done: asyncio.Future[Registration] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    _orders: dict[str, Order] = field(default_factory=dict)

    def routes(self) -> list[web.RouteDef]:
        """The form, the way to GitHub, and the way back."""
        return [
            web.get("/", _to_setup),
            web.get("/setup", self.guests.only(self.form)),
            web.post("/setup/register", self.guests.only(self.register)),
            web.get("/setup/callback", self.guests.only(self.callback)),
        ]

    async def form(self, request: web.Request, session: str) -> web.Response:
        """What is asked before the App can be registered."""
        if self.done.done():
            return self._registered(self.done.result())
        given = {"public_url": self.public_url or self._proposed(str(request.url.origin()))}
        return pages.page("Set up Whetstone", self._form(session, given), step=1)

    async def register(self, request: web.Request, session: str) -> web.Response:
        """The page that hands the manifest over to GitHub."""
        given = {name: str(value).strip() for name, value in (await request.post()).items()}
        order = Order(
            given.get("owner", ""),
            given.get("kind") == "organisation",
            given.get("public_url", "").rstrip("/"),
        )
        if problems := order.problems(self.web_url) or self._unkeepable():
            form = pages.register_form(self.guests.form_token(session), given, problems)
            return pages.page("Set up Whetstone", form, step=1, status=422)
        state = self.guests.leave(session)
        self._orders[state] = order
        # The browser comes back to the address that it uses now: only there its cookie is known. No proxy
        # changes `Origin`, as it may change `Host`.
        origin = request.headers.get("Origin", "null")
        back = order.public_url if origin == "null" else origin
        content = manifest(order, f"{back}/setup/callback")
        address = form_address(self.web_url, order, state)
        return pages.page("On to GitHub", pages.hand_over(address, content), step=1, form_to=self.web_url)

    async def callback(self, request: web.Request, session: str) -> web.Response:
        """GitHub's code turned into credentials; a state and a code are good once."""
        if self.done.done():
            return self._registered(self.done.result())
        state = request.query.get("state", "")
        if not self.guests.come_back(session, state):
            return _stopped(
                "This answer of GitHub's belongs to no set-up that was begun here, or it is too old.", 403
            )
        order = self._orders.pop(state)
        try:
            made = await self.convert(request.query.get("code", ""))
            self.keep(made, order)
        except Gone as error:
            return _stopped(f"{error}.", 410)
        except GitHubError as error:
            return _stopped(f"The App could not be fetched: {error}.", 502)
        except _UNKEPT as error:
            return _stopped(
                f"The credentials can't be kept: {_why(error)}. Delete the App and start again.", 500
            )
        if not self.done.done():
            self.done.set_result(made)
        log.info("the App is registered", extra={"app": made.slug, "owner": made.owner})
        return self._registered(made)

    def _unkeepable(self) -> tuple[str, ...]:
        """Why GitHub's answer would be lost: it shows the key of an App once."""
        try:
            self.try_out()
        except _UNKEPT as error:
            return (f"the credentials could not be kept: {_why(error)}",)
        return ()

    def _proposed(self, seen: str) -> str:
        """The address that the browser used, where GitHub could use it, too."""
        return "" if is_of_one_machine(seen) and not is_of_one_machine(self.web_url) else seen

    def _form(self, session: str, given: dict[str, str]) -> str:
        return pages.register_form(self.guests.form_token(session), given)

    def _registered(self, made: Registration) -> web.Response:
        return pages.page("The App is registered", pages.going_on(f"{made.slug}[bot]"), step=1)


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _stopped(text: str, status: int) -> web.Response:
    return pages.page("That did not work", pages.stopped(text), step=1, status=status)


async def _to_setup(_: web.Request) -> web.Response:
    return web.Response(status=302, headers={"Location": "/setup"})
