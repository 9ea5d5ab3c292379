"""Whose turn it is, and which checks and reviewers have not reported yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from bot.findings.model import Finding, Ledger, is_blocking
from bot.gates.config import RepositoryRules
from bot.pull_request.model import FindingStatus, PullRequest, Stance, Verdict

APP_PATIENCE = timedelta(minutes=15)
"""How long a reviewing App that usually reports is waited for."""


class Turn(StrEnum):
    """Who has to act next."""

    NOBODY = "nobody"
    MAINTAINER = "maintainer"
    AUTHOR = "author"
    CHECKS = "checks"
    REVIEWER = "reviewer"


def whose_turn(
    pull_request: PullRequest,
    rules: RepositoryRules,
    awaited: Sequence[Finding],
    pending: Sequence[str],
    *,
    needs_decision: bool,
) -> Turn:
    """Return whose turn it is: the first rule that holds; `needs_decision` is a maintainer's."""
    if not pull_request.open:
        return Turn.NOBODY
    if needs_decision:
        return Turn.MAINTAINER
    if pull_request.draft or awaited:
        return Turn.AUTHOR
    is_checked = any(_is_check_name(name, rules) for name in pending)
    return Turn.CHECKS if is_checked else Turn.REVIEWER


def awaited_from_author(
    pull_request: PullRequest, ledger: Ledger, rejecting_verdicts: Iterable[Verdict], rules: RepositoryRules
) -> tuple[Finding, ...]:
    """Return the findings that the author still has to change or answer.

    Those that only warn count where nothing blocks, and where a check fails: it has to pass all the same.
    """
    rejecting = {verdict.validator.key for verdict in rejecting_verdicts}
    findings = [finding for finding in ledger.open if finding.validator.key in rejecting]
    blocking = {finding.number for finding in findings if is_blocking(finding.item, rules.gates)}
    return tuple(
        finding
        for finding in findings
        if (not blocking or finding.number in blocking or finding.validator.key.startswith("check:"))
        and finding.status is not FindingStatus.CHANGED
        and not is_answered(finding, pull_request)
    )


def is_answered(finding: Finding, pull_request: PullRequest) -> bool:
    """Whether the author replied in its thread, or requested its reviewer's review, since it was reported."""
    answers, requests = dict(pull_request.conversation.answers), dict(pull_request.conversation.requests)
    replied_at = answers.get(finding.item.comment_id or 0)
    requested_at = requests.get(_account_id(finding.validator.key))
    return any(at is not None and at > finding.reported_at for at in (replied_at, requested_at))


def pending_reports(
    pull_request: PullRequest, ledger: Ledger, rules: RepositoryRules, now: datetime
) -> tuple[str, ...]:
    """Return the mapped checks that still run, and the named Apps that have not reported at this head yet."""
    if not pull_request.open:
        return ()
    return (*_pending_checks(pull_request, ledger, rules), *_pending_apps(pull_request, rules, now))


def next_report_due(pull_request: PullRequest, rules: RepositoryRules, now: datetime) -> datetime | None:
    """Return when the bot gives up waiting for an App; None if it waits for none."""
    is_waiting = pull_request.open and bool(_pending_apps(pull_request, rules, now))
    return _pushed_at(pull_request) + APP_PATIENCE if is_waiting else None


def _pending_checks(pull_request: PullRequest, ledger: Ledger, rules: RepositoryRules) -> tuple[str, ...]:
    revision = next((other for other in pull_request.revisions if other.head == pull_request.head), None)
    results = revision.checks if revision else ()
    running = [check.name for check in results if check.conclusion is None]
    # Only the name is known of what version 0.1 recorded.
    reported = {check.name if check.app is None else check.validator_key for check in results}
    failed_before = [
        verdict.validator.name
        for verdict in ledger.newest
        if verdict.validator.key.startswith("check:")
        and verdict.stance is Stance.REJECTS
        and verdict.head != pull_request.head
        and reported.isdisjoint((verdict.validator.key, verdict.validator.name))
    ]
    names = dict.fromkeys((*running, *failed_before))
    return tuple(name for name in names if _is_check_name(name, rules))


def _pending_apps(pull_request: PullRequest, rules: RepositoryRules, now: datetime) -> tuple[str, ...]:
    """Return the named Apps that reviewed an earlier head of this pull request, but not this one."""
    if now - _pushed_at(pull_request) >= APP_PATIENCE:
        return ()
    apps = [
        verdict
        for verdict in pull_request.verdicts
        if verdict.counted
        and verdict.validator.bot
        and not verdict.validator.check
        and rules.validators.is_named(verdict.validator.name, bot=True)
    ]
    reported = {verdict.validator.name for verdict in apps if verdict.head == pull_request.head}
    return tuple(dict.fromkeys(v.validator.name for v in apps if v.validator.name not in reported))


def _pushed_at(pull_request: PullRequest) -> datetime:
    spans = [span for span in pull_request.heads if span.head == pull_request.head]
    return spans[-1].first if spans else pull_request.updated_at


def _is_check_name(name: str, rules: RepositoryRules) -> bool:
    return any(rule.covers(name) for rule in rules.validators.checks)


def _account_id(validator_key: str) -> int:
    kind, _, rest = validator_key.partition(":")
    return int(rest) if kind == "user" and rest.isdecimal() else 0
