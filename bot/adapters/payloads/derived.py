"""What a delivery about a commit becomes for each pull request with that head."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from bot.adapters.payloads import OWN_EVENT, jobs
from bot.adapters.payloads.commits import CONFIG_BROKEN
from bot.domain.model import Account, Repository
from bot.domain.own_events import BackfillDue, HeadsDue
from bot.domain.snapshots import PullRequestSnapshot
from bot.ports import Delivery


def for_pull_request(delivery: Delivery, number: int, seen: PullRequestSnapshot | None) -> Delivery:
    """The delivery in the lane of this pull request; its id says where it comes from."""
    payload = msgspec.json.decode(delivery.body)
    repository_id = payload["repository"]["id"]
    if seen is not None:
        payload["pull_request"] = _written(seen)
    payload["whetstone"] = {"number": number}
    return replace(
        delivery,
        id=f"{delivery.id}:{number}",
        lane=f"pr:{repository_id}:{number}",
        body=msgspec.json.encode(payload),
    )


def config_broken(repository: Repository, version: str, now: datetime) -> Delivery:
    """A row of our own that says once that this version of a config is broken."""
    lane = f"config:{repository.full_name.lower()}"
    payload = {
        "action": CONFIG_BROKEN,
        "lane": lane,
        # An owner's repository is known by name only; the id is used for nothing here.
        "repository": {
            "id": repository.id or 1,
            "name": repository.name,
            "owner": {"login": repository.owner},
            "private": repository.private,
            "default_branch": repository.default_branch,
        },
        "installation": {"id": repository.installation_id},
    }
    # With the minute: the same text may be broken a second time, after it was mended.
    identity = f"{lane}:{version}:{now:%Y%m%dT%H%M}"
    return Delivery(identity, OWN_EVENT, lane, repository.installation_id, json.dumps(payload).encode(), now)


def past(due: BackfillDue, seen: PullRequestSnapshot, now: datetime) -> Delivery:
    """The row that has a pull request of the past recorded; the same one a backfill."""
    where = due.repository
    lane = f"pr:{where.id}:{seen.number}"
    payload = {"action": jobs.PAST, "lane": lane, **jobs.repository(where), "pull_request": _written(seen)}
    identity = f"backfill:{due.run}:pr:{seen.number}"
    return Delivery(identity, OWN_EVENT, lane, where.installation_id, json.dumps(payload).encode(), now)


def head(due: HeadsDue, seen: PullRequestSnapshot, now: datetime) -> Delivery:
    """The row that has the check run of an open pull request seen to; the same one a change of the config."""
    where = due.repository
    lane = f"pr:{where.id}:{seen.number}"
    payload = {
        "action": jobs.HEAD,
        "lane": lane,
        **jobs.repository(where),
        "pull_request": _written(seen),
        "since": due.since.isoformat(),
    }
    identity = f"heads:{where.id}:{due.head}:pr:{seen.number}"
    return Delivery(identity, OWN_EVENT, lane, where.installation_id, json.dumps(payload).encode(), now)


def _written(seen: PullRequestSnapshot) -> dict[str, Any]:
    return {
        "number": seen.number,
        "user": _account(seen.author),
        "title": seen.title,
        "base": {"ref": seen.base},
        "head": {"sha": seen.head},
        "created_at": seen.created_at.isoformat(),
        "updated_at": seen.updated_at.isoformat(),
        "state": "open" if seen.open else "closed",
        "merged": seen.merged,
        "draft": seen.draft,
        "closed_at": seen.closed_at.isoformat() if seen.closed_at else None,
    }


def _account(account: Account) -> dict[str, Any]:
    return {"id": account.id, "login": account.login, "type": "Bot" if account.bot else "User"}
