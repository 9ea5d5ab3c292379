"""What does GitHub tell the App about itself, its installations and its deliveries?"""

from __future__ import annotations

import email.utils
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

import aiohttp

from bot.adapters.github.app_key import AppKey
from bot.adapters.github.callers import Callers
from bot.adapters.github.errors import Asked, Refusals, unreached
from bot.adapters.github.wire import REQUESTER, Api, Wire, remembered
from bot.adapters.payloads.fields import Odd, find, identifier, moment, text, word
from bot.domain.app_facts import AboutApp, Hook, Installed, Sent
from bot.ports import Gone, Unavailable

SECONDS = 10
"""For one request."""
_DELIVERIES = "/app/hook/deliveries"

T = TypeVar("T")


@asynccontextmanager
async def app_desk(
    key: AppKey,
    api_url: str,
    *,
    now: Callable[[], datetime],
    tracing: Sequence[aiohttp.TraceConfig] = (),
    may_write: Callable[[], bool] = lambda: True,
) -> AsyncIterator[AppDesk]:
    """A desk with connections of its own."""
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, trace_configs=list(tracing)) as session:
        yield AppDesk(key, Wire(session, api_url, api_url, Refusals(now), remembered(), may_write), now)


class AppDesk:
    """Asks as the App itself, never as an installation."""

    def __init__(self, key: AppKey, wire: Wire, now: Callable[[], datetime]) -> None:
        self._wire = wire
        self._callers = Callers(key, wire, now)
        self.budget_left = 1.0
        """The share of the hour's requests that was left after the last look at the deliveries."""

    async def time(self) -> datetime | None:
        """GitHub's clock by its `Date`, None where it shows none; asked without any credentials."""
        address = f"{self._wire.api_url}/rate_limit"
        try:
            async with self._wire.session.get(address, headers={"user-agent": REQUESTER}) as answer:
                return _date(answer.headers.get("date", ""))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise Unavailable(f"{address}: {unreached(error)}") from error

    async def about(self) -> AboutApp:
        """The App as it is registered."""
        found = await self._get("/app")
        return _read("GET /app", found, _about)

    async def hook(self) -> Hook:
        """Where GitHub sends deliveries."""
        found = await self._get("/app/hook/config")
        return _read("GET /app/hook/config", found, _hook)

    async def installations(self) -> tuple[Installed, ...]:
        """Everywhere the App is installed."""
        path = "/app/installations?per_page=100"
        asked = Asked(f"GET {path}", "", 0)
        found = await self._callers.as_app(asked, lambda api: api.items(path))
        return tuple(_read(asked.what, each, _installed) for each in found)

    async def installation_of(self, owner: str, name: str) -> Installed | None:
        """The installation that covers a repository, None where there is none."""
        path = "/repos/{owner}/{repo}/installation"
        try:
            found = await self._get(path, owner=owner, repo=name)
        except Gone:
            return None
        return _read(f"GET {path.format(owner=owner, repo=name)}", found, _installed)

    async def deliveries(self, since: datetime) -> tuple[Sent, ...]:
        """What GitHub sent since then, newest first; it keeps three days of it."""
        asked = Asked(f"GET {_DELIVERIES}", "", 0)
        listed = self._counted(lambda api: api.items_until(f"{_DELIVERIES}?per_page=100", _older(since)))
        found = await self._callers.as_app(asked, listed)
        sent = (_read(asked.what, each, _sent) for each in found)
        return tuple(each for each in sent if each.at >= since)

    async def redeliver(self, delivery_id: int) -> None:
        """Have GitHub send a delivery again; it keeps its GUID."""
        path = f"{_DELIVERIES}/{{delivery}}/attempts"
        asked = Asked(f"POST {path.format(delivery=delivery_id)}", "", 0)
        again = self._counted(lambda api: api.write("POST", path, b"", delivery=delivery_id))
        await self._callers.as_app(asked, again)

    def _counted(self, ask: Callable[[Api], Awaitable[T]]) -> Callable[[Api], Awaitable[T]]:
        async def asked(api: Api) -> T:
            answer = await ask(api)
            self.budget_left = api.budget_left
            return answer

        return asked

    async def _get(self, path: str, **gaps: str | int) -> Any:
        asked = Asked(f"GET {path.format(**gaps)}", "", 0)
        return await self._callers.as_app(asked, lambda api: api.get(path, **gaps))


def _older(since: datetime) -> Callable[[Any], bool]:
    """Whether an item of the list is older: the list is in order, so the pages after it are too."""

    def is_older(item: Any) -> bool:
        try:
            return moment(item, "delivered_at") < since
        except Odd:
            return False

    return is_older


def _about(tree: Any) -> AboutApp:
    return AboutApp(word(tree, "slug"), text(tree, "html_url"), _permissions(tree), _events(tree))


def _hook(tree: Any) -> Hook:
    return Hook(
        url=text(tree, "url"),
        json=text(tree, "content_type") == "json",
        has_secret=bool(text(tree, "secret")),
        checks_certificate=str(find(tree, "insecure_ssl")) != "1",
    )


def _installed(tree: Any) -> Installed:
    return Installed(
        id=identifier(tree, "id"),
        account=text(tree, "account.login") or text(tree, "account.slug"),
        url=text(tree, "html_url"),
        permissions=_permissions(tree),
        events=_events(tree),
        suspended=bool(find(tree, "suspended_at")),
    )


def _sent(tree: Any) -> Sent:
    status, code = text(tree, "status"), find(tree, "status_code")
    return Sent(
        id=identifier(tree, "id"),
        guid=word(tree, "guid"),
        event=text(tree, "event"),
        at=moment(tree, "delivered_at"),
        ok=status == "OK",
        status=f"{code} {status}" if code else status,
        redelivery=find(tree, "redelivery") is True,
    )


def _permissions(tree: Any) -> Mapping[str, str]:
    found = find(tree, "permissions")
    return {str(name): str(level) for name, level in found.items()} if isinstance(found, Mapping) else {}


def _events(tree: Any) -> tuple[str, ...]:
    found = find(tree, "events")
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _read(what: str, tree: Any, reader: Callable[[Any], T]) -> T:
    try:
        return reader(tree)
    except Odd as error:
        raise Unavailable(f"{what}: {error}") from error


def _date(value: str) -> datetime | None:
    try:
        return email.utils.parsedate_to_datetime(value).astimezone(UTC)
    except ValueError:
        return None
