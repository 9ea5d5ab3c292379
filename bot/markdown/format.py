"""Format counts, percentages, lists and dates for sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import lru_cache
from typing import TypeVar

from bot import regex
from bot.markdown.escape import escape_mentions, table_cell, truncate

Item = TypeVar("Item")

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_SENTENCE_END = regex.Regex(r"(?P<abbreviation>\b(?:e\.g|i\.e|etc|vs)[.!?])|[.!?]\s+[\"'`(]?[A-Z0-9]")
_SENTENCE = 200  # characters of a fix that a cell shows


def format_count(number: int, noun: str) -> str:
    """Format a count: `1 pull request`, `2 pull requests`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def to_percent(part: int, whole: int) -> int:
    """Return the share in whole percent, a half rounded up."""
    return (200 * part + whole) // (2 * whole)


def format_share(part: int, whole: int) -> str:
    """Format a share: `6 of 14 (43%)`."""
    return f"{part} of {whole} ({to_percent(part, whole)}%)"


def format_people(number: int) -> str:
    """Return a number of people: `1 person`, `2 people`."""
    return "1 person" if number == 1 else f"{number} people"


def format_out_of(part: int, whole: int, noun: str) -> str:
    """Format a part: `3 of the 5 reviews`, `both reviews`, `all 5 reviews` or `the only review`."""
    if whole == 1:
        return f"the only {noun}"
    if part == whole:
        return f"both {noun}s" if whole == 2 else f"all {whole} {noun}s"
    return f"{part} of the {whole} {noun}s"


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Join words: `a, b and c`; empty for none."""
    return "".join(words) if len(words) < 2 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def fold(result: str, inside: str) -> str:
    """Return Markdown that is shown on a click; `result` says what it comes to."""
    return f"<details><summary>{result}</summary>\n\n{inside}\n\n</details>"


def format_table(
    head: str,
    items: Sequence[Item],
    row: Callable[[Item], Iterable[object]],
    noun: str = "row",
    limit: int = 20,
) -> str:
    """Format a table of the first items, with a count of the others; `head` is its first two lines."""
    lines = (f"| {' | '.join(table_cell(str(cell)) for cell in row(item))} |" for item in items[:limit])
    left = len(items) - limit
    more = f"\n\nAnd {format_count(left, f'more {noun}')}." if left > 0 else ""
    return "\n".join((head, *lines)) + more


@lru_cache(1024)  # of the same gates at every history and week
def first_sentence(text: str) -> str:
    """Return the first sentence of a gate's text, with mentions escaped."""
    ends = (match.start() + 1 for match in _SENTENCE_END.finditer(text) if not match["abbreviation"])
    return escape_mentions(truncate(text[: next(ends, len(text))], _SENTENCE))


def format_period(hours: int) -> str:
    """Format a period: `30 days`, `24 hours`."""
    return format_count(hours, "hour") if hours < 48 or hours % 24 else format_count(hours // 24, "day")


def format_period_argument(hours: int) -> str:
    """Format a period as a command takes it: `30d`, `36h`."""
    return f"{hours}h" if hours % 24 else f"{hours // 24}d"


def format_short_day(day: date, today: date) -> str:
    """Format a day: `12 Nov`, with the year where it is not the current one."""
    year = "" if day.year == today.year else f" {day.year}"
    return f"{day.day} {_MONTHS[day.month - 1][:3]}{year}"


def format_short_range(first: date, last: date) -> str:
    """Format days: `9–15 Nov`, `26 Oct–1 Nov`."""
    end = f"{last.day} {_MONTHS[last.month - 1][:3]}"
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{end}"
    return f"{first.day} {_MONTHS[first.month - 1][:3]}–{end}"


def format_long_range(first: date, last: date) -> str:
    """Format days: `9–15 November 2026`, `26 October–1 November 2026`, `29 December 2025–4 January 2026`."""
    end = f"{last.day} {_MONTHS[last.month - 1]} {last.year}"
    if first == last:
        return end
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{end}"
    year = "" if first.year == last.year else f" {first.year}"
    return f"{first.day} {_MONTHS[first.month - 1]}{year}–{end}"
