"""Read YAML as the values that JSON has, with the position of every one.

They are built from the parser's events: without recursion, so that no file is too deep, and with
nothing resolved that is not written there. Plain words are read as in YAML 1.2: `on`, `no` and
`2026-01-01` are text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import yaml

from bot import regex

YamlPath = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""


@dataclass(frozen=True, slots=True)
class YamlPosition:
    """The line and column where a part of a document starts, and the offsets of its start and its end."""

    line: int
    column: int
    start: int = 0
    end: int = 0


def dotted(path: YamlPath) -> str:
    """Return a path as people write it: `validators.checks.lint[0]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


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

    value: list[Any] | dict[str, Any]
    path: YamlPath
    start: Any
    key: Any = None
    """The event of the key whose value comes next."""

    @property
    def wants_key(self) -> bool:
        """Whether a key of a mapping comes next."""
        return isinstance(self.value, dict) and self.key is None


class YamlReader:
    """Reads one document, and collects the problems on the way.

    A strict reader refuses anchors, tags, merge keys and unprintable characters too, and reports every
    problem; the other one stops at the first.
    """

    def __init__(self, max_depth: int, *, strict: bool) -> None:
        self.problems: list[YamlProblem] = []
        self.value: Any = None
        self.positions: dict[YamlPath, YamlPosition] = {}
        """Of every value; of none where the text has no document."""
        self.keys: dict[YamlPath, YamlPosition] = {}
        """Of the key of every entry of a mapping."""
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
                self._add(None, self._path(), event, event)
            case yaml.ScalarEvent():
                self._check_properties(event)
                is_printable = not self._strict or event.value.isprintable()
                if not is_printable and (
                    character := _UNPRINTABLE.search(event.value)
                ):  # an escape in quotes
                    self._report(YamlFault.CHARACTER, event.start_mark, ord(character[0]))
                self._add(_scalar_value(event), self._path(), event, event)
            case yaml.CollectionStartEvent():
                self._check_properties(event)
                if self._open and self._open[-1].wants_key:
                    self._report(YamlFault.KEY_TYPE, event.start_mark)
                value: list[Any] | dict[str, Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
                self._open.append(_OpenCollection(value, self._path(), event))
            case yaml.CollectionEndEvent():
                closed = self._open.pop()
                self._add(closed.value, closed.path, closed.start, event)

    def _check_properties(self, event: Any) -> None:
        if event.anchor is not None and self._strict:
            self._report(YamlFault.ANCHOR, event.start_mark, event.anchor)
        if event.tag is not None and (self._strict or event.tag not in _TEXT_TAGS):
            self._report(YamlFault.TAG, event.start_mark, event.tag.replace(_YAML_TAG, "!!"))

    def _path(self) -> YamlPath:
        """Return the path of the value that comes next."""
        if not self._open:
            return ()
        above = self._open[-1]
        return (*above.path, _key(above.key) if isinstance(above.value, dict) else len(above.value))

    def _add(self, value: Any, path: YamlPath, start: Any, end: Any) -> None:
        above = self._open[-1] if self._open else None
        if above is None:
            self.value = value
        elif above.wants_key:
            above.key = start
            return
        elif isinstance(above.value, dict):
            self._add_entry(above.value, value, path, above.key)
            above.key = None
        else:
            above.value.append(value)
        self.positions[path] = _position(start, end)

    def _add_entry(self, entries: dict[str, Any], value: Any, path: YamlPath, event: Any) -> None:
        key = _key(event)
        if key == "<<" and self._strict:
            self._report(YamlFault.MERGE_KEY, event.start_mark)
        elif key in entries:
            self._report(
                YamlFault.DUPLICATE_KEY, event.start_mark, dotted(path), self.keys[path].line, key[:60]
            )
        else:
            entries[key] = value
            self.keys[path] = _position(event, event)

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


def _key(event: Any) -> str:
    """Return the key that an event gives; an empty one for what can't be a key."""
    return event.value if isinstance(event, yaml.ScalarEvent) else ""


def _position(start: Any, end: Any) -> YamlPosition:
    mark = start.start_mark
    return YamlPosition(mark.line + 1, mark.column + 1, mark.index, end.end_mark.index)
