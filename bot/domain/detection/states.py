"""What follows what in all phrases at once: worked out when a text first asks, then remembered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from bot.domain.detection.classes import Classes
from bot.domain.detection.net import Net

MOST_STEPS = 250_000
"""How many steps between states are remembered; a text that makes more only costs what was learnt before."""

BEYOND = -1
"""What stands behind the end of a sentence; no class of words has this number."""

Live: TypeAlias = "tuple[Nexts, tuple[int, ...], Place]"
"""By class where the next word leads, the cues whose phrases end here, and the place in the phrases."""
State: TypeAlias = "Live | tuple[()]"
"""Empty where no phrase goes on or ends."""
Nexts: TypeAlias = "dict[int, State]"


class Place:
    """The points of all phrases that the words so far lead to."""

    __slots__ = ("names", "other", "points")

    def __init__(self, points: tuple[int, ...]) -> None:
        self.points = points
        self.names: frozenset[int] | None = None
        """The symbols that lead on; found when it is first asked where a word leads."""
        self.other: State = ()
        """Where a word leads that has none of these symbols."""


class States:
    """The states of one net; there are too many to work out those that no text ever comes to."""

    __slots__ = ("_classes", "_known", "_net", "_steps", "begun")

    def __init__(self, net: Net, classes: Classes) -> None:
        self._net = net
        self._classes = classes
        self._forget()

    def begin(self, kind: int) -> State:
        """Return the state after the first word of a phrase."""
        leads = self._net.begins
        fresh = [to for symbol in self._classes.symbols[kind] for to in leads.get(symbol, ())]
        state = self.begun[kind] = self._state(fresh, fresh)
        return state

    def follow(self, state: Live, kind: int) -> State:
        """Return the state after one more word."""
        if self._steps >= MOST_STEPS:
            self._forget()
        self._steps += 1
        nexts, _, place = state
        if place.names is None or not place.names.isdisjoint(self._classes.symbols[kind]):
            follower = self._follower(place, kind)
        else:
            follower = place.other
        nexts[kind] = follower
        return follower

    def _follower(self, place: Place, kind: int) -> State:
        net, symbols = self._net, self._classes.symbols[kind]
        if place.names is None:
            fresh = self._led(place, (0,))
            place.other = self._state(fresh, fresh)
            place.names = net.unheard.union(*[net.steps[at] for at in place.points])
        if place.names.isdisjoint(symbols):
            return place.other
        if not net.unheard.isdisjoint(symbols):
            fresh = self._led(place, symbols)
            return self._state([*fresh, *place.points], fresh)
        fresh = self._led(place, (0, *symbols))
        return self._state(fresh, fresh)

    def _led(self, place: Place, symbols: Iterable[int]) -> list[int]:
        """Return the points that these symbols lead to."""
        steps = [self._net.steps[at] for at in place.points]
        return [to for one in symbols for leads in steps if one in leads for to in leads[one]]

    def _state(self, points: list[int], fresh: list[int]) -> State:
        """Return the state of these points, of which the fresh ones were reached by the last word."""
        if not points:
            return ()
        cues, steps = self._net.cues, self._net.steps
        ends = tuple(sorted({cues[at] for at in fresh} - {-1}))
        key = (tuple(sorted({at for at in points if steps[at]})), ends)
        state = self._known.get(key)
        if state is None:
            state = self._known[key] = ({BEYOND: ()}, ends, Place(key[0]))
        return state

    def _forget(self) -> None:
        self.begun: Nexts = {}
        """By class the state after the first word of a phrase."""
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], State] = {}
        self._steps = 0
