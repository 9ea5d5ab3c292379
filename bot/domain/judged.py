"""Which pull requests count in a window, and how each stood at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.iterations import standing
from bot.domain.memory import DEAD_AFTER, Record, Window, reaches_back
from bot.domain.model import Account, Stance, Verdict


class State(StrEnum):
    """What a pull request is on GitHub."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Judged:
    """A pull request that counts in a window, as it stood at the window's end."""

    number: int
    author: Account
    at: datetime
    """Its last activity in the window."""
    state: State
    rejected: bool
    first_pass: bool
    """Accepted, and never rejected before."""
    judged: bool
    """Some validator gave a verdict; False for one that was merged without."""
    tags: tuple[str, ...]
    """Named in the window, or still standing at its end."""
    open_tags: tuple[str, ...]
    """Those for which it is rejected at the window's end."""
    iterations: int
    repository: str = ""
    """As of the record."""

    @property
    def key(self) -> tuple[str, int]:
        """Which pull request it is, among those of several repositories."""
        return self.repository, self.number


def judged(
    records: Iterable[Record], window: Window, dead_after: timedelta = DEAD_AFTER
) -> tuple[Judged, ...]:
    """The pull requests that count in the window, the latest activity first."""
    since = reaches_back(window, dead_after)
    near = (record for record in records if record.created_at < window.end and record.last_active >= since)
    found = (
        _judged(record, window, max(active))
        for record in near
        if (active := tuple(_activity(record, window, dead_after)))
    )
    return tuple(sorted(found, key=lambda row: (row.at, row.number, row.repository), reverse=True))


def open_tags(record: Record, at: datetime) -> tuple[str, ...]:
    """The tags that the standing verdicts reject for at this moment, oldest verdict first."""
    return tags_left(record, standing(record.verdicts, at), at)


def tags_left(record: Record, verdicts: Iterable[Verdict], at: datetime) -> tuple[str, ...]:
    """The tags of the rejecting ones among these verdicts that nobody has lifted or overturned by then."""
    named = (
        item.tag
        for verdict in verdicts
        if verdict.stance is Stance.REJECTS and not (verdict.lifted_at and verdict.lifted_at <= at)
        for item in verdict.items
        if item.tag and not _is_overturned(record, item.tag, verdict.at, at)
    )
    return tuple(dict.fromkeys(named))


def judgements(record: Record, until: datetime) -> tuple[Verdict, ...]:
    """The counted approvals and rejections up to this moment, in order."""
    said = (verdict for verdict in record.verdicts if verdict.counted and verdict.at <= until)
    return tuple(
        sorted((verdict for verdict in said if verdict.stance is not Stance.SILENT), key=lambda v: v.at)
    )


def _activity(record: Record, window: Window, dead_after: timedelta) -> Iterator[datetime]:
    yield from (verdict.at for verdict in judgements(record, window.last) if verdict.at in window)
    if record.merged and record.closed_at and record.closed_at in window:
        yield record.closed_at
    pushes = sorted(record.pushed_at) or [record.created_at]
    for push, following in zip(pushes, (*pushes[1:], None), strict=True):
        died = push + dead_after
        pushed_again = following is not None and following <= died
        if died in window and not pushed_again and not _closed_by(record, died) and _rejecting(record, died):
            yield died


def _judged(record: Record, window: Window, at: datetime) -> Judged:
    said = judgements(record, window.last)
    decided = _decided_at(record, window.last)
    rejecting = _rejecting(record, decided)
    left = tags_left(record, rejecting, decided)
    return Judged(
        number=record.number,
        author=record.author,
        at=at,
        state=_state(record, window.last),
        rejected=bool(rejecting),
        first_pass=not rejecting and all(verdict.stance is Stance.APPROVES for verdict in said),
        judged=bool(said),
        tags=tuple(dict.fromkeys((*_named(record, window), *left))),
        open_tags=left,
        iterations=len({verdict.head for verdict in said}),
        repository=record.repository,
    )


def _decided_at(record: Record, at: datetime) -> datetime:
    """The moment whose verdicts count: closing unmerged keeps those that stood then."""
    closed = record.closed_at
    if closed is None or closed > at or record.merged or _rejecting(record, at):
        return at
    return closed


def _named(record: Record, window: Window) -> Iterator[str]:
    for verdict in sorted(record.verdicts, key=lambda verdict: verdict.at):
        if verdict.counted and verdict.at in window:
            yield from (item.tag for item in verdict.items if item.tag)


def _rejecting(record: Record, at: datetime) -> tuple[Verdict, ...]:
    return tuple(verdict for verdict in standing(record.verdicts, at) if verdict.stance is Stance.REJECTS)


def _is_overturned(record: Record, tag: str, named_at: datetime, at: datetime) -> bool:
    return any(found.tag == tag and named_at <= found.at <= at for found in record.overturned)


def _closed_by(record: Record, at: datetime) -> bool:
    return record.closed_at is not None and record.closed_at <= at


def _state(record: Record, at: datetime) -> State:
    if not _closed_by(record, at):
        return State.OPEN
    return State.MERGED if record.merged else State.CLOSED
