"""Which names does a source file define, and on which lines? By tree-sitter, where it is installed."""

from __future__ import annotations

import importlib
import posixpath
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from bot.adapters.place_queries import HEADINGS, LANGUAGES, Language
from bot.domain.grounding.observations import Definition

MOST_DEFINITIONS = 5_000
"""Names of one file that are kept; a generated file can have any number."""


def definitions(path: str, text: str) -> tuple[Definition, ...] | None:
    """What the file defines, in order; None for a language that is not known or not installed."""
    language = LANGUAGES.get(posixpath.splitext(path)[1].lower())
    tools = _tools(language) if language else None
    if tools is None or language is None:
        return None
    data = text.encode("utf-8", "replace")
    tree = tools.parser.parse(data)
    matches = [match for _, match in tools.cursor(tools.query).matches(tree.root_node)]
    source = _Source.of(data, [node for match in matches for node in match.get("lead", ())])
    found = [_found(match, language, source) for match in matches if "name" in match]
    return _scoped(sorted({each for each in found if each.name}, key=_Found.order), language)[
        :MOST_DEFINITIONS
    ]


@dataclass(frozen=True, slots=True)
class _Tools:
    parser: Any
    query: Any
    cursor: Any


@cache
def _tools(language: Language) -> _Tools | None:
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(language.module)
    except ImportError:  # the extra `places` is not installed: names are then not resolved
        return None
    known = tree_sitter.Language(getattr(grammar, language.function)())
    query = tree_sitter.Query(known, language.query)
    return _Tools(tree_sitter.Parser(known), query, tree_sitter.QueryCursor)


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    name: str
    line: int
    first_line: int
    end_line: int
    is_scope: bool

    def order(self) -> tuple[int, int, str]:
        """Outer things before inner ones."""
        return self.start, -self.end, self.name


@dataclass(frozen=True, slots=True)
class _Source:
    """A file's bytes and lines, and where decorators, attributes and the like begin.

    Nodes are asked for nothing but bytes: with a thousand definitions in a file, the binding's points,
    parents and siblings have crashed the process.
    """

    data: bytes
    starts: list[int]
    by_end: dict[int, int]
    """Last byte of a wrapper → the line that it begins on."""
    by_line: dict[int, int]
    """Line after an attribute → the line that it begins on."""

    @classmethod
    def of(cls, data: bytes, leads: Iterable[Any]) -> _Source:
        """The file's text, read once."""
        starts = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
        source = cls(data, starts, {}, {})
        for node in leads:
            first = source.line(node.start_byte)
            source.by_end[node.end_byte] = first
            source.by_line[source.line(node.end_byte) + 1] = first
        return source

    def line(self, byte: int) -> int:
        """The line, from 1, that a byte stands on."""
        return bisect_right(self.starts, byte)

    def first_line(self, start: int, end: int) -> int:
        """Where the thing between these bytes begins, with all that belongs to it."""
        line = self.line(start)
        first = min(self.by_end.get(end, line), line)
        while (above := self.by_line.get(first, first)) < first:
            first = above
        return first


def _found(match: dict[str, list[Any]], language: Language, source: _Source) -> _Found:
    whole, name = match["definition"][0], match["name"][0]
    start, end, at = whole.start_byte, whole.end_byte, name.start_byte
    text = " ".join(source.data[at : name.end_byte].decode("utf-8", "replace").split())
    return _Found(
        start=start,
        end=end,
        name=text.strip("# ") if language.query is HEADINGS else text,
        line=source.line(at),
        first_line=source.first_line(start, end),
        end_line=max(source.line(max(end - 1, start)), source.line(at)),
        is_scope=whole.type in language.scopes,
    )


def _scoped(found: Iterable[_Found], language: Language) -> tuple[Definition, ...]:
    """The definitions, each named with what it stands in; scopes that define nothing are left out."""
    around: list[_Found] = []
    named: list[Definition] = []
    for each in found:
        around = [outer for outer in around if outer.end >= each.end and outer.start <= each.start]
        name = ".".join((*(outer.name for outer in around), each.name)) if language.nests else each.name
        named.append(Definition(name, each.line, each.end_line, each.first_line))
        if each.is_scope:
            around.append(each)
    return tuple(named)
