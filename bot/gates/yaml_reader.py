"""Read YAML with the position of every node.

The nodes are built from the parser's events: without recursion, so that no file is too deep, and with
nothing resolved that is not written there. Plain words are read as in YAML 1.2: `on`, `no` and
`2026-01-01` are text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import yaml

from bot import regex


@dataclass(frozen=True, slots=True)
class YamlScalar:
    """A text, number, truth value or null."""

    value: str | int | float | bool | None
    line: int
    column: int
    span: tuple[int, int]
    """The offsets of its first character and of the one behind it."""


@dataclass(frozen=True, slots=True)
class YamlSequence:
    """A list."""

    items: tuple[YamlNode, ...]
    line: int
    column: int
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class YamlEntry:
    """A key of a mapping with its position, and the key's value."""

    key: str
    line: int
    column: int
    node: YamlNode


@dataclass(frozen=True, slots=True)
class YamlMapping:
    """Entries by key, in the file's order."""

    entries: Mapping[str, YamlEntry]
    line: int
    column: int
    span: tuple[int, int]


YamlNode = YamlScalar | YamlSequence | YamlMapping


def to_plain(node: YamlNode) -> Any:
    """Return the node as the values that JSON has."""
    match node:
        case YamlScalar():
            return node.value
        case YamlSequence():
            return [to_plain(item) for item in node.items]
        case YamlMapping():
            return {key: to_plain(entry.node) for key, entry in node.entries.items()}


def entry_at(node: YamlNode, *path: str) -> YamlEntry | None:
    """Return the entry at the end of these keys, or None if the file does not have it."""
    entry: YamlEntry | None = None
    for key in path:
        entry = node.entries.get(key) if isinstance(node, YamlMapping) else None
        if entry is None:
            return None
        node = entry.node
    return entry


def entries(node: YamlNode, *path: str) -> tuple[YamlEntry, ...]:
    """Return the entries of the mapping at the end of these keys; none if there is no mapping."""
    entry = entry_at(node, *path)
    return tuple(entry.node.entries.values()) if entry and isinstance(entry.node, YamlMapping) else ()


class YamlFault(StrEnum):
    """The ways in which a text is not the YAML that is read here."""

    SYNTAX = "syntax"
    CHARACTER = "character"
    DEPTH = "depth"
    SECOND_DOCUMENT = "second document"
    ALIAS = "alias"
    ANCHOR = "anchor"
    TAG = "tag"
    MERGE_KEY = "merge key"
    KEY_TYPE = "key type"
    DUPLICATE_KEY = "duplicate key"


@dataclass(frozen=True, slots=True)
class YamlProblem:
    """A fault and its position; the readers of rule files and of feedback have their own words for it."""

    fault: YamlFault
    line: int
    column: int
    offset: int
    details: tuple[object, ...] = ()


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_YAML_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", f"{_YAML_TAG}str"})
_INTEGER = regex.Regex(r"[-+]?(?:0|[1-9][0-9]{0,14})")
_NUMBER_STARTS = frozenset("+-.0123456789")
_NUMBER = regex.Regex(
    r"[-+]?(?:\.[0-9]{1,15}|(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,15})?)(?:[eE][-+]?[0-9]{1,2})?"
)
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_UNPRINTABLE = regex.Regex(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}\x{2028}\x{2029}\x{feff}\x{fffe}\x{ffff}]")


@dataclass(slots=True)
class _OpenCollection:
    """A list or mapping whose end has not come yet."""

    is_mapping: bool
    start: Any
    key: Any = None
    """The event of the key whose value comes next."""
    items: list[YamlNode] = field(default_factory=list)
    entries: dict[str, YamlEntry] = field(default_factory=dict)


class YamlReader:
    """Builds the nodes of one document, and collects the problems on the way.

    A strict reader refuses anchors, tags, merge keys and unprintable characters too, and reports every
    problem; the other one stops at the first.
    """

    def __init__(self, max_depth: int, *, strict: bool) -> None:
        self.problems: list[YamlProblem] = []
        self.root: YamlNode | None = None
        self._max_depth = max_depth
        self._strict = strict
        self._open: list[_OpenCollection] = []
        self._documents = 0

    def read(self, text: str) -> None:
        """Read the one document in the text."""
        if self._strict and (unprintable := _UNPRINTABLE.search(text)):
            before = text[: unprintable.start()]
            position = (before.count("\n") + 1, len(before) - before.rfind("\n"), len(before))
            self.problems.append(YamlProblem(YamlFault.CHARACTER, *position, (ord(unprintable[0]),)))
            return
        try:
            for event in yaml.parse(text, Loader=_LOADER):
                self._handle(event)
                if len(self._open) > self._max_depth:
                    self._report(YamlFault.DEPTH, event.start_mark, self._max_depth)
                    return
                if self._documents > 1:
                    self._report(YamlFault.SECOND_DOCUMENT, event.start_mark)
                    return
                if self.problems and not self._strict:
                    return
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._report(YamlFault.SYNTAX, mark, error.problem or "it ends unexpectedly")
        except yaml.reader.ReaderError as error:
            self.problems.append(
                YamlProblem(YamlFault.CHARACTER, 1, 1, error.position, (ord(text[error.position]),))
            )

    def _handle(self, event: Any) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
            case yaml.AliasEvent():
                self._report(YamlFault.ALIAS, event.start_mark, event.anchor)
                self._add(YamlScalar(None, *_position(event)), event)
            case yaml.ScalarEvent():
                self._check_properties(event)
                is_printable = not self._strict or event.value.isprintable()
                if not is_printable and (
                    character := _UNPRINTABLE.search(event.value)
                ):  # an escape in quotes
                    self._report(YamlFault.CHARACTER, event.start_mark, ord(character[0]))
                self._add(YamlScalar(_scalar_value(event), *_position(event)), event)
            case yaml.CollectionStartEvent():
                self._check_properties(event)
                above = self._open[-1] if self._open else None
                if above and above.is_mapping and above.key is None:
                    self._report(YamlFault.KEY_TYPE, event.start_mark)
                self._open.append(_OpenCollection(isinstance(event, yaml.MappingStartEvent), event))
            case yaml.CollectionEndEvent():
                self._add(_close(self._open.pop(), event), event)

    def _check_properties(self, event: Any) -> None:
        if event.anchor is not None and self._strict:
            self._report(YamlFault.ANCHOR, event.start_mark, event.anchor)
        if event.tag is not None and (self._strict or event.tag not in _TEXT_TAGS):
            self._report(YamlFault.TAG, event.start_mark, event.tag.replace(_YAML_TAG, "!!"))

    def _add(self, node: YamlNode, event: Any) -> None:
        if not self._open:
            self.root = node
            return
        above = self._open[-1]
        if not above.is_mapping:
            above.items.append(node)
        elif above.key is None:
            above.key = event
        else:
            self._add_entry(above, node)
            above.key = None

    def _add_entry(self, above: _OpenCollection, node: YamlNode) -> None:
        mark = above.key.start_mark
        key = above.key.value if isinstance(above.key, yaml.ScalarEvent) else ""
        first = above.entries.get(key)
        if key == "<<" and self._strict:
            self._report(YamlFault.MERGE_KEY, mark)
        elif first is not None:
            self._report(YamlFault.DUPLICATE_KEY, mark, self._path(), first.line, key[:60])
        else:
            above.entries[key] = YamlEntry(key, mark.line + 1, mark.column + 1, node)

    def _path(self) -> str:
        """Return the path of the entry that is being read."""
        parts = [
            f".{getattr(above.key, 'value', '')}" if above.is_mapping else f"[{len(above.items)}]"
            for above in self._open
        ]
        return "".join(parts).removeprefix(".")

    def _report(self, fault: YamlFault, mark: Any, *details: object) -> None:
        line, column, offset = (mark.line + 1, mark.column + 1, mark.index) if mark else (1, 1, 0)
        self.problems.append(YamlProblem(fault, line, column, offset, details))


def _scalar_value(event: Any) -> str | float | bool | None:
    """Return what a scalar means in YAML 1.2, where `on` and `2026-01-01` are text."""
    text: str = event.value
    if event.tag is not None or not event.implicit[0]:  # quoted, or a block of text
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text[:1] not in _NUMBER_STARTS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _close(collection: _OpenCollection, event: Any) -> YamlNode:
    start = collection.start.start_mark
    position = (start.line + 1, start.column + 1, (start.index, event.end_mark.index))
    if collection.is_mapping:
        return YamlMapping(collection.entries, *position)
    return YamlSequence(tuple(collection.items), *position)


def _position(event: Any) -> tuple[int, int, tuple[int, int]]:
    start = event.start_mark
    return start.line + 1, start.column + 1, (start.index, event.end_mark.index)
