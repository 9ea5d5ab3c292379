"""Where the phrases of the cues stand in a sentence: one step a word, whatever the number of phrases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bot.domain.detection.pattern import ANY, Node, closure, compile_phrase
from bot.domain.detection.words import WHO

MOST_STATES = 50_000
"""How many states are remembered; a text that makes more only costs what was learnt before."""


MOST_TIMES = 5
"""How often in one sentence phrases may begin with the same word; repeating oneself says no more."""


class Found(NamedTuple):
    """A cue's phrase in a sentence: which cue, and the words from `start` up to `end`."""

    cue: int
    start: int
    end: int


class Lexicon:
    """All phrases at once; what follows what is worked out when a text first asks, then remembered."""

    def __init__(self, phrases: Iterable[tuple[int, str]], lists: Mapping[str, Iterable[str]]) -> None:
        self._lists: dict[str, list[str]] = {}
        for name, words in lists.items():
            for word in words:
                self._lists.setdefault(word, []).append(f"{{{name}}}")
        self._prefixes: dict[str, set[str]] = {}
        starts = [compile_phrase(phrase, cue, lists) for cue, phrase in phrases]
        self._first: dict[str, list[Node]] = {}
        for start in starts:
            for symbol, node in _steps(closure(start)):
                self._first.setdefault(symbol, []).append(node)
                self._note_prefix(symbol)
        self._reset()

    def find(self, words: tuple[str, ...]) -> list[Found]:
        """Return every phrase that stands in the sentence, by its first word."""
        line, anchor = _anchored(words)
        last = len(line)
        known = self._root
        found: list[Found] = []
        begun: dict[str, int] = {}
        for first, word in enumerate(line):
            state = known.get(word) or self._begin(word)
            if not state.lives:
                continue
            times = begun[word] = begun.get(word, 0) + 1
            if times > MOST_TIMES:
                continue
            at = first + 1
            while state.lives:
                if state.cues:
                    start, end = first - (first > anchor), min(at - (at > anchor), last - 2)
                    found += [Found(cue, start, end) for cue in state.cues]
                if at == last:
                    break
                state = state.after.get(line[at]) or self._follow(state, line[at])
                at += 1
        return found

    def _begin(self, word: str) -> _State:
        nodes = [node for symbol in self._symbols(word) for node in self._first.get(symbol, ())]
        if len(self._root) >= MOST_STATES:
            self._reset()
        state = self._root[word] = self._state(nodes, nodes)
        return state

    def _follow(self, state: _State, word: str) -> _State:
        symbols = {*self._symbols(word), ANY}
        if word in _UNHEARD:
            symbols = {word}
        fresh = [node for symbol, node in _steps(state.nodes) if symbol in symbols]
        follower = self._state([*fresh, *state.nodes] if word in _UNHEARD else fresh, fresh)
        state.after[word] = follower
        return follower

    def _state(self, nodes: list[Node], fresh: list[Node]) -> _State:
        """Return the state of these nodes, of which the fresh ones were reached by the last word."""
        known = [node for start in nodes for node in closure(start)]
        ends = tuple(sorted({node.cue for start in fresh for node in closure(start) if node.cue >= 0}))
        unique = {id(node): node for node in known if node.steps}
        key = (frozenset(unique), ends)
        state = self._states.get(key)
        if state is None:
            for node in unique.values():
                for symbol, _ in node.steps:
                    self._note_prefix(symbol)
            if len(self._states) >= MOST_STATES:
                self._reset()
            state = self._states[key] = _State(list(unique.values()), ends)
        return state

    def _symbols(self, word: str) -> list[str]:
        stems = self._prefixes.get(word[0], ())
        return [word, *self._lists.get(word, ()), *(f"{stem}*" for stem in stems if word.startswith(stem))]

    def _note_prefix(self, symbol: str) -> None:
        if symbol.endswith("*"):
            self._prefixes.setdefault(symbol[0], set()).add(symbol[:-1])

    def _reset(self) -> None:
        self._states: dict[tuple[frozenset[int], tuple[int, ...]], _State] = {}
        self._root: dict[str, _State] = {}


class _State:
    """The points of all phrases that the words so far lead to, and where the next words lead."""

    __slots__ = ("after", "cues", "lives", "nodes")

    def __init__(self, nodes: list[Node], cues: tuple[int, ...]) -> None:
        self.nodes = nodes
        self.cues = cues
        self.after: dict[str, _State] = {}
        self.lives = bool(nodes or cues)


_UNHEARD = frozenset((",", "^"))  # a phrase goes on over them
_FILLERS = frozenset(
    (WHO, ",", "hi", "hello", "hey", "hmm", "hm", "well", "btw", "also", "ah", "oh", "so", "and")
)


def _anchored(words: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Put `^` before the first word that says something, and `$` at the end."""
    at = 0
    while at < len(words) and words[at] in _FILLERS:
        at += 1
    return (*words[:at], "^", *words[at:], "$"), at


def _steps(nodes: Iterable[Node]) -> Iterable[tuple[str, Node]]:
    return (step for node in nodes for step in node.steps)
