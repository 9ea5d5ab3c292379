"""Write and parse the bot's own deliveries: jobs, derived events, validations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from bot import regex
from bot.github import payloads
from bot.github.payloads import (
    JsonObject,
    PayloadError,
    get_integer,
    get_path,
    get_text,
    repository_payload,
    require_id,
    require_text,
    require_time,
)
from bot.pull_request.documents import parse_document_items
from bot.pull_request.events import (
    BackfillStep,
    CheckBackfillEvent,
    CheckBackfillStep,
    ConfigBrokenEvent,
    Event,
    IgnoredEvent,
    PastPullRequestEvent,
    PullRequestSnapshot,
    RetryEvent,
    ToolResult,
    ValidationEvent,
    WeekDueEvent,
)
from bot.pull_request.model import PullRequest
from bot.store.model import Delivery
from bot.store.store import Store
from bot.values import GHOST, Account, Location, Repository
from bot.verdicts.tool_reports import ToolReport

INTERNAL_EVENT = "whetstone"
"""The event name of the bot's own deliveries; `X-GitHub-Event` of those that its commands send."""
BACKFILL, CONFIG_BROKEN, HEADS, HEAD = "backfill", "config_broken", "heads", "head"
PAST, RETRY, VALIDATION, WEEKLY = "past", "retry", "validation", "weekly"
"""Their actions."""


def parse_internal(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    """Parse one of the bot's own deliveries."""
    return INTERNAL_PARSERS[action](payload)


def _internal_delivery(
    identity: str, lane: str, repository: Repository | None, payload: JsonObject, now: datetime
) -> Delivery:
    about = repository_payload(repository) if repository else {}
    body = json.dumps({**payload, **about, "lane": lane}).encode()
    installation_id = repository.installation_id if repository else 0
    return Delivery(identity, INTERNAL_EVENT, lane, installation_id, body, now)


def weekly_delivery(repository: Repository, week: str, now: datetime, identity: str = "") -> Delivery:
    """The delivery that has a week summarised; the same finished week has the same id."""
    lane = f"weekly:{repository.id}"
    return _internal_delivery(
        identity or f"{lane}:{week}", lane, repository, {"action": WEEKLY, "week": week}, now
    )


def backfill_delivery(due: BackfillStep, now: datetime) -> Delivery:
    """The delivery of one step of a backfill; the same step has the same id."""
    identity, lane = f"backfill:{due.run}:{due.step}", f"backfill:{due.repository.id}"
    payload = {"action": BACKFILL, **msgspec.to_builtins(due)}
    return _internal_delivery(identity, lane, due.repository, payload, now)


def check_backfill_step_delivery(due: CheckBackfillStep, now: datetime) -> Delivery:
    """The delivery of one step over the open pull requests; the same step has the same id."""
    repository = due.repository
    identity = f"heads:{repository.id}:{due.head}:{'owner' if due.owners else 'step'}:{due.step}"
    lane = f"commit:{repository.id}:heads"
    payload = {"action": HEADS, **msgspec.to_builtins(due)}
    return _internal_delivery(identity, lane, repository, payload, now)


def retry_delivery(ids: tuple[str, ...], identity: str, now: datetime) -> Delivery:
    """The delivery that has parked deliveries queued again."""
    return _internal_delivery(identity, "parked:retry", None, {"action": RETRY, "ids": ids}, now)


_SHA = regex.Regex(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SubmittedValidation:
    """A validation that was submitted over HTTP, and by whom."""

    repository: Repository
    number: int
    author: Account | None
    role: str
    head: str | None
    report: ToolReport
    body_hash: str


def validation_delivery_id(identity: str) -> str:
    """The id of the delivery that carries this validation."""
    return f"{VALIDATION}:{identity}"


def validation_delivery(given: SubmittedValidation, identity: str, now: datetime) -> Delivery:
    """The delivery of a submitted validation, which takes the same path as a webhook."""
    report = given.report
    payload = {
        "action": VALIDATION,
        "number": given.number,
        "id": identity,
        "at": now.isoformat(),
        "author": _account(given.author) if given.author else None,
        "role": given.role,
        "head": given.head,
        "content": {
            "body_hash": given.body_hash,
            "document": report.document,
            "tool": report.tool,
            "findings": msgspec.to_builtins(report.results),
        },
    }
    lane = f"pr:{given.repository.id}:{given.number}"
    return _internal_delivery(validation_delivery_id(identity), lane, given.repository, payload, now)


def derive_for_pull_request(
    delivery: Delivery, number: int, snapshot: PullRequestSnapshot | None = None
) -> Delivery:
    """Copy a commit's delivery to the lane of a pull request; its id names the original."""
    payload = msgspec.json.decode(delivery.body)
    repository_id = payload["repository"]["id"]
    if snapshot is not None:
        payload["pull_request"] = _pull_request_payload(snapshot)
    payload["whetstone"] = {"number": number}
    return replace(
        delivery,
        id=f"{delivery.id}:{number}",
        lane=f"pr:{repository_id}:{number}",
        body=msgspec.json.encode(payload),
    )


def config_broken_delivery(repository: Repository, version: str, now: datetime) -> Delivery:
    """The delivery that reports once that this version of a config is broken."""
    lane = f"config:{repository.full_name.lower()}"
    # With the minute: the same text may be broken a second time, after it was fixed.
    identity = f"{lane}:{version}:{now:%Y%m%dT%H%M}"
    # An owner's repository is known by name only; the id is used for nothing here.
    identified = replace(repository, id=repository.id or 1)
    return _internal_delivery(identity, lane, identified, {"action": CONFIG_BROKEN}, now)


def past_delivery(due: BackfillStep, snapshot: PullRequestSnapshot, now: datetime) -> Delivery:
    """The delivery that has an earlier pull request recorded, once per backfill."""
    pull_request = {**_pull_request_payload(snapshot), "body": snapshot.body}
    payload = {"action": PAST, "pull_request": pull_request}
    identity, lane = f"backfill:{due.run}:pr:{snapshot.number}", f"pr:{due.repository.id}:{snapshot.number}"
    return _internal_delivery(identity, lane, due.repository, payload, now)


def check_backfill_delivery(due: CheckBackfillStep, snapshot: PullRequestSnapshot, now: datetime) -> Delivery:
    """The delivery that has the check run of an open pull request written, once per config change."""
    identity = f"heads:{due.repository.id}:{due.head}:pr:{snapshot.number}"
    return _head_delivery(identity, f"pr:{due.repository.id}:{snapshot.number}", snapshot, due.since, now)


def refresh_delivery(pull_request: PullRequest, identity: str, now: datetime) -> Delivery:
    """The delivery that has the comment of a pull request brought up to date, without any news."""
    lane = f"pr:{pull_request.repository.id}:{pull_request.number}"
    since = pull_request.created_at
    return _head_delivery(f"{identity}:{pull_request.number}", lane, pull_request, since, now)


def revisit_delivery(pull_request: PullRequest, at: datetime, now: datetime, reason: str = "") -> Delivery:
    """The delivery that has a comment refreshed at that time, once a head and reason.

    It waits in a lane of its own.
    """
    lane = f"revisit:{pull_request.repository.id}:{pull_request.number}{f':{reason}' if reason else ''}"
    return _head_delivery(f"{lane}:{pull_request.head}", lane, pull_request, at, now)


def _head_delivery(
    identity: str, lane: str, pull_request: PullRequestSnapshot | PullRequest, since: datetime, now: datetime
) -> Delivery:
    payload = {
        "action": HEAD,
        "pull_request": _pull_request_payload(pull_request),
        "since": since.isoformat(),
    }
    return _internal_delivery(identity, lane, pull_request.repository, payload, now)


def _pull_request_payload(snapshot: PullRequestSnapshot | PullRequest) -> dict[str, Any]:
    return {
        "number": snapshot.number,
        "user": _account(snapshot.author),
        "title": snapshot.title,
        "base": {"ref": snapshot.base},
        "head": {"sha": snapshot.head},
        "created_at": snapshot.created_at.isoformat(),
        "updated_at": snapshot.updated_at.isoformat(),
        "state": "open" if snapshot.open else "closed",
        "merged": snapshot.merged,
        "draft": snapshot.draft,
        "closed_at": snapshot.closed_at.isoformat() if snapshot.closed_at else None,
    }


def _account(account: Account) -> dict[str, Any]:
    return {"id": account.id, "login": account.login, "type": "Bot" if account.bot else "User"}


def _parse_validation(payload: JsonObject) -> Event:
    document = get_path(payload, "content.document")
    author = payloads.parse_account(payload, "author")
    head = get_text(payload, "head") or get_text(document, "target.version")
    findings = get_path(payload, "content.findings")
    return ValidationEvent(
        id=require_text(payload, "id"),
        repository=payloads.parse_repository(payload),
        number=require_id(payload, "number"),
        author=None if author == GHOST else author,
        role=get_text(payload, "role"),
        at=require_time(payload, "at"),
        head=head if _SHA.fullmatch(head) else None,
        accepts=get_text(document, "overall_assessment.verdict") == "accept",
        items=parse_document_items(document),
        tool=get_text(payload, "content.tool"),
        findings=tuple(map(_finding, findings if isinstance(findings, list) else ())),
        body_hash=get_text(payload, "content.body_hash"),
    )


def _finding(tree: Any) -> ToolResult:
    path = get_text(tree, "place.path")
    lines = get_integer(tree, "place.line"), get_integer(tree, "place.end_line")
    place = Location(path, *lines) if path else None
    return ToolResult(
        get_text(tree, "rule"),
        get_text(tree, "message"),
        place,
        get_text(tree, "level"),
        get_text(tree, "tag") or None,
    )


def _parse_retry(payload: JsonObject) -> Event:
    ids = get_path(payload, "ids")
    return RetryEvent(tuple(item for item in ids if isinstance(item, str)) if isinstance(ids, list) else ())


def _parse_step(kind: type[BackfillStep | CheckBackfillStep], payload: JsonObject) -> Event:
    step = {**payload, "repository": payloads.parse_repository(payload)}
    try:
        return msgspec.convert(step, kind, from_attributes=True)
    except msgspec.ValidationError as error:
        raise PayloadError("the step", f"valid: {error}") from error


INTERNAL_PARSERS: Mapping[str, Callable[[JsonObject], Event]] = {
    BACKFILL: partial(_parse_step, BackfillStep),
    CONFIG_BROKEN: lambda payload: ConfigBrokenEvent(payloads.parse_repository(payload)),
    HEAD: lambda payload: CheckBackfillEvent(
        payloads.parse_payload_pull_request(payload), require_time(payload, "since")
    ),
    HEADS: partial(_parse_step, CheckBackfillStep),
    PAST: lambda payload: PastPullRequestEvent(payloads.parse_payload_pull_request(payload)),
    RETRY: _parse_retry,
    VALIDATION: _parse_validation,
    # Without a name, the current week so far.
    WEEKLY: lambda payload: WeekDueEvent(require_id(payload, "repository.id"), get_text(payload, "week")),
}


@dataclass(frozen=True, slots=True)
class CheckRunReporter:
    """Reports a broken config through the inbox, by a delivery whose id makes it happen once."""

    inbox: Store
    clock: Callable[[], datetime]

    async def report(self, repository: Repository, version: str) -> None:
        """Queue the check run on the default branch."""
        await self.inbox.accept(config_broken_delivery(repository, version, self.clock()))
