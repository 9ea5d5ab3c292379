"""What is said about repositories, installations and weeks, and how our own clock says it."""

from __future__ import annotations

import json
from datetime import datetime

from bot.adapters.payloads import things
from bot.adapters.payloads.fields import Json, find, identifier, optional_integer, text
from bot.domain.events import Event, Ignored, InstallationSeen, RepositoryChanged, WeekDue
from bot.domain.model import Repository
from bot.ports import Delivery

WEEKLY = "weekly"
"""The action of our own event that tells a week."""
_EVENT = "whetstone"


def repository(action: str, payload: Json) -> Event | Ignored:
    """A repository has another name, owner or visibility, or is gone."""
    return RepositoryChanged(action, things.repository(payload))


def installation(action: str, payload: Json) -> Event | Ignored:
    """The App was let into repositories, or out of them."""
    removed = find(payload, "repositories_removed")
    gone = (optional_integer(each, "id") for each in removed) if isinstance(removed, list) else ()
    return InstallationSeen(
        action, identifier(payload, "installation.id"), tuple(each for each in gone if each)
    )


def week(_action: str, payload: Json) -> Event | Ignored:
    """A week of a repository is to be told; without a name, the running one so far."""
    return WeekDue(identifier(payload, "repository.id"), text(payload, "week"))


def week_delivery(where: Repository, name: str, now: datetime, identity: str = "") -> Delivery:
    """The inbox row of a week; the same finished week has the same id, whoever writes it."""
    lane = f"weekly:{where.id}"
    payload = {"action": WEEKLY, "lane": lane, "repository": {"id": where.id}, "week": name}
    payload["installation"] = {"id": where.installation_id}
    body = json.dumps(payload).encode()
    return Delivery(identity or f"{lane}:{name}", _EVENT, lane, where.installation_id, body, now)
