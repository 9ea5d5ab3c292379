"""What can be said of an item after its claims were looked up?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.domain.grounding.grounded import Grounded
from bot.domain.grounding.result import Outcome, Tool
from bot.domain.model import Place

_WORST = {Outcome.CONTRADICTED: 0, Outcome.UNVERIFIABLE: 1, Outcome.VERIFIED: 2}
_TOLD = {"contents": 0, "check runs": 1, "pull request": 2, "tree": 3}


@dataclass(frozen=True, slots=True)
class ItemGrounding:
    """The claim that decides about an item, and the place where the item is."""

    decisive: Grounded
    place: Place | None = None
    moved_from: int | None = None
    allowed: bool = False
    """The config keeps a claim that nobody could look up, with a mark."""
    also: tuple[Grounded, ...] = ()
    """What else in the item's words is not so."""

    @property
    def outcome(self) -> Outcome:
        """Whether the item may be repeated as a fact."""
        return Outcome(self.decisive.outcome)

    @property
    def confirmed(self) -> bool:
        """Whether it may."""
        return self.outcome is Outcome.VERIFIED

    @property
    def doubted(self) -> bool:
        """Whether the gate has to say that it was not confirmed."""
        return not self.confirmed and not self.allowed

    @property
    def shows_only_a_file(self) -> bool:
        """Whether nothing was confirmed but that a file which the words mention is there."""
        seen = self.decisive
        return self.confirmed and seen.is_place and seen.tool == Tool.TREE

    @property
    def source(self) -> str:
        """Where that was seen: the other file, where it is not the item's own."""
        seen = self.decisive
        elsewhere = seen.path if self.place and seen.path and seen.path != self.place.path else None
        if elsewhere and seen.tool == "contents":
            where = f"{elsewhere}:{seen.line}" if seen.line else elsewhere
            return f"{where} @ {seen.head[:7]}"
        return seen.source


def item_grounding(
    log: Iterable[Grounded], item: str, head: str, place: Place | None
) -> ItemGrounding | None:
    """What was found out about the item at this head; None where nothing had to be."""
    entries = [each for each in log if each.item == item and each.head == head and each.required]
    if not entries:
        return None
    decisive = min(entries, key=_rank)
    located = _located(entries, place)
    found, moved = located or (place, None)
    wrong = {each.note: each for each in entries if each.outcome == Outcome.CONTRADICTED}
    wrong.pop(decisive.note, None)
    return ItemGrounding(decisive, found, moved, also=tuple(wrong.values()))


def _rank(entry: Grounded) -> tuple[int, bool, int, int]:
    # Of equal outcomes the one about something else than the bare place tells more.
    told = _TOLD.get(entry.tool, 9)
    return _WORST[Outcome(entry.outcome)], entry.is_place and not entry.line, told, -(entry.line or 0)


def _located(entries: Sequence[Grounded], place: Place | None) -> tuple[Place, int | None] | None:
    """Where the item is: its own place, as found again; else the only place that its words name."""
    found = [each for each in entries if each.is_place and each.outcome == Outcome.VERIFIED and each.path]
    own = [each for each in found if place is None or each.path == place.path]
    named = {(each.path, each.line) for each in own}
    if not own or (place is None and len(named) > 1):
        return None
    entry = max(own, key=lambda each: each.line is not None and (place is None or place.line is not None))
    first = own[0] if place is not None else entry
    resolved = replace(place, path=first.path or place.path) if place else Place(entry.path or "")
    if first.line is not None:
        resolved = Place(first.path or "", first.line, first.end_line)
    return resolved, first.moved_from
