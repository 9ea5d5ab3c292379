"""How do our own commands write down a job, and how is it read again?"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from bot.adapters.payloads import things
from bot.adapters.payloads.fields import Json, find, moment, optional_integer, optional_moment, text, word
from bot.domain.events import Event, Ignored
from bot.domain.model import Repository
from bot.domain.own_events import BackfillDue, HeadsDue, HeadSeen, PastSeen, RetryDue
from bot.ports import Delivery

BACKFILL, PAST, RETRY = "backfill", "past", "retry"
HEADS, HEAD = "heads", "head"
_EVENT = "whetstone"


def read(action: str, payload: Json) -> Event | Ignored:
    """The job as a value."""
    if action == BACKFILL:
        return _backfill(payload)
    if action == PAST:
        return PastSeen(things.pull_request(payload))
    if action == HEADS:
        return _heads(payload)
    if action == HEAD:
        return HeadSeen(things.pull_request(payload), moment(payload, "since"))
    ids = find(payload, "ids")
    return RetryDue(tuple(each for each in ids if isinstance(each, str)) if isinstance(ids, list) else ())


def backfill_step(due: BackfillDue, now: datetime) -> Delivery:
    """The inbox row of one step of a backfill; the same step has the same id."""
    lane = f"backfill:{due.repository.id}"
    payload = {
        "action": BACKFILL,
        "lane": lane,
        **repository(due.repository),
        "run": due.run,
        "step": due.step,
        "page": due.page,
        "read": due.read,
        "total": due.total,
        "since": due.since.isoformat() if due.since else None,
        "closing": due.closing,
    }
    identity = f"backfill:{due.run}:{due.step}"
    return Delivery(identity, _EVENT, lane, due.repository.installation_id, json.dumps(payload).encode(), now)


def heads_step(due: HeadsDue, now: datetime) -> Delivery:
    """The inbox row of one step over the open pull requests; the same step has the same id."""
    where = due.repository
    lane = f"commit:{where.id}:heads"
    payload = {
        "action": HEADS,
        "lane": lane,
        **repository(where),
        "head": due.head,
        "since": due.since.isoformat(),
        "step": due.step,
        "page": due.page,
        "fresh": due.fresh,
        "owners": due.owners,
    }
    identity = f"heads:{where.id}:{due.head}:{'owner' if due.owners else 'step'}:{due.step}"
    return Delivery(identity, _EVENT, lane, where.installation_id, json.dumps(payload).encode(), now)


def retry(ids: tuple[str, ...], identity: str, now: datetime) -> Delivery:
    """The inbox row that has parked deliveries queued again."""
    payload = {"action": RETRY, "lane": "parked:retry", "ids": ids}
    return Delivery(identity, _EVENT, "parked:retry", 0, json.dumps(payload).encode(), now)


def repository(where: Repository) -> dict[str, Any]:
    """A repository and its installation as GitHub's payloads have them."""
    return {
        "repository": {
            "id": where.id,
            "name": where.name,
            "owner": {"login": where.owner},
            "private": where.private,
            "default_branch": where.default_branch,
        },
        "installation": {"id": where.installation_id},
    }


def _heads(payload: Json) -> HeadsDue:
    return HeadsDue(
        repository=things.repository(payload),
        head=word(payload, "head"),
        since=moment(payload, "since"),
        step=optional_integer(payload, "step") or 0,
        page=text(payload, "page"),
        fresh=optional_integer(payload, "fresh") or 0,
        owners=find(payload, "owners") is True,
    )


def _backfill(payload: Json) -> BackfillDue:
    return BackfillDue(
        repository=things.repository(payload),
        run=word(payload, "run"),
        step=optional_integer(payload, "step") or 0,
        page=text(payload, "page"),
        read=optional_integer(payload, "read") or 0,
        total=optional_integer(payload, "total"),
        since=optional_moment(payload, "since"),
        closing=find(payload, "closing") is True,
    )
