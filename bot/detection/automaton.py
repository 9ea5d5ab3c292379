"""Compile cue phrases into one automaton and find them in a sentence.

A phrase is words in order. `(a|b c|)` is a choice, `{list}` any word of a named list, `fail*` any word that
begins so, `..` up to two words in between, `...` up to five; `^` and `$` are the sentence's ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from string import ascii_letters
from typing import TypeAlias

from bot import regex
from bot.detection.words import WHO, normalize_phrase

GAP_LENGTHS = {"..": 2, "...": 5}
MAX_PATTERN_DEPTH = 5
ANY_WORD = "<any>"
START, END = "^", "$"
PAUSE_SYMBOL = ","
"""As the start of the sentence, a sign that every phrase goes on over."""


class PhrasePatternError(ValueError):
    """A phrase that is not written in the language of phrases; the message says why."""


@dataclass(slots=True, eq=False)
class PatternNode:
    """A point in a phrase: the words that lead on, what comes next for free, and the cue that ends here."""

    steps: list[tuple[str, PatternNode]] = field(default_factory=list)
    free: list[PatternNode] = field(default_factory=list)
    cue: int = -1


def compile_phrase(phrase: str, cue: int, lists: Collection[str]) -> PatternNode:
    """Return the start of the phrase; raise `PhrasePatternError` where it is not one."""
    reader = _PatternReader(phrase, lists)
    start = PatternNode()
    end = reader.sequence(start, 0)
    if reader.at < len(reader.parts):
        raise PhrasePatternError("')' has no '(' before it")
    end.cue = cue
    if end in free_closure(start):
        raise PhrasePatternError("the phrase has no word that must be there")
    return start


def free_closure(node: PatternNode) -> list[PatternNode]:
    """Return the node and all that follows it for free, each once."""
    found = {node: None}
    waiting = [node]
    while waiting:
        fresh = [free for free in waiting.pop().free if free not in found]
        found.update(dict.fromkeys(fresh))
        waiting += fresh
    return list(found)


# What begins with dots and is no gap is taken whole, so that its beginning is not read as one.
_PART = regex.Regex(r"[()|^$,:]|\{\w+\}|\.{2,3}[^\s)|]|\.{2,3}|<\w+>|[A-Za-z][\w'’]*\*?|\S")
_LETTERS = frozenset(ascii_letters)
_SIGNS = frozenset((START, END, PAUSE_SYMBOL, ":"))


class _PatternReader:
    """Reads one phrase part by part, and lays the nodes as it goes."""

    def __init__(self, phrase: str, lists: Collection[str]) -> None:
        self.parts = _PART.findall(phrase)
        self.lists = lists
        self.at = 0

    def sequence(self, node: PatternNode, depth: int) -> PatternNode:
        """Lay parts after the node until the choice or the phrase ends."""
        while self.at < len(self.parts):
            part = self.parts[self.at]
            if part in ("|", ")") and (depth or part == ")"):
                return node
            self.at += 1
            if part == "(":
                node = self._choice(node, depth + 1)
            elif part in GAP_LENGTHS:
                node = _gap(node, GAP_LENGTHS[part])
            elif part[0] == "{" and len(part) > 1:
                node = self._list(node, part)
            elif part[0] in _LETTERS:
                node = _chain(node, _symbols(part))
            elif part in _SIGNS or (part[0] == "<" and len(part) > 1):
                node = _chain(node, [part])
            else:
                raise PhrasePatternError(f"{part[0]!r} is not a word here")
        return node

    def _choice(self, node: PatternNode, depth: int) -> PatternNode:
        if depth > MAX_PATTERN_DEPTH:
            raise PhrasePatternError(f"choices stand more than {MAX_PATTERN_DEPTH} deep in each other")
        end = PatternNode()
        while True:
            option = PatternNode()
            node.free.append(option)
            self.sequence(option, depth).free.append(end)
            if self.at >= len(self.parts):
                raise PhrasePatternError("'(' has no ')' after it")
            closing = self.parts[self.at]
            self.at += 1
            if closing == ")":
                return end

    def _list(self, node: PatternNode, name: str) -> PatternNode:
        if name[1:-1] not in self.lists:
            raise PhrasePatternError(f"there is no list {name}")
        return _chain(node, [name])


def _chain(node: PatternNode, symbols: list[str]) -> PatternNode:
    for symbol in symbols:
        follower = PatternNode()
        node.steps.append((symbol, follower))
        node = follower
    return node


def _gap(node: PatternNode, length: int) -> PatternNode:
    end = PatternNode()
    node.free.append(end)
    for _ in range(length):
        follower = PatternNode()
        node.steps.append((ANY_WORD, follower))
        follower.free.append(end)
        node = follower
    return end


@lru_cache(maxsize=8192)
def _symbols(word: str) -> list[str]:
    return [word.lower()] if word.endswith("*") else normalize_phrase(word)


MAX_CLASS_WORDS = 10_000
"""How many words that are in no phrase are remembered as such."""


class WordClasses:
    """The class of each word, by number, and for each class the symbols that its words have in phrases."""

    __slots__ = ("_known", "_named", "_next", "_numbers", "_prefixes", "_symbols", "end", "start", "symbols")

    def __init__(self, symbols: Mapping[str, int], lists: Mapping[str, Iterable[str]]) -> None:
        self.symbols: dict[int, frozenset[int]] = {}
        """By class."""
        self._symbols = symbols
        self._numbers: dict[frozenset[int], int] = {}
        self._next = count()
        self._prefixes: dict[str, list[str]] = {}
        for symbol in symbols:
            if symbol.endswith("*"):
                self._prefixes.setdefault(symbol[0], []).append(symbol[:-1])
        listed: dict[str, list[str]] = {}
        for name, words in lists.items():
            for word in words:
                listed.setdefault(word, []).append(f"{{{name}}}")
        named = dict.fromkeys((*symbols, *listed, END))
        self._named = {word: self._number(word, listed.get(word, ())) for word in named}
        self._known = dict(self._named)
        self.start, self.end = self._named[START], self._named[END]

    def of(self, words: Iterable[str]) -> list[int]:
        """Return the class of each word."""
        known = self._known
        try:
            return [known[word] for word in words]
        except KeyError:
            if len(known) >= len(self._named) + MAX_CLASS_WORDS:
                known = self._known = dict(self._named)
            for word in words:
                if word not in known:
                    known[word] = self._number(word, ())
            return [known[word] for word in words]

    def _number(self, word: str, listed: Iterable[str]) -> int:
        """Return the class of a word by what it is in phrases: itself, of a list, or what begins so."""
        stems = (stem for stem in self._prefixes.get(word[0], ()) if word.startswith(stem))
        meant = (word, *listed, *(f"{stem}*" for stem in stems))
        found = frozenset(self._symbols[one] for one in meant if one in self._symbols)
        number = self._numbers.get(found)
        if number is None:
            number = next(self._next)
            self.symbols[number] = found
            number = self._numbers.setdefault(found, number)  # another thread may have been first
        return number


GraphSteps = dict[int, tuple[int, ...]]
"""The symbols that lead on from a point, each with the points that it leads to."""


class PhraseGraph:
    """The points of all phrases, numbered; what goes on alike is one point for all phrases."""

    __slots__ = ("_points", "begins", "cues", "steps", "symbols", "unheard")

    def __init__(self, phrases: Iterable[tuple[int, str]], lists: Collection[str]) -> None:
        self.symbols: dict[str, int] = {ANY_WORD: 0}
        self.unheard = frozenset((self._symbol(START), self._symbol(PAUSE_SYMBOL)))
        """The symbols that every phrase goes on over."""
        self.steps: list[GraphSteps] = []
        self.cues: list[int] = []
        """By point the cue whose phrase ends there, or -1."""
        self._points: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        starts = {self._lay(compile_phrase(phrase, cue, lists)) for cue, phrase in phrases}
        self.begins = _grouped({step for start in starts for step in self._flat(start)})
        """Where the first word of any phrase leads."""
        self._points.clear()

    def _lay(self, start: PatternNode) -> int:
        """Number the points of one phrase, the last ones first, and return the number of its start."""
        laid: dict[PatternNode, int] = {}
        waiting = [start]
        while waiting:
            node = waiting[-1]
            ahead = [to for _, to in node.steps if to not in laid]
            ahead += [to for to in node.free if to not in laid]
            waiting += ahead
            if not ahead:
                laid[waiting.pop()] = self._point(node, laid)
        return laid[start]

    def _point(self, node: PatternNode, laid: dict[PatternNode, int]) -> int:
        """Return the number of a node whose followers have theirs; what it leads to for free is its own."""
        cue = node.cue
        steps = [(self._symbol(word), laid[to]) for word, to in node.steps]
        if node.free:
            free = [laid[one] for one in node.free]
            cue = max(cue, *(self.cues[point] for point in free))
            steps = sorted({*steps, *(step for point in free for step in self._flat(point))})
        key = (cue, tuple(steps))
        known = self._points.get(key)
        if known is None:
            known = self._points[key] = len(self.steps)
            self.cues.append(cue)
            self.steps.append(_grouped(steps))
        return known

    def _flat(self, point: int) -> Iterator[tuple[int, int]]:
        return ((symbol, to) for symbol, led in self.steps[point].items() for to in led)

    def _symbol(self, word: str) -> int:
        return self.symbols.setdefault(word, len(self.symbols))


def _grouped(steps: Iterable[tuple[int, int]]) -> GraphSteps:
    leads: dict[int, list[int]] = {}
    for symbol, to in steps:
        leads.setdefault(symbol, []).append(to)
    return {symbol: tuple(led) for symbol, led in leads.items()}


MAX_CACHED_STEPS = 250_000
"""How many steps between states are remembered; a text that makes more only costs what was learnt before."""

NO_STATE = -1
"""What stands behind the end of a sentence; no class of words has this number."""

LivePoints: TypeAlias = "tuple[Transitions, tuple[int, ...], AutomatonState]"
"""By class where the next word leads, the cues whose phrases end here, and the place in the phrases."""
StateKey: TypeAlias = "LivePoints | tuple[()]"
"""Empty where no phrase goes on or ends."""
Transitions: TypeAlias = "dict[int, StateKey]"


class AutomatonState:
    """The points of all phrases that the words so far lead to."""

    __slots__ = ("names", "other", "points")

    def __init__(self, points: tuple[int, ...]) -> None:
        self.points = points
        self.names: frozenset[int] | None = None
        """The symbols that lead on; found when it is first asked where a word leads."""
        self.other: StateKey = ()
        """Where a word leads that has none of these symbols."""


class LazyAutomaton:
    """The states of one net; there are too many to work out those that no text ever comes to."""

    __slots__ = ("_classes", "_known", "_net", "_steps", "begun")

    def __init__(self, net: PhraseGraph, classes: WordClasses) -> None:
        self._net = net
        self._classes = classes
        self._forget()

    def begin(self, kind: int) -> StateKey:
        """Return the state after the first word of a phrase."""
        leads = self._net.begins
        fresh = [to for symbol in self._classes.symbols[kind] for to in leads.get(symbol, ())]
        state = self.begun[kind] = self._state(fresh, fresh)
        return state

    def follow(self, state: LivePoints, kind: int) -> StateKey:
        """Return the state after one more word."""
        if self._steps >= MAX_CACHED_STEPS:
            self._forget()
        self._steps += 1
        nexts, _, place = state
        if place.names is None or not place.names.isdisjoint(self._classes.symbols[kind]):
            follower = self._follower(place, kind)
        else:
            follower = place.other
        nexts[kind] = follower
        return follower

    def _follower(self, place: AutomatonState, kind: int) -> StateKey:
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

    def _led(self, place: AutomatonState, symbols: Iterable[int]) -> list[int]:
        """Return the points that these symbols lead to."""
        steps = [self._net.steps[at] for at in place.points]
        return [to for one in symbols for leads in steps if one in leads for to in leads[one]]

    def _state(self, points: list[int], fresh: list[int]) -> StateKey:
        """Return the state of these points, of which the fresh ones were reached by the last word."""
        if not points:
            return ()
        cues, steps = self._net.cues, self._net.steps
        ends = tuple(sorted({cues[at] for at in fresh} - {-1}))
        key = (tuple(sorted({at for at in points if steps[at]})), ends)
        state = self._known.get(key)
        if state is None:
            state = self._known[key] = ({NO_STATE: ()}, ends, AutomatonState(key[0]))
        return state

    def _forget(self) -> None:
        self.begun: Transitions = {}
        """By class the state after the first word of a phrase."""
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], StateKey] = {}
        self._steps = 0


MAX_REPETITIONS = 5
"""How often in a long sentence phrases may begin with the same word; repeating oneself says no more."""

PhraseMatch: TypeAlias = tuple[int, int, int]
"""A cue's phrase in a sentence: which cue, and the words from where up to where."""


class Lexicon:
    """All phrases at once."""

    __slots__ = ("_classes", "_states")

    def __init__(self, phrases: Iterable[tuple[int, str]], lists: Mapping[str, Iterable[str]]) -> None:
        net = PhraseGraph(phrases, tuple(lists))
        self._classes = WordClasses(net.symbols, lists)
        self._states = LazyAutomaton(net, self._classes)

    def find(self, words: tuple[str, ...]) -> list[PhraseMatch]:
        """Return every phrase that stands in the sentence, by its first word."""
        classes = self._classes.of(words)
        anchor = _first_that_says_something(words) if words[0] in _FILLERS else 0
        classes.insert(anchor, self._classes.start)
        classes.append(self._classes.end)
        many = len(classes)
        beginnings = range(many) if many <= _SHORT else _not_repeated(classes)
        classes.append(NO_STATE)
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
        if times <= MAX_REPETITIONS:
            found.append(at)
    return found
