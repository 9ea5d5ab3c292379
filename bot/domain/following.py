"""Whether feedback was followed in the next iteration, whether that helped, and how clear it had been."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bot.domain.iterations import Iteration
from bot.domain.line_map import LineMap
from bot.domain.model import Item, Place, Stance, Validator, Verdict
from bot.domain.quality import Finding, clarity
from bot.domain.tracked import Tracking
from bot.domain.trajectory import Scored, delta

_ENOUGH = 0.5
"""The share of its items from which on feedback as a whole counts as followed."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of one file from one head to the next; `lines` is None where that can't be told."""

    changed: bool
    lines: LineMap | None = None


UNTOUCHED = Carried(changed=False)
"""The same blob at both heads: nothing needs to be read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the author did about one item by the next iteration."""

    item: Item
    by: Validator
    changed: bool | None
    """Its lines changed; None where that is not known."""
    resolved: bool
    """Its thread was resolved."""
    gone: bool
    """The same validator spoke again, and no longer says it."""

    @property
    def followed(self) -> bool:
        """Whether any sign shows it."""
        return bool(self.changed) or self.resolved or self.gone


def touched(place: Place | None, files: Mapping[str, Carried]) -> bool | None:
    """Return whether the place changed: its lines, or the file where it names none; None: not known."""
    file = files.get(place.path) if place else None
    if place is None or file is None:
        return None
    if place.line is None or not file.changed:
        return file.changed
    return None if file.lines is None else file.lines.changed(place.line, place.end_line or place.line)


def answers(
    before: Iteration, after: Iteration, files: Mapping[str, Carried], resolved: Collection[str] = ()
) -> tuple[Answer, ...]:
    """Return what became of every open item; `resolved` are the addresses of resolved threads."""
    return tuple(
        Answer(
            item=item,
            by=verdict.validator,
            changed=touched(item.place, files),
            resolved=bool(item.url) and item.url in resolved,
            gone=_is_gone(item, verdict, after),
        )
        for verdict in before.standing
        if verdict.stance is Stance.REJECTS
        for item in verdict.items
    )


def track(
    found: Sequence[Answer],
    before: Scored,
    after: Scored,
    findings: Sequence[Sequence[Finding]],
) -> Tracking:
    """Return how the feedback turned out; `findings` are the quality findings of each of its items."""
    share = sum(answer.followed for answer in found) / len(found) if found else 0.0
    followed = share >= _ENOUGH and bool(found)
    return Tracking(followed, delta(before, after), clarity(findings, followed=followed))


def _is_gone(item: Item, said: Verdict, after: Iteration) -> bool:
    """Whether the validator's next verdict leaves the item out; a dismissal is no such verdict."""
    again = next((each for each in after.standing if each.validator.key == said.validator.key), None)
    if again is None or again.at < said.at:
        return False
    if again.stance is Stance.APPROVES:
        return True
    return not any(_is_same(item, other) for other in again.items)


def _is_same(item: Item, other: Item) -> bool:
    if item.tag is not None or other.tag is not None:
        return item.tag == other.tag
    return (item.aspect, item.words) == (other.aspect, other.words)
