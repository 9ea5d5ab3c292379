"""A document or a linter's log that was handed in, on its way through the inbox and back."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.adapters import sarif
from bot.adapters.feedback_items import items_of
from bot.adapters.payloads import things
from bot.adapters.payloads.fields import Json, Odd, find, identifier, moment, text, word
from bot.domain.events import Event, Ignored, ToolFinding, ValidationSeen
from bot.domain.model import GHOST, Account, Place, Repository
from bot.ports import Delivery

VALIDATION = "validation"
"""The action of our own event."""
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What came over HTTP, and from whom."""

    repository: Repository
    number: int
    author: Account | None
    role: str
    head: str | None
    content: Any
    """The document or the log, as parsed from JSON."""


def delivery_of(given: HandedIn, identity: str, event: str, now: datetime) -> Delivery:
    """The delivery that takes it the same way as a webhook."""
    where, author = given.repository, given.author
    lane = f"pr:{where.id}:{given.number}"
    payload = {
        "action": VALIDATION,
        "lane": lane,
        "repository": {
            "id": where.id,
            "name": where.name,
            "owner": {"login": where.owner},
            "private": where.private,
            "default_branch": where.default_branch,
        },
        "installation": {"id": where.installation_id},
        "number": given.number,
        "id": identity,
        "at": now.isoformat(),
        "author": {"id": author.id, "login": author.login, "type": "Bot" if author.bot else "User"}
        if author
        else None,
        "role": given.role,
        "head": given.head,
        "content": given.content,
    }
    return Delivery(identity, event, lane, where.installation_id, json.dumps(payload).encode(), now)


def read_validation(payload: Json) -> Event | Ignored:
    """What was handed in, as a value."""
    content = find(payload, "content")
    author = things.account(payload, "author")
    head = text(payload, "head") or text(content, "target.version")
    body = json.dumps(content, sort_keys=True).encode()
    seen = ValidationSeen(
        id=word(payload, "id"),
        repository=things.repository(payload),
        number=identifier(payload, "number"),
        author=None if author == GHOST else author,
        role=text(payload, "role"),
        at=moment(payload, "at"),
        head=head if _SHA.fullmatch(head) else None,
        accepts=text(content, "overall_assessment.verdict") == "accept",
        items=items_of(content),
        body_hash=hashlib.sha256(body).hexdigest(),
    )
    return _from_log(seen, body) if is_log(content) else seen


def is_log(content: Any) -> bool:
    """Whether it is SARIF, not a document."""
    return isinstance(content, dict) and "runs" in content and "feedback_items" not in content


def _from_log(seen: ValidationSeen, body: bytes) -> ValidationSeen:
    try:
        log = sarif.read(body)
    except sarif.NotSarif as reason:
        raise Odd("content", f"a SARIF log: {reason}") from reason
    tools = sorted({text(run, "tool.driver.name") or "linter" for run in _runs(body)})
    found = tuple(
        ToolFinding(result.rule, result.message, _place(result), result.level.value) for result in log.results
    )
    return ValidationSeen(
        id=seen.id,
        repository=seen.repository,
        number=seen.number,
        author=seen.author,
        role=seen.role,
        at=seen.at,
        head=seen.head,
        tool=", ".join(tools)[:100] or "linter",
        findings=found,
        body_hash=seen.body_hash,
    )


def _runs(body: bytes) -> list[Any]:
    runs = json.loads(body).get("runs")
    return runs if isinstance(runs, list) else []


def _place(result: sarif.SarifResult) -> Place | None:
    if not result.path or result.path.startswith("/"):  # a place on the tool's own machine
        return None
    last = result.end_line if result.end_line and result.line and result.end_line > result.line else None
    return Place(result.path, result.line, last)
