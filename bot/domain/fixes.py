"""Which commit made a tag go away, and whether the next iteration did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from bot.domain.judged import judgements, tags_left
from bot.domain.memory import Record, Window
from bot.domain.model import Verdict


@dataclass(frozen=True, slots=True)
class Fix:
    """The revision at which no validator named the tag any more, and when that was seen."""

    tag: str
    number: int
    head: str
    at: datetime
    repository: str = ""
    """As of the record."""


def fixes(record: Record, until: datetime) -> tuple[Fix, ...]:
    """The fixes in a pull request, oldest first.

    A tag that went away on the same revision was not fixed: it was dismissed, or somebody thought again.
    """
    return tuple(_fixes(record, judgements(record, until)))


def all_fixes(records: Iterable[Record], until: datetime) -> tuple[Fix, ...]:
    """The fixes in these pull requests, oldest first."""
    return tuple(sorted((fix for one in records for fix in fixes(one, until)), key=lambda fix: fix.at))


def last_fixes(records: Iterable[Record], until: datetime) -> dict[str, Fix]:
    """The latest fix of each tag."""
    return {fix.tag: fix for fix in all_fixes(records, until)}


def was_fixed_next(record: Record, tag: str, window: Window) -> bool:
    """Whether the iteration after the first one that named the tag in the window no longer had it."""
    said = judgements(record, window.last)
    naming = next((verdict for verdict in said if verdict.at in window and names(verdict, tag)), None)
    if naming is None:
        return False
    following = next((v for v in said if v.at > naming.at and v.head != naming.head), None)
    return following is not None and any(
        fix.tag == tag and fix.head == following.head and fix.at >= following.at
        for fix in fixes(record, window.last)
    )


def names(verdict: Verdict, tag: str) -> bool:
    """Whether the verdict has an item with this tag."""
    return any(item.tag == tag for item in verdict.items)


def _fixes(record: Record, said: tuple[Verdict, ...]) -> Iterator[Fix]:
    stands: dict[str, Verdict] = {}
    named_at: dict[str, str | None] = {}
    for verdict in said:
        before = tags_left(record, stands.values(), verdict.at)
        stands[verdict.validator.key] = verdict
        after = tags_left(record, stands.values(), verdict.at)
        for tag in before:
            if tag not in after and verdict.head and named_at[tag] != verdict.head:
                yield Fix(tag, record.number, verdict.head, verdict.at, record.repository)
        named_at.update((item.tag, verdict.head) for item in verdict.items if item.tag)
