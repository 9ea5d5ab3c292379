"""The language of phrases, read into what may follow what.

A phrase is words in order. `(a|b c|)` is a choice, `{list}` any word of a named list, `fail*` any word that
begins so, `..` up to two words in between, `...` up to five; `^` and `$` are the sentence's ends.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_letters

from bot.domain import regex
from bot.domain.detection.words import normalised

GAPS = {"..": 2, "...": 5}
DEEPEST = 5
ANY = "<any>"
START, END = "^", "$"
PAUSE = ","
"""As the start of the sentence, a sign that every phrase goes on over."""


class PatternError(ValueError):
    """A phrase that is not written in the language of phrases; the message says why."""


@dataclass(slots=True, eq=False)
class Node:
    """A point in a phrase: the words that lead on, what comes next for free, and the cue that ends here."""

    steps: list[tuple[str, Node]] = field(default_factory=list)
    free: list[Node] = field(default_factory=list)
    cue: int = -1


def compile_phrase(phrase: str, cue: int, lists: Collection[str]) -> Node:
    """Return the start of the phrase; raise `PatternError` where it is not one."""
    reader = _Reader(phrase, lists)
    start = Node()
    end = reader.sequence(start, 0)
    if reader.at < len(reader.parts):
        raise PatternError("')' has no '(' before it")
    end.cue = cue
    if end in closure(start):
        raise PatternError("the phrase has no word that must be there")
    return start


def closure(node: Node) -> list[Node]:
    """Return the node and all that follows it for free, each once."""
    found = {node: None}
    waiting = [node]
    while waiting:
        fresh = [free for free in waiting.pop().free if free not in found]
        found.update(dict.fromkeys(fresh))
        waiting += fresh
    return list(found)


# What begins with dots and is no gap is taken whole, so that its beginning is not read as one.
_PART = regex.Pattern(r"[()|^$,:]|\{\w+\}|\.{2,3}[^\s)|]|\.{2,3}|<\w+>|[A-Za-z][\w'’]*\*?|\S")
_LETTERS = frozenset(ascii_letters)
_SIGNS = frozenset((START, END, PAUSE, ":"))


class _Reader:
    """Reads one phrase part by part, and lays the nodes as it goes."""

    def __init__(self, phrase: str, lists: Collection[str]) -> None:
        self.parts = _PART.findall(phrase)
        self.lists = lists
        self.at = 0

    def sequence(self, node: Node, depth: int) -> Node:
        """Lay parts after the node until the choice or the phrase ends."""
        while self.at < len(self.parts):
            part = self.parts[self.at]
            if part in ("|", ")") and (depth or part == ")"):
                return node
            self.at += 1
            if part == "(":
                node = self._choice(node, depth + 1)
            elif part in GAPS:
                node = _gap(node, GAPS[part])
            elif part[0] == "{" and len(part) > 1:
                node = self._list(node, part)
            elif part[0] in _LETTERS:
                node = _chain(node, _symbols(part))
            elif part in _SIGNS or (part[0] == "<" and len(part) > 1):
                node = _chain(node, [part])
            else:
                raise PatternError(f"{part[0]!r} is not a word here")
        return node

    def _choice(self, node: Node, depth: int) -> Node:
        if depth > DEEPEST:
            raise PatternError(f"choices stand more than {DEEPEST} deep in each other")
        end = Node()
        while True:
            option = Node()
            node.free.append(option)
            self.sequence(option, depth).free.append(end)
            if self.at >= len(self.parts):
                raise PatternError("'(' has no ')' after it")
            closing = self.parts[self.at]
            self.at += 1
            if closing == ")":
                return end

    def _list(self, node: Node, name: str) -> Node:
        if name[1:-1] not in self.lists:
            raise PatternError(f"there is no list {name}")
        return _chain(node, [name])


def _chain(node: Node, symbols: list[str]) -> Node:
    for symbol in symbols:
        follower = Node()
        node.steps.append((symbol, follower))
        node = follower
    return node


def _gap(node: Node, length: int) -> Node:
    end = Node()
    node.free.append(end)
    for _ in range(length):
        follower = Node()
        node.steps.append((ANY, follower))
        follower.free.append(end)
        node = follower
    return end


@lru_cache(maxsize=8192)
def _symbols(word: str) -> list[str]:
    return [word.lower()] if word.endswith("*") else normalised(word)
