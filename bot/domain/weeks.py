"""Which days an ISO week has in a time zone, and which week a moment belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from bot.domain import regex
from bot.domain.memory import Window

_NAME = regex.Pattern(r"(\d{4})-W(\d{2})")


@dataclass(frozen=True, slots=True, order=True)
class Week:
    """An ISO week: Monday to Sunday, the first one holds the year's first Thursday."""

    year: int
    number: int

    def __str__(self) -> str:
        """`2026-W46`."""
        return f"{self.year}-W{self.number:02}"

    @property
    def monday(self) -> date:
        """Its first day."""
        return date.fromisocalendar(self.year, self.number, 1)

    def back(self, weeks: int) -> Week:
        """The week so many weeks earlier."""
        return _of_day(self.monday - timedelta(weeks=weeks))

    def window(self, zone: tzinfo) -> Window:
        """From midnight to midnight there, which is an hour more or less where clocks are changed."""
        return Window(_midnight(self.monday, zone), _midnight(self.monday + timedelta(weeks=1), zone))


def week_of(moment: datetime, zone: tzinfo) -> Week:
    """The week that people there have at this moment."""
    return _of_day(moment.astimezone(zone).date())


def week_named(name: str) -> Week | None:
    """The week of a name such as `2026-W46`; None for anything else."""
    found = _NAME.fullmatch(name)
    if found is None or not _exists(week := Week(int(found[1]), int(found[2]))):
        return None
    return week


def due_at(week: Week, zone: tzinfo, weekday: int, at: time) -> datetime:
    """When the summary of a finished week is due: that weekday (Monday is 0) and time of the week after."""
    day = week.monday + timedelta(weeks=1, days=weekday)
    return datetime.combine(day, at, zone).astimezone(UTC)


def latest_due(now: datetime, zone: tzinfo, weekday: int, at: time) -> Week:
    """The last finished week whose summary is due by now: after downtime only that one is caught up."""
    week = week_of(now, zone).back(1)
    return week if due_at(week, zone, weekday, at) <= now else week.back(1)


def _of_day(day: date) -> Week:
    year, number, _ = day.isocalendar()
    return Week(year, number)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _exists(week: Week) -> bool:
    try:
        return _of_day(week.monday) == week
    except ValueError:
        return False
