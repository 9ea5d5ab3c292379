"""Has a person with `write` spoken since a person was asked to decide?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from bot.domain.choices import Permission
from bot.domain.events import CommentSeen, Event
from bot.domain.model import PullRequest
from bot.ports import GitHub


async def heard_at(pull_request: PullRequest, events: Iterable[Event], github: GitHub) -> datetime | None:
    """When one did, by a plain comment; nobody's role is asked for unless somebody waits for an answer."""
    escalation = pull_request.escalation
    if escalation is None or escalation.heard_at is not None:
        return None
    for event in events:
        if not isinstance(event, CommentSeen) or event.action != "created" or event.author.bot:
            continue
        if event.author.id == pull_request.author.id or event.created_at <= escalation.at:
            continue
        role = await github.role(pull_request.repository, event.author)
        if role in set(Permission) and Permission(role).is_at_least(Permission.WRITE):
            return event.created_at
    return None
