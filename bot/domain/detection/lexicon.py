"""Where the phrases of the cues stand in a sentence: one step a word, whatever the number of phrases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bot.domain.detection.net import Net
from bot.domain.detection.words import WHO

MOST_STATES = 60_000
"""How many steps between states are remembered; a text that makes more only costs what was learnt before."""

MOST_WORDS = 10_000
"""How many words that are in no phrase are remembered as such."""

MOST_TIMES = 5
"""How often in a long sentence phrases may begin with the same word; repeating oneself says no more."""


class Found(NamedTuple):
    """A cue's phrase in a sentence: which cue, and the words from `start` up to `end`."""

    cue: int
    start: int
    end: int


class Lexicon:
    """All phrases at once; what follows what is worked out when a text first asks, then remembered.

    Words that the phrases do not tell apart are of one class, and a state leads on by class: however
    many words people use, there are only so many steps.
    """

    def __init__(self, phrases: Iterable[tuple[int, str]], lists: Mapping[str, Iterable[str]]) -> None:
        self._net = Net(phrases, tuple(lists))
        self._prefixes: dict[str, list[str]] = {}
        self._classes: list[frozenset[int]] = []
        self._numbers: dict[frozenset[int], int] = {}
        self._known: dict[str, int] = {}
        self._learn_words(lists)
        self._kinds = dict(self._known)
        self._reset()

    def find(self, words: tuple[str, ...]) -> list[Found]:
        """Return every phrase that stands in the sentence, by its first word."""
        line, anchor = _anchored(words)
        last = len(line)
        known, other = self._kinds.get, self._class_of
        classes = [known(word) or other(word) for word in line]
        beginnings = range(last) if last <= _SHORT else _not_repeated(classes)
        classes.append(_END)
        root = self._root
        found: list[Found] = []
        for first in beginnings:
            state = root[classes[first]]
            if state is None:
                state = self._begin(classes[first])
            at = first + 1
            while state:
                if state.cues:
                    start, end = first - (first > anchor), min(at - (at > anchor), last - 2)
                    found += [Found(cue, start, end) for cue in state.cues]
                follower = state.get(classes[at])
                state = self._follow(state, classes[at]) if follower is None else follower
                at += 1
        return found

    def _begin(self, kind: int) -> _State:
        begins = self._net.begins
        fresh = [to for symbol in self._classes[kind] for to in begins.get(symbol, ())]
        state = self._root[kind] = self._state(fresh, fresh)
        return state

    def _follow(self, state: _State, kind: int) -> _State:
        if self._steps >= MOST_STATES:
            self._reset()
        if state.names is None:
            state.names = frozenset().union(*[self._net.steps[at] for at in state.points])
        symbols = self._classes[kind]
        if kind in self._unheard:
            fresh = self._led(state, symbols)
            follower = self._state([*fresh, *state.points], fresh)
        elif state.names.isdisjoint(symbols):
            follower = self._other(state) if state.other is None else state.other
        else:
            fresh = self._led(state, (0, *symbols))
            follower = self._state(fresh, fresh)
        state[kind] = follower
        self._steps += 1
        return follower

    def _other(self, state: _State) -> _State:
        fresh = self._led(state, (0,))
        state.other = self._state(fresh, fresh)
        return state.other

    def _led(self, state: _State, symbols: Iterable[int]) -> list[int]:
        """Return the points that these symbols lead to."""
        steps = [self._net.steps[at] for at in state.points]
        return [to for one in symbols for leads in steps if one in leads for to in leads[one]]

    def _state(self, points: list[int], fresh: list[int]) -> _State:
        """Return the state of these points, of which the fresh ones were reached by the last word."""
        cues, steps = self._net.cues, self._net.steps
        ends = tuple(sorted({cues[at] for at in fresh} - {-1}))
        key = (tuple(sorted({at for at in points if steps[at]})), ends)
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = _State(*key)
        return state

    def _learn_words(self, lists: Mapping[str, Iterable[str]]) -> None:
        for symbol in self._net.symbols:
            if symbol.endswith("*"):
                self._prefixes.setdefault(symbol[0], []).append(symbol[:-1])
        named: dict[str, list[str]] = {}
        for name, words in lists.items():
            for word in words:
                named.setdefault(word, []).append(f"{{{name}}}")
        self._number(frozenset((0,)))  # so that no class is 0, which is false
        for word in (*self._net.symbols, *named, *_UNHEARD):
            self._known[word] = self._number(self._symbols(word, named.get(word, ())))
        self._unheard = frozenset(self._known[word] for word in _UNHEARD)

    def _symbols(self, word: str, named: Iterable[str]) -> frozenset[int]:
        stems = self._prefixes.get(word[0], ())
        meant = (word, *named, *(f"{stem}*" for stem in stems if word.startswith(stem)))
        # A sign that phrases go on over is told from other words even where no phrase names it.
        own = {-1 - _UNHEARD.index(word)} if word in _UNHEARD else set()
        return frozenset({self._net.symbols[one] for one in meant if one in self._net.symbols} | own)

    def _number(self, symbols: frozenset[int]) -> int:
        if symbols not in self._numbers:
            self._numbers[symbols] = len(self._classes)
            self._classes.append(symbols)
        return self._numbers[symbols]

    def _class_of(self, word: str) -> int:
        """Return the class of a word that no phrase or list names: what its beginning says, or none."""
        if len(self._kinds) >= len(self._known) + MOST_WORDS:
            self._kinds = dict(self._known)
        kind = self._kinds[word] = self._number(self._symbols(word, ()))
        self._root += [None] * (len(self._classes) - len(self._root))
        return kind

    def _reset(self) -> None:
        self._states: dict[tuple[tuple[int, ...], tuple[int, ...]], _State] = {}
        self._root: list[_State | None] = [None] * len(self._classes)
        self._steps = 0


class _State(dict[int, "_State"]):
    """The points of all phrases that the words so far lead to, and by class where the next word leads.

    Where nothing goes on and nothing ends it is empty; else it knows at least that nothing follows the end.
    """

    __slots__ = ("cues", "names", "other", "points")

    def __init__(self, points: tuple[int, ...], cues: tuple[int, ...]) -> None:
        super().__init__({_END: _NOWHERE} if points or cues else ())
        self.points = points
        self.cues = cues
        self.names: frozenset[int] | None = None
        """The symbols that lead on; found when it is first asked where a word leads."""
        self.other: _State | None = None
        """Where a word leads that has none of these symbols."""


_END = -1  # no class of words has this number
_NOWHERE = _State((), ())
_SHORT = 30
_UNHEARD = (",", "^")  # a phrase goes on over them
_FILLERS = frozenset(
    (WHO, ",", "hi", "hello", "hey", "hmm", "hm", "well", "btw", "also", "ah", "oh", "so", "and")
)


def _anchored(words: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Put `^` before the first word that says something, and `$` at the end."""
    at = 0
    while at < len(words) and words[at] in _FILLERS:
        at += 1
    return (*words[:at], "^", *words[at:], "$"), at


def _not_repeated(classes: list[int]) -> list[int]:
    """Return where phrases may begin in a long sentence."""
    begun: dict[int, int] = {}
    found = []
    for at, kind in enumerate(classes):
        begun[kind] = times = begun.get(kind, 0) + 1
        if times <= MOST_TIMES:
            found.append(at)
    return found
