"""Calls as the App itself: registration by manifest, installations, webhook deliveries."""

from __future__ import annotations

import email.utils
import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec
import yaml

import bot
from bot import regex
from bot.github.auth import AppKey, Authenticator
from bot.github.errors import (
    ApiRequest,
    ErrorMapper,
    GitHubError,
    GitHubUnavailable,
    NotFound,
    describe_connection_error,
    parse_answer,
)
from bot.github.model import AppInfo, AppInstallation, DeliveryAttempt, RequiredPermissions, WebhookConfig
from bot.github.payloads import (
    Parsed,
    PayloadError,
    get_list,
    get_path,
    get_text,
    require_id,
    require_text,
    require_time,
)
from bot.github.transport import (
    ACCEPT_HEADER,
    REPO_PATH,
    USER_AGENT,
    GitHubRequester,
    RequestCounter,
    Transport,
    fill_path,
    response_cache,
)

REQUEST_SECONDS = 10
"""Time limit of one request."""
_DELIVERIES = "/app/hook/deliveries"


@asynccontextmanager
async def open_app_api(
    key: AppKey,
    api_url: str,
    *,
    now: Callable[[], datetime],
    count: RequestCounter | None = None,
    may_write: Callable[[], bool] = lambda: True,
) -> AsyncIterator[GitHubAppApi]:
    """Open the App API with its own connections."""
    timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        errors = ErrorMapper(now)
        transport = Transport(session, api_url, api_url, errors, response_cache(), may_write, count)
        yield GitHubAppApi(key, transport, now)


class GitHubAppApi:
    """Calls as the App itself, never as an installation."""

    def __init__(self, key: AppKey, transport: Transport, now: Callable[[], datetime]) -> None:
        self._transport = transport
        self._auth = Authenticator(key, transport, now)
        self.budget_left = 1.0
        """The share of the hour's requests that was left after the last call."""

    async def time(self) -> datetime | None:
        """GitHub's clock from its `Date` header, None if there is none; sent without credentials."""
        address = f"{self._transport.api_url}/rate_limit"
        try:
            async with self._transport.session.get(address, headers={"user-agent": USER_AGENT}) as answer:
                return _date(answer.headers.get("date", ""))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise GitHubUnavailable(f"{address}: {describe_connection_error(error)}") from error

    async def app(self) -> AppInfo:
        """The App as it is registered."""
        return await self._get("/app", _app_info)

    async def webhook_config(self) -> WebhookConfig:
        """Where GitHub sends deliveries."""
        return await self._get("/app/hook/config", _webhook_config)

    async def installations(self) -> tuple[AppInstallation, ...]:
        """Everywhere the App is installed."""
        path = "/app/installations?per_page=100"
        request = ApiRequest(f"GET {path}", "", 0)
        items = await self._send(request, lambda api: api.items(path))
        return tuple(parse_answer(request.what, _installation, item) for item in items)

    async def installation_of(self, owner: str, name: str) -> AppInstallation | None:
        """The installation that covers a repository; None if there is none."""
        try:
            return await self._get(
                fill_path(f"{REPO_PATH}/installation", owner=owner, repo=name), _installation
            )
        except NotFound:
            return None

    async def deliveries(self, since: datetime) -> tuple[DeliveryAttempt, ...]:
        """What GitHub sent since then, newest first; it keeps three days of it."""
        request = ApiRequest(f"GET {_DELIVERIES}", "", 0)
        items = await self._send(
            request, lambda api: api.items_until(f"{_DELIVERIES}?per_page=100", _older(since))
        )
        attempts = (parse_answer(request.what, _delivery_attempt, item) for item in items)
        return tuple(attempt for attempt in attempts if attempt.at >= since)

    async def redeliver(self, delivery_id: int) -> None:
        """Ask GitHub to redeliver; the delivery keeps its GUID."""
        path = f"{_DELIVERIES}/{delivery_id}/attempts"
        await self._send(ApiRequest(f"POST {path}", "", 0), lambda api: api.write("POST", path))

    async def _get(self, path: str, parse: Callable[[Any], Parsed]) -> Parsed:
        request = ApiRequest(f"GET {path}", "", 0)
        return parse_answer(request.what, parse, await self._send(request, lambda api: api.get(path)))

    async def _send(
        self, request: ApiRequest, send: Callable[[GitHubRequester], Awaitable[Parsed]]
    ) -> Parsed:
        async def send_and_count(api: GitHubRequester) -> Parsed:
            answer = await send(api)
            self.budget_left = api.budget_left
            return answer

        return await self._auth.as_app(request, send_and_count)


def _older(since: datetime) -> Callable[[Any], bool]:
    """A test for items older than `since`: the list is in order, so all later pages are older too."""

    def is_older(item: Any) -> bool:
        try:
            return require_time(item, "delivered_at") < since
        except PayloadError:
            return False

    return is_older


def _app_info(tree: Any) -> AppInfo:
    return AppInfo(require_text(tree, "slug"), get_text(tree, "html_url"), _permissions(tree), _events(tree))


def _webhook_config(tree: Any) -> WebhookConfig:
    return WebhookConfig(
        url=get_text(tree, "url"),
        json=get_text(tree, "content_type") == "json",
        has_secret=bool(get_text(tree, "secret")),
        checks_certificate=str(get_path(tree, "insecure_ssl")) != "1",
    )


def _installation(tree: Any) -> AppInstallation:
    return AppInstallation(
        id=require_id(tree, "id"),
        account=get_text(tree, "account.login") or get_text(tree, "account.slug"),
        url=get_text(tree, "html_url"),
        permissions=_permissions(tree),
        events=_events(tree),
        suspended=bool(get_path(tree, "suspended_at")),
    )


def _delivery_attempt(tree: Any) -> DeliveryAttempt:
    status, code = get_text(tree, "status"), get_path(tree, "status_code")
    return DeliveryAttempt(
        id=require_id(tree, "id"),
        guid=require_text(tree, "guid"),
        event=get_text(tree, "event"),
        at=require_time(tree, "delivered_at"),
        ok=status == "OK",
        status=f"{code} {status}" if code else status,
    )


def _permissions(tree: Any) -> Mapping[str, str]:
    permissions = get_path(tree, "permissions")
    is_object = isinstance(permissions, Mapping)
    return {str(name): str(level) for name, level in permissions.items()} if is_object else {}


def _events(tree: Any) -> tuple[str, ...]:
    return tuple(map(str, get_list(tree, "events")))


def _date(value: str) -> datetime | None:
    try:
        return email.utils.parsedate_to_datetime(value).astimezone(UTC)
    except ValueError:
        return None


_ADDRESS = regex.Regex(r"https?://[^\s/?#@]+(/[^\s?#]*)?")
_LOGIN = regex.Regex(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")
_LONGEST_NAME = 34
"""The longest App name that GitHub accepts."""


@dataclass(frozen=True, slots=True)
class RegistrationRequest:
    """The App that the operator wants to register."""

    owner: str
    organisation: bool
    public_url: str
    name: str = ""

    @property
    def app_name(self) -> str:
        """The App's name; names are unique on GitHub, so the owner is a part of it."""
        return (self.name or f"whetstone-{self.owner}")[:_LONGEST_NAME].rstrip("-")

    @property
    def webhook_url(self) -> str:
        """Where GitHub sends deliveries; a relay forwards what arrives at its own URL."""
        public = self.public_url.rstrip("/")
        return public if is_webhook_relay(public) else f"{public}/webhook"

    def problems(self, web_url: str) -> tuple[str, ...]:
        """Everything that this GitHub would reject, or that would keep its deliveries from arriving."""
        problems = []
        if not _LOGIN.fullmatch(self.owner):
            problems.append(f"{self.owner!r} is not a GitHub login.")
        if problem := _url_problem(self.public_url, web_url):
            problems.append(problem)
        return tuple(problems)


def _url_problem(url: str, web_url: str) -> str:
    """Why GitHub can't send deliveries to this URL; empty if it can."""
    if not _ADDRESS.fullmatch(url):
        return "Enter a full URL, such as https://whetstone.example.org."
    host = _host(url)
    if is_loopback(url):
        return (
            ""
            if is_loopback(web_url)
            else f"GitHub can't reach {host}: it is a loopback address. Use a public name or a tunnel."
        )
    if not _is_hosted_by_github(web_url):  # an Enterprise Server may share a private network with the bot
        return ""
    if _is_private(host):
        return f"GitHub can't reach {host}: it is a private address. Use a public name or a tunnel."
    if url.startswith("http://"):
        return "Use https://. Over http:// anyone on the network path can read and change the deliveries."
    return ""


def is_webhook_relay(url: str) -> bool:
    """Whether the URL is a smee.io channel, which forwards webhooks and nothing else."""
    return _host(url) == "smee.io"


def is_loopback(url: str) -> bool:
    """Whether the URL's host is the local machine."""
    name = _host(url)
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _ip_address(name)
    return address is not None and (address.is_loopback or address.is_unspecified)


def _is_private(host: str) -> bool:
    """Whether the host is unreachable from the internet: a private address, or a name of a local network."""
    if address := _ip_address(host):
        return not address.is_global
    return "." not in host or host.endswith((".local", ".internal", ".lan", ".home.arpa"))


def _is_hosted_by_github(web_url: str) -> bool:
    host = _host(web_url)
    return host == "github.com" or host.endswith(".ghe.com")


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class Registration:
    """A new App with its secrets, which GitHub shows once."""

    app_id: int
    slug: str
    owner: str
    url: str
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)


def app_file() -> Path:
    """Where `app.yml` is: beside the package in a checkout, inside it when installed."""
    package = Path(bot.__file__).parent
    inside = package / "app.yml"
    return inside if inside.is_file() else package.parent / "app.yml"


def required_permissions() -> RequiredPermissions:
    """The permissions and events that `app.yml` asks for."""
    content = _content()
    return RequiredPermissions(dict(content["default_permissions"]), tuple(content["default_events"]))


def build_manifest(request: RegistrationRequest, redirect_url: str) -> Mapping[str, Any]:
    """`app.yml` with this deployment's own name and addresses."""
    public = request.public_url.rstrip("/")
    hook = {"url": request.webhook_url, "active": True}
    own = {"name": request.app_name, "url": public, "hook_attributes": hook, "redirect_url": redirect_url}
    return {**_content(), **own}


def manifest_form_url(web_url: str, request: RegistrationRequest, state: str) -> str:
    """Where the browser sends the manifest to."""
    place = f"organizations/{quote(request.owner)}/settings" if request.organisation else "settings"
    return f"{web_url}/{place}/apps/new?state={quote(state)}"


async def convert_manifest_code(api_url: str, code: str, *, seconds: float = 10) -> Registration:
    """Exchange the browser's code for the new App; raises `NotFound` if it is used up or expired."""
    address = api_url + fill_path("/app-manifests/{code}/conversions", code=code)
    headers = {"accept": ACCEPT_HEADER, "user-agent": USER_AGENT}
    try:
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(address, headers=headers) as answer,
        ):
            return _registration(answer.status, await answer.read())
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise GitHubUnavailable(f"GitHub can't be reached: {type(error).__name__}") from error


def _registration(status: int, body: bytes) -> Registration:
    # No part of the answer goes into an error: it holds the key.
    if status in {404, 410, 422}:
        raise NotFound("GitHub rejected the code: it can be used once, within an hour")
    if status != 201:
        raise GitHubError(f"GitHub responded with {status}")
    try:
        tree = msgspec.json.decode(body)
        return Registration(
            app_id=require_id(tree, "id"),
            slug=require_text(tree, "slug"),
            owner=get_text(tree, "owner.login"),
            url=get_text(tree, "html_url"),
            private_key=require_text(tree, "pem"),
            webhook_secret=require_text(tree, "webhook_secret"),
        )
    except (msgspec.DecodeError, PayloadError) as error:
        raise GitHubUnavailable("GitHub's response is malformed") from error


def _content() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(app_file().read_text(encoding="utf-8"))
    return content
