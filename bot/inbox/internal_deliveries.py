"""Write and parse the bot's own deliveries: jobs, derived events, validations."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from bot import regex
from bot.github import payloads
from bot.github.payloads import (
    CONFIG_BROKEN_ACTION,
    JsonObject,
    get_integer,
    get_path,
    get_text,
    get_time,
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
WEEKLY_ACTION = "weekly"


def parse_week_due(_action: str, payload: JsonObject) -> Event | IgnoredEvent:
    """A week of a repository is to be summarised; without a name, the current one so far."""
    return WeekDueEvent(require_id(payload, "repository.id"), get_text(payload, "week"))


def _internal_delivery(identity: str, lane: str, action: str, payload: JsonObject, now: datetime) -> Delivery:
    installation_id = get_integer(payload, "installation.id") or 0
    body = json.dumps({"action": action, "lane": lane, **payload}).encode()
    return Delivery(identity, INTERNAL_EVENT, lane, installation_id, body, now)


def weekly_delivery(repository: Repository, week: str, now: datetime, identity: str = "") -> Delivery:
    """The delivery that has a week summarised; the same finished week has the same id."""
    lane = f"weekly:{repository.id}"
    payload = {
        "repository": {"id": repository.id},
        "week": week,
        "installation": {"id": repository.installation_id},
    }
    return _internal_delivery(identity or f"{lane}:{week}", lane, WEEKLY_ACTION, payload, now)


BACKFILL, PAST, RETRY = "backfill", "past", "retry"
HEADS, HEAD = "heads", "head"


def parse_job(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    """Parse a job: backfill, check backfill or retry."""
    if action == BACKFILL:
        return _backfill(payload)
    if action == PAST:
        return PastPullRequestEvent(payloads.parse_payload_pull_request(payload))
    if action == HEADS:
        return _heads(payload)
    if action == HEAD:
        return CheckBackfillEvent(
            payloads.parse_payload_pull_request(payload), require_time(payload, "since")
        )
    ids = get_path(payload, "ids")
    return RetryEvent(tuple(item for item in ids if isinstance(item, str)) if isinstance(ids, list) else ())


def backfill_delivery(due: BackfillStep, now: datetime) -> Delivery:
    """The delivery of one step of a backfill; the same step has the same id."""
    payload = {
        **repository_payload(due.repository),
        "run": due.run,
        "step": due.step,
        "page": due.page,
        "read": due.read,
        "total": due.total,
        "since": due.since.isoformat() if due.since else None,
        "closing": due.closing,
    }
    identity, lane = f"backfill:{due.run}:{due.step}", f"backfill:{due.repository.id}"
    return _internal_delivery(identity, lane, BACKFILL, payload, now)


def check_backfill_step_delivery(due: CheckBackfillStep, now: datetime) -> Delivery:
    """The delivery of one step over the open pull requests; the same step has the same id."""
    repository = due.repository
    payload = {
        **repository_payload(repository),
        "head": due.head,
        "since": due.since.isoformat(),
        "step": due.step,
        "page": due.page,
        "fresh": due.fresh,
        "owners": due.owners,
    }
    identity = f"heads:{repository.id}:{due.head}:{'owner' if due.owners else 'step'}:{due.step}"
    lane = f"commit:{repository.id}:heads"
    return _internal_delivery(identity, lane, HEADS, payload, now)


def retry_delivery(ids: tuple[str, ...], identity: str, now: datetime) -> Delivery:
    """The delivery that has parked deliveries queued again."""
    return _internal_delivery(identity, "parked:retry", RETRY, {"ids": ids}, now)


def _heads(payload: JsonObject) -> CheckBackfillStep:
    return CheckBackfillStep(
        repository=payloads.parse_repository(payload),
        head=require_text(payload, "head"),
        since=require_time(payload, "since"),
        step=get_integer(payload, "step") or 0,
        page=get_text(payload, "page"),
        fresh=get_integer(payload, "fresh") or 0,
        owners=get_path(payload, "owners") is True,
    )


def _backfill(payload: JsonObject) -> BackfillStep:
    return BackfillStep(
        repository=payloads.parse_repository(payload),
        run=require_text(payload, "run"),
        step=get_integer(payload, "step") or 0,
        page=get_text(payload, "page"),
        read=get_integer(payload, "read") or 0,
        total=get_integer(payload, "total"),
        since=get_time(payload, "since"),
        closing=get_path(payload, "closing") is True,
    )


VALIDATION_ACTION = "validation"
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
    return f"{VALIDATION_ACTION}:{identity}"


def validation_delivery(given: SubmittedValidation, identity: str, now: datetime) -> Delivery:
    """The delivery of a submitted validation, which takes the same path as a webhook."""
    where, author, report = given.repository, given.author, given.report
    lane = f"pr:{where.id}:{given.number}"
    who = (
        {"id": author.id, "login": author.login, "type": "Bot" if author.bot else "User"} if author else None
    )
    payload = {
        "action": VALIDATION_ACTION,
        "lane": lane,
        **repository_payload(where),
        "number": given.number,
        "id": identity,
        "at": now.isoformat(),
        "author": who,
        "role": given.role,
        "head": given.head,
        "content": {
            "body_hash": given.body_hash,
            "document": report.document,
            "tool": report.tool,
            "findings": msgspec.to_builtins(report.results),
        },
    }
    body = msgspec.json.encode(payload)
    return Delivery(validation_delivery_id(identity), INTERNAL_EVENT, lane, where.installation_id, body, now)


def parse_validation(payload: JsonObject) -> Event | IgnoredEvent:
    """Parse a submitted validation."""
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
    payload = {
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
    lane = f"config:{repository.full_name.lower()}"
    # With the minute: the same text may be broken a second time, after it was fixed.
    identity = f"{lane}:{version}:{now:%Y%m%dT%H%M}"
    return _internal_delivery(identity, lane, CONFIG_BROKEN_ACTION, payload, now)


def past_delivery(due: BackfillStep, snapshot: PullRequestSnapshot, now: datetime) -> Delivery:
    """The delivery that has an earlier pull request recorded, once per backfill."""
    repository = due.repository
    pull_request = {**_pull_request_payload(snapshot), "body": snapshot.body}
    payload = {**repository_payload(repository), "pull_request": pull_request}
    identity, lane = f"backfill:{due.run}:pr:{snapshot.number}", f"pr:{repository.id}:{snapshot.number}"
    return _internal_delivery(identity, lane, PAST, payload, now)


def check_backfill_delivery(due: CheckBackfillStep, snapshot: PullRequestSnapshot, now: datetime) -> Delivery:
    """The delivery that has the check run of an open pull request written, once per config change."""
    repository = due.repository
    payload = {
        **repository_payload(repository),
        "pull_request": _pull_request_payload(snapshot),
        "since": due.since.isoformat(),
    }
    identity = f"heads:{repository.id}:{due.head}:pr:{snapshot.number}"
    lane = f"pr:{repository.id}:{snapshot.number}"
    return _internal_delivery(identity, lane, HEAD, payload, now)


def refresh_delivery(pull_request: PullRequest, identity: str, now: datetime) -> Delivery:
    """The delivery that has the comment of a pull request brought up to date, without any news."""
    payload = {
        **repository_payload(pull_request.repository),
        "pull_request": _pull_request_payload(pull_request),
        "since": pull_request.created_at.isoformat(),
    }
    lane = f"pr:{pull_request.repository.id}:{pull_request.number}"
    return _internal_delivery(f"{identity}:{pull_request.number}", lane, HEAD, payload, now)


def revisit_delivery(pull_request: PullRequest, at: datetime, now: datetime, reason: str = "") -> Delivery:
    """The delivery that has a comment refreshed at that time, once a head and reason.

    It waits in a lane of its own.
    """
    payload = {
        **repository_payload(pull_request.repository),
        "pull_request": _pull_request_payload(pull_request),
        "since": at.isoformat(),
    }
    lane = f"revisit:{pull_request.repository.id}:{pull_request.number}{f':{reason}' if reason else ''}"
    return _internal_delivery(f"{lane}:{pull_request.head}", lane, HEAD, payload, now)


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


@dataclass(frozen=True, slots=True)
class CheckRunReporter:
    """Reports a broken config through the inbox, by a delivery whose id makes it happen once."""

    inbox: Store
    clock: Callable[[], datetime]

    async def report(self, repository: Repository, version: str) -> None:
        """Queue the check run on the default branch."""
        await self.inbox.accept(config_broken_delivery(repository, version, self.clock()))
