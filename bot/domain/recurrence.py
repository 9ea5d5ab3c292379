"""Whether an author breaks the same gate again and again, and what helped the last time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bot.domain.fixes import Fix, last_fixes, names
from bot.domain.links import Web
from bot.domain.memory import Record
from bot.domain.model import Repository

WINDOW = 5
"""How many of the author's last pull requests are looked at, this one included."""
ALERT_AT = 3
"""From so many of them on, it is said."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A tag that came back, where it was before, and the commit that fixed it last."""

    tag: str
    times: int
    looked_at: int
    earlier: int
    fix: Fix | None = None


def recurrence(tag: str, number: int, records: Iterable[Record], now: datetime) -> Recurrence | None:
    """The tag's return in this pull request; None below the third time in the author's last five."""
    judged = [record for record in records if any(verdict.counted for verdict in record.verdicts)]
    latest = sorted(judged, key=lambda record: (record.created_at, record.number))[-WINDOW:]
    broken = [record for record in latest if _broke(record, tag)]
    earlier = [record for record in broken if record.number != number]
    if len(broken) < ALERT_AT or len(earlier) == len(broken):
        return None
    fix = last_fixes((record for record in judged if record.number != number), now).get(tag)
    return Recurrence(tag, len(broken), len(latest), earlier[-1].number, fix)


def again(found: Recurrence, repository: Repository, web: Web) -> str:
    """The words behind `Again:`."""
    seen = f"in {found.times} of the last {found.looked_at} pull requests"
    last = f"last in {web.other_pull(repository, found.earlier)}"
    if found.fix is None:
        return f"{seen}, {last}"
    commit = web.other_commit(repository, found.fix.head)
    if found.fix.number == found.earlier:
        return f"{seen}, {last}, fixed there by {commit}"
    return f"{seen}, {last}; fixed by {commit} in {web.other_pull(repository, found.fix.number)}"


def _broke(record: Record, tag: str) -> bool:
    return any(verdict.counted and names(verdict, tag) for verdict in record.verdicts)
