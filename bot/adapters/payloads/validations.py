"""A document or a linter's log that was handed in, on its way through the inbox and back."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from bot.adapters import sarif
from bot.adapters.feedback_items import items_of
from bot.adapters.payloads import things
from bot.adapters.payloads.fields import Json, find, identifier, moment, optional_integer, text, word
from bot.adapters.payloads.jobs import repository
from bot.domain import regex
from bot.domain.events import Event, Ignored
from bot.domain.model import GHOST, Account, Place, Repository
from bot.domain.own_events import ToolFinding, ValidationSeen
from bot.ports import Delivery

VALIDATION = "validation"
"""The action of our own event."""
_SHA = regex.Pattern(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Content:
    """A document as parsed from JSON, or what a linter's log comes to."""

    body_hash: str
    document: Any = None
    tool: str = ""
    findings: tuple[ToolFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What came over HTTP, and from whom."""

    repository: Repository
    number: int
    author: Account | None
    role: str
    head: str | None
    content: Content


def from_document(document: Any, body: bytes) -> Content:
    """A document that its schema has passed."""
    return Content(hashlib.sha256(body).hexdigest(), document)


def from_log(log: Json, body: bytes) -> Content:
    """The open results of a SARIF log as parsed from JSON; raises `sarif.NotSarif`."""
    results = sarif.read(log).results
    tools = sorted({result.tool for result in results if result.tool} or set(_tools(log)))
    found = tuple(
        ToolFinding(result.rule[:200], result.message[:500], _place(result), result.level.value)
        for result in results
    )
    return Content(hashlib.sha256(body).hexdigest(), None, ", ".join(tools)[:100] or "linter", found)


def is_log(content: Any) -> bool:
    """Whether it is SARIF, not a document."""
    return isinstance(content, dict) and "runs" in content and "feedback_items" not in content


def delivery_of(given: HandedIn, identity: str, event: str, now: datetime) -> Delivery:
    """The delivery that takes it the same way as a webhook."""
    where, author = given.repository, given.author
    lane = f"pr:{where.id}:{given.number}"
    who = (
        {"id": author.id, "login": author.login, "type": "Bot" if author.bot else "User"} if author else None
    )
    payload = {
        "action": VALIDATION,
        "lane": lane,
        **repository(where),
        "number": given.number,
        "id": identity,
        "at": now.isoformat(),
        "author": who,
        "role": given.role,
        "head": given.head,
        "content": msgspec.to_builtins(given.content),
    }
    return Delivery(identity, event, lane, where.installation_id, msgspec.json.encode(payload), now)


def read_validation(payload: Json) -> Event | Ignored:
    """What was handed in, as a value."""
    document = find(payload, "content.document")
    author = things.account(payload, "author")
    head = text(payload, "head") or text(document, "target.version")
    findings = find(payload, "content.findings")
    return ValidationSeen(
        id=word(payload, "id"),
        repository=things.repository(payload),
        number=identifier(payload, "number"),
        author=None if author == GHOST else author,
        role=text(payload, "role"),
        at=moment(payload, "at"),
        head=head if _SHA.fullmatch(head) else None,
        accepts=text(document, "overall_assessment.verdict") == "accept",
        items=items_of(document),
        tool=text(payload, "content.tool"),
        findings=tuple(map(_finding, findings if isinstance(findings, list) else ())),
        body_hash=text(payload, "content.body_hash"),
    )


def _finding(tree: Any) -> ToolFinding:
    path = text(tree, "place.path")
    lines = optional_integer(tree, "place.line"), optional_integer(tree, "place.end_line")
    place = Place(path, *lines) if path else None
    return ToolFinding(text(tree, "rule"), text(tree, "message"), place, text(tree, "level"))


def _tools(log: Json) -> list[str]:
    """The tools of a log, also where none of them found anything."""
    runs = find(log, "runs")
    named = (text(run, "tool.driver.name") for run in (runs if isinstance(runs, list) else ()))
    return [name for name in named if name]


def _place(result: sarif.SarifResult) -> Place | None:
    if not result.path or result.path.startswith("/"):  # a place on the tool's own machine
        return None
    last = result.end_line if result.end_line and result.line and result.end_line > result.line else None
    return Place(result.path, result.line, last)
