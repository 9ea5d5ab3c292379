"""What does GitHub know about the App, and about the webhooks that it sent to it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class AboutApp:
    """The App as it is registered."""

    slug: str
    url: str
    """The App's page, from which it is installed."""
    permissions: Mapping[str, str]
    events: tuple[str, ...]

    @property
    def login(self) -> str:
        """The account that the App writes as."""
        return f"{self.slug}[bot]"


@dataclass(frozen=True, slots=True)
class Installed:
    """The App on one account, with what it was granted there."""

    id: int
    account: str
    url: str
    permissions: Mapping[str, str]
    events: tuple[str, ...]
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class Hook:
    """Where GitHub sends deliveries, and how."""

    url: str
    json: bool = True
    has_secret: bool = True
    checks_certificate: bool = True


@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt of GitHub's to deliver a webhook."""

    id: int
    guid: str
    event: str
    at: datetime
    ok: bool
    status: str
    """GitHub's word for what came of it, with the code where there was an answer."""
    redelivery: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `app.yml` asks for."""

    permissions: Mapping[str, str]
    events: tuple[str, ...]
