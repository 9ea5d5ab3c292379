"""What `/feedback-history` has to tell about one author."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo

from bot.domain.fixes import Fix, all_fixes, names
from bot.domain.gates import Gates
from bot.domain.judged import Judged, State, judged
from bot.domain.memory import DEAD_AFTER, Record, Window, last_hours, reaches_back
from bot.domain.patterns import Patterns, Tally, patterns, tally
from bot.domain.tracked import Observation
from bot.domain.weeks import week_of

PERIODS = (7, 30, 90)
"""Days that are tried, the shortest first, where no period is asked for."""
MINIMUM = 5
"""Pull requests that make a period worth showing."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Whose history, over what, and by which clock."""

    login: str
    now: datetime
    zone: tzinfo
    hours: int | None = None
    tag: str | None = None
    periods: tuple[int, ...] = PERIODS
    minimum: int = MINIMUM
    dead_after: timedelta = DEAD_AFTER


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where a tag was named last."""

    number: int
    state: State
    at: datetime
    repository: str = ""
    """As of the record."""


@dataclass(frozen=True, slots=True)
class WeekCount:
    """How many of a week's pull requests were rejected; weeks start on this day."""

    monday: datetime
    rejected: int
    total: int


@dataclass(frozen=True, slots=True)
class History:
    """An author's record with what a reader can act on."""

    ask: Ask
    patterns: Patterns
    before: Tally
    rows: tuple[Judged, ...]
    previous: tuple[Judged, ...]
    only_blocker: Mapping[str, int] = field(default_factory=dict)
    """Tag → rejected pull requests in which it alone blocks."""
    sightings: Mapping[str, tuple[Sighting, ...]] = field(default_factory=dict)
    """Tag → where it was named in the window, the latest first."""
    fixes: Mapping[str, Fix] = field(default_factory=dict)
    fixed_in: Mapping[tuple[str, str, int], Fix] = field(default_factory=dict)
    weeks: tuple[WeekCount, ...] = ()
    observed: tuple[Observation, ...] = ()
    """What came of the feedback that the window's iterations answered, about the tag that is asked for."""


def history(
    records: Sequence[Record], gates: Gates, ask: Ask, known_fixes: Mapping[str, Fix] | None = None
) -> History:
    """What these records of one author make; `known_fixes` are the last ones from before the records."""
    hours = ask.hours or chosen_hours(records, ask)
    window = last_hours(hours, ask.now)
    rows = judged(records, window, ask.dead_after)
    previous = judged(records, window.before, ask.dead_after)
    counted = {row.key for row in rows}
    mine = tuple(record for record in records if record.key in counted)
    mended = all_fixes(records, ask.now)
    return History(
        ask=ask,
        patterns=patterns(rows, previous, gates, ask.login, hours),
        before=tally(previous),
        rows=rows,
        previous=previous,
        only_blocker=only_blockers(rows, gates),
        sightings=_sightings(mine, rows, window),
        fixes={**(known_fixes or {}), **{fix.tag: fix for fix in mended}},
        fixed_in={
            (fix.tag, fix.repository, fix.number): fix
            for fix in mended
            if (fix.repository, fix.number) in counted
        },
        weeks=_weeks(rows, ask.zone),
        observed=tuple(
            each
            for record in records
            for each in record.observed
            if each.at in window and ask.tag in (None, each.tag)
        ),
    )


def chosen_hours(records: Iterable[Record], ask: Ask) -> int:
    """The shortest of the periods with enough pull requests, else the longest."""
    known = tuple(records)
    for days in sorted(ask.periods):
        if len(judged(known, last_hours(24 * days, ask.now), ask.dead_after)) >= ask.minimum:
            return 24 * days
    return 24 * max(ask.periods)


def needed_since(ask: Ask) -> datetime:
    """Records that were last active earlier make no difference to the answer."""
    window = last_hours(ask.hours or 24 * max(ask.periods), ask.now)
    return reaches_back(window.before, ask.dead_after)


def only_blockers(rows: Iterable[Judged], gates: Gates) -> dict[str, int]:
    """In how many rejected pull requests each blocking tag alone stands in the way."""
    found: dict[str, int] = {}
    for row in rows:
        blocking = [tag for tag in row.open_tags if (gate := gates.get(tag)) and gate.is_blocking]
        if row.rejected and len(blocking) == 1:
            found[blocking[0]] = found.get(blocking[0], 0) + 1
    return found


def _sightings(
    records: Iterable[Record], rows: Iterable[Judged], window: Window
) -> dict[str, tuple[Sighting, ...]]:
    state = {row.key: row for row in rows}
    found: dict[str, list[Sighting]] = {}
    for record in records:
        row = state[record.key]
        for tag in row.tags:
            said = (v.at for v in record.verdicts if v.counted and v.at < window.end and names(v, tag))
            seen = Sighting(record.number, row.state, max(said), record.repository)
            found.setdefault(tag, []).append(seen)
    return {
        tag: tuple(sorted(seen, key=lambda one: (one.at, one.number, one.repository), reverse=True))
        for tag, seen in found.items()
    }


def _weeks(rows: Iterable[Judged], zone: tzinfo) -> tuple[WeekCount, ...]:
    grouped: dict[datetime, list[Judged]] = {}
    for row in rows:
        grouped.setdefault(week_of(row.at, zone).window(zone).start, []).append(row)
    return tuple(
        WeekCount(monday, sum(row.rejected for row in mine), len(mine))
        for monday, mine in sorted(grouped.items())
    )
