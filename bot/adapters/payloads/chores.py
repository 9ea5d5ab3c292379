"""What is said about repositories, installations and weeks, and how our own clock says it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from bot.adapters.payloads import things
from bot.adapters.payloads.fields import Json, find, identifier, optional_integer, text
from bot.domain.events import Event, Ignored, InstallationSeen, RepositoryChanged
from bot.domain.model import Repository
from bot.domain.own_events import WeekDue
from bot.ports import Delivery

WEEKLY = "weekly"
"""The action of our own event that tells a week."""
_EVENT = "whetstone"


def repository(action: str, payload: Json) -> Event | Ignored:
    """A repository has another name, owner or visibility, or is gone."""
    return RepositoryChanged(action, things.repository(payload))


def installation(action: str, payload: Json) -> Event | Ignored:
    """The App was let into repositories, or out of them."""
    installed = identifier(payload, "installation.id")
    gone = (optional_integer(each, "id") for each in _listed(payload, "repositories_removed"))
    new = _listed(payload, "repositories" if action == "created" else "repositories_added")
    added = (_short(each, installed) for each in new)
    return InstallationSeen(
        action,
        installed,
        tuple(each for each in gone if each),
        tuple(each for each in added if each),
    )


def _listed(payload: Json, path: str) -> list[Any]:
    found = find(payload, path)
    return found if isinstance(found, list) else []


def _short(tree: object, installed: int) -> Repository | None:
    """A repository as the events of an installation name it."""
    number, (owner, _, name) = optional_integer(tree, "id"), text(tree, "full_name").partition("/")
    if not number or not owner or not name:
        return None
    return Repository(number, owner, name, installed, find(tree, "private") is True, default_branch="")


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
