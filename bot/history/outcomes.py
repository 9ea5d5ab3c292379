"""The outcome of each pull request in a time window, and the commits that fixed a tag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.history.model import INACTIVE_AFTER, FindingHistory, HistoryRecord, TimeWindow, earliest_activity
from bot.pull_request.model import FindingStatus, Stance, Verdict
from bot.values import Account


class PullRequestState(StrEnum):
    """The state of a pull request on GitHub."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class PullRequestOutcome:
    """A pull request that counts in a window, as it stood at the window's end."""

    number: int
    author: Account
    at: datetime
    """Its last activity in the window."""
    state: PullRequestState
    rejected: bool
    first_pass: bool
    """Accepted, and never rejected before."""
    is_reviewed: bool
    """A validator gave a verdict; False for one that was merged without."""
    findings: tuple[FindingHistory, ...]
    """Reported in the window, or still open at its end."""
    open_findings: tuple[FindingHistory, ...]
    """Those for which it is rejected at the window's end."""
    iterations: int
    repository: str = ""
    has_unnamed_blocker: bool = False
    """Rejected also by somebody who named no finding, or more of them than are kept."""

    @property
    def key(self) -> tuple[str, int]:
        """Which pull request it is, among those of several repositories."""
        return self.repository, self.number

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of its findings, each once."""
        return tuple(dict.fromkeys(finding.tag for finding in self.findings if finding.tag))


def outcomes_in_window(
    records: Iterable[HistoryRecord], window: TimeWindow, inactive_after: timedelta = INACTIVE_AFTER
) -> tuple[PullRequestOutcome, ...]:
    """Return the pull requests that count in the window, the latest activity first."""
    since = earliest_activity(window, inactive_after)
    outcomes = [
        _outcome(record, window, max(activity))
        for record in records
        if record.created_at < window.end and record.last_active >= since
        if (activity := tuple(_activity(record, window, inactive_after)))
    ]
    outcomes.sort(key=lambda outcome: (outcome.at, outcome.number, outcome.repository), reverse=True)
    return tuple(outcomes)


def review_verdicts(record: HistoryRecord, until: datetime) -> tuple[Verdict, ...]:
    """Return the counted approvals and rejections up to this moment, in order."""
    verdicts = [
        verdict
        for verdict in record.verdicts
        if verdict.counted and verdict.at <= until and verdict.stance is not Stance.SILENT
    ]
    return tuple(sorted(verdicts, key=lambda verdict: verdict.at))


def _activity(record: HistoryRecord, window: TimeWindow, inactive_after: timedelta) -> Iterator[datetime]:
    yield from (verdict.at for verdict in review_verdicts(record, window.last) if verdict.at in window)
    if record.merged and record.closed_at and record.closed_at in window:
        yield record.closed_at
    pushes = sorted(record.pushed_at) or [record.created_at]
    for push, following in zip(pushes, (*pushes[1:], None), strict=True):
        at = push + inactive_after
        pushed_again = following is not None and following <= at
        if at in window and not pushed_again and not _closed_by(record, at) and record.rejecting_at(at):
            yield at


def _outcome(record: HistoryRecord, window: TimeWindow, at: datetime) -> PullRequestOutcome:
    verdicts = review_verdicts(record, window.last)
    decided_at = _decided_at(record, window.last)
    rejecting = record.rejecting_at(decided_at)
    open_ids = {item.finding for verdict in rejecting for item in verdict.items}
    return PullRequestOutcome(
        number=record.number,
        author=record.author,
        at=at,
        state=_state(record, window.last),
        rejected=bool(rejecting),
        first_pass=not rejecting and not any(has_rejected(verdict, record) for verdict in verdicts),
        is_reviewed=bool(verdicts),
        findings=tuple(
            finding for finding in record.findings if finding.id in open_ids or finding.last_report(window)
        ),
        open_findings=tuple(finding for finding in record.findings if finding.id in open_ids),
        iterations=len({verdict.head for verdict in verdicts}),
        repository=record.repository,
        has_unnamed_blocker=any(map(record.names_nothing, rejecting)),
    )


def _decided_at(record: HistoryRecord, at: datetime) -> datetime:
    """Return the moment whose verdicts count: closing unmerged keeps those that stood then."""
    closed = record.closed_at
    if closed is None or closed > at or record.merged or record.rejecting_at(at):
        return at
    return closed


def has_rejected(verdict: Verdict, record: HistoryRecord) -> bool:
    """Whether the verdict rejected: an advisory one does so only by a finding that blocks."""
    return verdict.stance is Stance.REJECTS and (
        not verdict.advisory
        or any(finding.blocks and finding.validator == verdict.validator.key for finding in record.findings)
    )


def _closed_by(record: HistoryRecord, at: datetime) -> bool:
    return record.closed_at is not None and record.closed_at <= at


def _state(record: HistoryRecord, at: datetime) -> PullRequestState:
    if not _closed_by(record, at):
        return PullRequestState.OPEN
    return PullRequestState.MERGED if record.merged else PullRequestState.CLOSED


@dataclass(frozen=True, slots=True)
class TagFix:
    """The revision at which the last open finding with the tag was fixed, and when that was seen."""

    tag: str
    number: int
    head: str
    at: datetime
    repository: str = ""


def find_fixes(record: HistoryRecord, until: datetime) -> tuple[TagFix, ...]:
    """Return the fixes in a pull request, oldest first."""
    fixes = (
        TagFix(finding.tag, record.number, change.head, change.at, record.repository)
        for finding in record.findings
        for change in finding.changes
        if finding.tag and change.status is FindingStatus.FIXED and change.at <= until
    )
    last = (fix for fix in dict.fromkeys(fixes) if not _is_tag_open(record, fix.tag, fix.at))
    return tuple(sorted(last, key=lambda fix: fix.at))


def _is_tag_open(record: HistoryRecord, tag: str, at: datetime) -> bool:
    statuses = (finding.status_at(at) for finding in record.findings if finding.tag == tag)
    return any(status is not None and status.is_open for status in statuses)


def find_all_fixes(records: Iterable[HistoryRecord], until: datetime) -> tuple[TagFix, ...]:
    """Return the fixes in these pull requests, oldest first."""
    fixes = (fix for record in records for fix in find_fixes(record, until))
    return tuple(sorted(fixes, key=lambda fix: fix.at))


def latest_fixes(records: Iterable[HistoryRecord], until: datetime) -> dict[str, TagFix]:
    """Return the latest fix of each tag."""
    return {fix.tag: fix for fix in find_all_fixes(records, until)}


def was_fixed_next(record: HistoryRecord, tag: str, window: TimeWindow) -> bool:
    """Whether the iteration after the first one that reported the tag in the window fixed it."""
    reports = [
        change
        for finding in record.findings
        for change in finding.changes
        if finding.tag == tag and change.status.is_open and change.at in window
    ]
    if not reports:
        return False
    first = min(reports, key=lambda change: change.at)
    later = [verdict for verdict in review_verdicts(record, window.last) if verdict.at > first.at]
    return any(
        fix.tag == tag
        and fix.at > first.at
        and all(verdict.head in {first.head, fix.head} for verdict in later if verdict.at < fix.at)
        for fix in find_fixes(record, window.last)
    )


def has_status_in(record: HistoryRecord, tag: str, status: FindingStatus, window: TimeWindow) -> bool:
    """Whether a finding with the tag got this status in the window."""
    return any(
        change.status is status and change.at in window
        for finding in record.findings
        if finding.tag == tag
        for change in finding.changes
    )
