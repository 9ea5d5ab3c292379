"""Whether feedback was followed, with a place and without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.domain.fixes import names
from bot.domain.judged import judgements
from bot.domain.memory import Record, Window
from bot.domain.model import Item, Stance, Verdict


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    part: int = 0
    whole: int = 0


@dataclass(frozen=True, slots=True)
class Followed:
    """How much of the feedback was followed, of that whose fate is known."""

    with_place: Share = Share()
    without_place: Share = Share()


def followed(records: Iterable[Record], window: Window) -> Followed:
    """What became of the items named in the window."""
    known = tuple(fate for record in records for fate in fates(record, window))
    return Followed(
        _share(fate.followed for fate in known if fate.item.place),
        _share(fate.followed for fate in known if not fate.item.place),
    )


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one item."""

    verdict: Verdict
    item: Item
    followed: bool


def fates(record: Record, window: Window) -> Iterator[Fate]:
    """Each item with whether it was followed; those that wait for the next verdict are left out."""
    said = judgements(record, window.last)
    for verdict in said:
        if verdict.at not in window or verdict.stance is not Stance.REJECTS:
            continue
        following = _next_word(verdict, said)
        for item in verdict.items:
            changed = bool(item.url) and item.url in record.followed
            if changed or following:
                again = following is not None and item.tag is not None and names(following, item.tag)
                yield Fate(verdict, item, changed or not again)


def _next_word(verdict: Verdict, said: Iterable[Verdict]) -> Verdict | None:
    """The same validator's next verdict, on another revision."""
    return next(
        (
            later
            for later in said
            if later.at > verdict.at
            and later.validator.key == verdict.validator.key
            and later.head != verdict.head
        ),
        None,
    )


def _share(fates: Iterable[bool]) -> Share:
    known = tuple(fates)
    return Share(sum(known), len(known))
