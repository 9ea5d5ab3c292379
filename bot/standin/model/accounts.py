"""Who is there on GitHub?"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

AccountType = Literal["User", "Bot", "Organization"]


def node_id(prefix: str, number: int) -> str:
    """A GraphQL id in the form GitHub gives them."""
    return f"{prefix}_{base64.urlsafe_b64encode(number.to_bytes(8, 'big')).decode().rstrip('=')}"


@dataclass(slots=True, eq=False)
class Account:
    """A person, a bot or an organisation."""

    id: int
    login: str
    type: AccountType
    created_at: datetime
    deleted: bool = False

    @property
    def node_id(self) -> str:
        """The account's GraphQL id."""
        return node_id({"User": "U", "Bot": "BOT", "Organization": "O"}[self.type], self.id)


@dataclass(slots=True, eq=False)
class App:
    """A GitHub App and its bot account."""

    id: int
    slug: str
    name: str
    owner: Account
    bot: Account
    public_pem: str | None
    permissions: Mapping[str, str]
    events: tuple[str, ...]
    created_at: datetime

    @property
    def node_id(self) -> str:
        """The App's GraphQL id."""
        return node_id("A", self.id)
