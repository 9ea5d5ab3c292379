"""The outcome of each pull request in a time window, and the commits that fixed a tag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.findings.ledger import verdict_order
from bot.history.model import INACTIVE_AFTER, HistoryRecord, TimeWindow, earliest_activity
from bot.pull_request.model import Stance, Verdict
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
    tags: tuple[str, ...]
    """Named in the window, or still standing at its end."""
    open_tags: tuple[str, ...]
    """Those for which it is rejected at the window's end."""
    iterations: int
    repository: str = ""
    """The record's."""

    @property
    def key(self) -> tuple[str, int]:
        """Which pull request it is, among those of several repositories."""
        return self.repository, self.number


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


def remaining_tags(record: HistoryRecord, verdicts: Iterable[Verdict], at: datetime) -> tuple[str, ...]:
    """Return the tags of the rejecting verdicts among these that were not lifted or overturned by then."""
    tags = (
        item.tag
        for verdict in verdicts
        if verdict.stance is Stance.REJECTS and not (verdict.lifted_at and verdict.lifted_at <= at)
        for item in verdict.items
        if item.tag and not _was_overturned_by(record, item.tag, verdict.at, at)
    )
    return tuple(dict.fromkeys(tags))


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
        if at in window and not pushed_again and not _closed_by(record, at) and _rejecting(record, at):
            yield at


def _outcome(record: HistoryRecord, window: TimeWindow, at: datetime) -> PullRequestOutcome:
    verdicts = review_verdicts(record, window.last)
    decided_at = _decided_at(record, window.last)
    rejecting = _rejecting(record, decided_at)
    open_tags = remaining_tags(record, rejecting, decided_at)
    return PullRequestOutcome(
        number=record.number,
        author=record.author,
        at=at,
        state=_state(record, window.last),
        rejected=bool(rejecting),
        first_pass=not rejecting and all(verdict.stance is Stance.APPROVES for verdict in verdicts),
        is_reviewed=bool(verdicts),
        tags=tuple(dict.fromkeys((*_named_tags(record, window), *open_tags))),
        open_tags=open_tags,
        iterations=len({verdict.head for verdict in verdicts}),
        repository=record.repository,
    )


def _decided_at(record: HistoryRecord, at: datetime) -> datetime:
    """Return the moment whose verdicts count: closing unmerged keeps those that stood then."""
    closed = record.closed_at
    if closed is None or closed > at or record.merged or _rejecting(record, at):
        return at
    return closed


def _named_tags(record: HistoryRecord, window: TimeWindow) -> Iterator[str]:
    for verdict in sorted(record.verdicts, key=lambda verdict: verdict.at):
        if verdict.counted and verdict.at in window:
            yield from (item.tag for item in verdict.items if item.tag)


def _rejecting(record: HistoryRecord, at: datetime) -> tuple[Verdict, ...]:
    """Return each validator's newest verdict by then, where it rejects and was not lifted."""
    newest = {
        verdict.validator.key: verdict
        for verdict in sorted(record.verdicts, key=verdict_order)
        if verdict.counted and verdict.stance is not Stance.SILENT and verdict.at <= at
    }
    return tuple(
        verdict
        for verdict in sorted(newest.values(), key=verdict_order)
        if verdict.stance is Stance.REJECTS and not (verdict.lifted_at and verdict.lifted_at <= at)
    )


def _was_overturned_by(record: HistoryRecord, tag: str, named_at: datetime, at: datetime) -> bool:
    return any(overturned.tag == tag and named_at <= overturned.at <= at for overturned in record.overturned)


def _closed_by(record: HistoryRecord, at: datetime) -> bool:
    return record.closed_at is not None and record.closed_at <= at


def _state(record: HistoryRecord, at: datetime) -> PullRequestState:
    if not _closed_by(record, at):
        return PullRequestState.OPEN
    return PullRequestState.MERGED if record.merged else PullRequestState.CLOSED


@dataclass(frozen=True, slots=True)
class TagFix:
    """The revision at which no validator named the tag any more, and when that was seen."""

    tag: str
    number: int
    head: str
    at: datetime
    repository: str = ""
    """The record's."""


def find_fixes(record: HistoryRecord, until: datetime) -> tuple[TagFix, ...]:
    """Return the fixes in a pull request, oldest first.

    A tag that went away on the same revision was not fixed: it was dismissed, or somebody thought again.
    """
    return tuple(_fixes(record, review_verdicts(record, until)))


def find_all_fixes(records: Iterable[HistoryRecord], until: datetime) -> tuple[TagFix, ...]:
    """Return the fixes in these pull requests, oldest first."""
    fixes = (fix for record in records for fix in find_fixes(record, until))
    return tuple(sorted(fixes, key=lambda fix: fix.at))


def latest_fixes(records: Iterable[HistoryRecord], until: datetime) -> dict[str, TagFix]:
    """Return the latest fix of each tag."""
    return {fix.tag: fix for fix in find_all_fixes(records, until)}


def was_fixed_next(record: HistoryRecord, tag: str, window: TimeWindow) -> bool:
    """Whether the iteration after the first one that named the tag in the window no longer had it."""
    verdicts = review_verdicts(record, window.last)
    naming = next(
        (verdict for verdict in verdicts if verdict.at in window and verdict_names_tag(verdict, tag)), None
    )
    if naming is None:
        return False
    following = next((v for v in verdicts if v.at > naming.at and v.head != naming.head), None)
    return following is not None and any(
        fix.tag == tag and fix.head == following.head and fix.at >= following.at
        for fix in find_fixes(record, window.last)
    )


def verdict_names_tag(verdict: Verdict, tag: str) -> bool:
    """Whether the verdict has an item with this tag."""
    return any(item.tag == tag for item in verdict.items)


def _fixes(record: HistoryRecord, verdicts: tuple[Verdict, ...]) -> Iterator[TagFix]:
    standing: dict[str, Verdict] = {}
    named_at: dict[str, str | None] = {}
    for verdict in verdicts:
        before = remaining_tags(record, standing.values(), verdict.at)
        standing[verdict.validator.key] = verdict
        after = remaining_tags(record, standing.values(), verdict.at)
        for tag in before:
            if tag not in after and verdict.head and named_at[tag] != verdict.head:
                yield TagFix(tag, record.number, verdict.head, verdict.at, record.repository)
        named_at.update((item.tag, verdict.head) for item in verdict.items if item.tag)
