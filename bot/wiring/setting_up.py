"""The set-up in the browser, before there is an App."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot import settings as settings_of
from bot.settings import Settings
from bot.wiring.basics import app_desk, listening, now, web_address

if TYPE_CHECKING:
    # Named here for types only: a command such as `render` must not pay for what it does not use.
    from bot.adapters.web.setup.guests import Guests
    from bot.adapters.web.setup.registering import Registering


def new_guests() -> Guests:
    """Nobody is let in yet; the key, which the console has to show, opens one session."""
    from bot.adapters.web.setup.guests import Guests

    return Guests(now)


@asynccontextmanager
async def setting_up(
    configuration: Settings, guests: Guests, kept_in: Path
) -> AsyncIterator[tuple[tuple[str, int], Registering]]:
    """The pages that register the App, as long as the block runs."""
    from bot.adapters.github.manifest import Order, Registration, convert
    from bot.adapters.web.app import application
    from bot.adapters.web.setup.keeping import keep, try_out
    from bot.adapters.web.setup.registering import Registering

    def kept(made: Registration, order: Order) -> None:
        own = (
            {}
            if configuration.api_url == settings_of.DEFAULT_API_URL
            else {"GITHUB_API_URL": configuration.api_url}
        )
        credentials = {
            "GITHUB_APP_ID": str(made.app_id),
            "GITHUB_PRIVATE_KEY": made.private_key,
            "GITHUB_WEBHOOK_SECRET": made.webhook_secret,
        }
        keep(kept_in, {**credentials, "PUBLIC_URL": order.public_url, **own})

    registering = Registering(
        guests,
        web_address(configuration.api_url),
        lambda code: convert(configuration.api_url, code),
        kept,
        configuration.public_url or "",
        lambda: try_out(kept_in),
    )
    app = application(registering.routes(), configuration.trusted_proxies)
    async with listening(app, configuration.host, configuration.port) as address:
        yield address, registering


def trying_routes(configuration: Settings, guests: Guests) -> Sequence[Any]:
    """The routes that send a test event once the App is there."""
    from bot.adapters.web.setup.trying import Trying

    return Trying(guests, lambda: app_desk(configuration), now).routes()
