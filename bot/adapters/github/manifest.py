"""How does an App come to be registered from `app.yml`, by GitHub's manifest flow?"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec
import yaml

import bot
from bot.adapters.github.asking import has_dot_segment
from bot.adapters.github.wire import ACCEPT, REQUESTER
from bot.adapters.payloads.fields import Odd, identifier, text, word
from bot.domain import regex
from bot.domain.app_facts import Wanted
from bot.ports import GitHubError, Gone, Unavailable

_ADDRESS = regex.Pattern(r"https?://[^\s/?#@]+(/[^\s?#]*)?")
_LOGIN = regex.Pattern(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")
_LONGEST_NAME = 34
"""What GitHub takes for the name of an App."""


@dataclass(frozen=True, slots=True)
class Order:
    """What the operator wants registered."""

    owner: str
    organisation: bool
    public_url: str
    name: str = ""

    @property
    def app_name(self) -> str:
        """The App's name; names are unique on GitHub, so the owner is a part of it."""
        return (self.name or f"whetstone-{self.owner}")[:_LONGEST_NAME].rstrip("-")

    def problems(self, web_url: str) -> tuple[str, ...]:
        """Everything that the GitHub whose pages are there would not take."""
        found = []
        if not _LOGIN.fullmatch(self.owner):
            found.append("the account is not a login of GitHub")
        if not _ADDRESS.fullmatch(self.public_url):
            found.append("the address is not an http:// or https:// address")
        elif is_of_one_machine(self.public_url) and not is_of_one_machine(web_url):
            found.append("GitHub can't reach this address: it leads every machine to itself")
        return tuple(found)


def is_of_one_machine(url: str) -> bool:
    """Whether the address means the machine itself, on whichever machine it is used."""
    try:
        name = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


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


def wanted() -> Wanted:
    """The permissions and events that `app.yml` asks for."""
    content = _content()
    return Wanted(dict(content["default_permissions"]), tuple(content["default_events"]))


def manifest(order: Order, redirect_url: str) -> Mapping[str, Any]:
    """`app.yml` with this deployment's own name and addresses."""
    public = order.public_url.rstrip("/")
    hook = {"url": f"{public}/webhook", "active": True}
    own = {"name": order.app_name, "url": public, "hook_attributes": hook, "redirect_url": redirect_url}
    return {**_content(), **own}


def form_address(web_url: str, order: Order, state: str) -> str:
    """Where the browser sends the manifest to."""
    place = f"organizations/{quote(order.owner)}/settings" if order.organisation else "settings"
    return f"{web_url}/{place}/apps/new?state={quote(state)}"


async def convert(api_url: str, code: str, *, seconds: float = 10) -> Registration:
    """The new App for the code that GitHub gave the browser; `Gone` where it is used up or too old."""
    if has_dot_segment(code):
        raise Gone("GitHub gives no such code")
    address = f"{api_url}/app-manifests/{quote(code, safe='')}/conversions"
    headers = {"accept": ACCEPT, "user-agent": REQUESTER}
    try:
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(address, headers=headers) as answer,
        ):
            return _registration(answer.status, await answer.read())
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise Unavailable(f"GitHub can't be reached: {type(error).__name__}") from error


def _registration(status: int, body: bytes) -> Registration:
    # No part of the answer goes into an error: it holds the key.
    if status in {404, 410, 422}:
        raise Gone("GitHub does not know this code, or no longer: it is good once, and for an hour")
    if status != 201:
        raise GitHubError(f"GitHub answered {status}")
    try:
        tree = msgspec.json.decode(body)
        return Registration(
            app_id=identifier(tree, "id"),
            slug=word(tree, "slug"),
            owner=text(tree, "owner.login"),
            url=text(tree, "html_url"),
            private_key=word(tree, "pem"),
            webhook_secret=word(tree, "webhook_secret"),
        )
    except (msgspec.DecodeError, Odd) as error:
        raise Unavailable("GitHub's answer can't be read") from error


def _content() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(app_file().read_text(encoding="utf-8"))
    return content
