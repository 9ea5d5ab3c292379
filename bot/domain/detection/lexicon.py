"""Where the phrases of the cues stand in a sentence: one step a word, whatever the number of phrases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from bot.domain.detection.classes import Classes
from bot.domain.detection.net import Net
from bot.domain.detection.states import BEYOND, States
from bot.domain.detection.words import WHO

MOST_TIMES = 5
"""How often in a long sentence phrases may begin with the same word; repeating oneself says no more."""

Found: TypeAlias = tuple[int, int, int]
"""A cue's phrase in a sentence: which cue, and the words from where up to where."""


class Lexicon:
    """All phrases at once."""

    __slots__ = ("_classes", "_states")

    def __init__(self, phrases: Iterable[tuple[int, str]], lists: Mapping[str, Iterable[str]]) -> None:
        net = Net(phrases, tuple(lists))
        self._classes = Classes(net.symbols, lists)
        self._states = States(net, self._classes)

    def find(self, words: tuple[str, ...]) -> list[Found]:
        """Return every phrase that stands in the sentence, by its first word."""
        classes = self._classes.of(words)
        anchor = _first_that_says_something(words) if words[0] in _FILLERS else 0
        classes.insert(anchor, self._classes.start)
        classes.append(self._classes.end)
        many = len(classes)
        beginnings = range(many) if many <= _SHORT else _not_repeated(classes)
        classes.append(BEYOND)
        states = self._states
        begun, begin, follow = states.begun.get, states.begin, states.follow
        ended: list[tuple[int, int, tuple[int, ...]]] = []
        left = _STEPS_A_WORD * many + _MORE_STEPS
        for first in beginnings:
            at = first
            kind = classes[at]
            state = begun(kind)
            if state is None:
                state = begin(kind)
            while state:
                at += 1
                nexts, cues, _ = state
                if cues:
                    ended.append((first, at, cues))
                kind = classes[at]
                follower = nexts.get(kind)
                state = follow(state, kind) if follower is None else follower
            left -= at - first
            if left < 0:
                break
        last = len(words)
        return [
            (cue, first - (first > anchor), min(end - (end > anchor), last))
            for first, end, cues in ended
            for cue in cues
        ]


_SHORT = 30
_STEPS_A_WORD, _MORE_STEPS = 4, 30
"""After how many steps a sentence is given up: twice what usual ones take; those made to hurt take more."""
_FILLERS = frozenset(
    (WHO, ",", "hi", "hello", "hey", "hmm", "hm", "well", "btw", "also", "ah", "oh", "so", "and")
)


def _first_that_says_something(words: tuple[str, ...]) -> int:
    return next((at for at, word in enumerate(words) if word not in _FILLERS), len(words))


def _not_repeated(classes: list[int]) -> list[int]:
    """Return where phrases may begin in a long sentence."""
    begun: dict[int, int] = {}
    found = []
    for at, kind in enumerate(classes):
        begun[kind] = times = begun.get(kind, 0) + 1
        if times <= MOST_TIMES:
            found.append(at)
    return found
