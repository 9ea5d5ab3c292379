"""YAML with the place of every part, from the parser's events: no aliases, no tags, plain words as in 1.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from bot.adapters.parsed import DEEPEST, Parsed, Path, Unparsable
from bot.domain import regex

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WHOLE = regex.Pattern(r"[-+]?[0-9]{1,300}")
_NUMBER_STARTS = frozenset("+-.0123456789")
_NUMBER = regex.Pattern(r"[-+]?(?:\.[0-9]+|[0-9]{1,300}(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}


def read_yaml(text: str) -> Parsed:
    """The one document in the text; raises `Unparsable`."""
    reader = _Reader(text)
    try:
        return Parsed(reader.document(), reader.spans)
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        raise Unparsable(wrong.problem or "not YAML", mark.index if mark else 0) from None
    except yaml.reader.ReaderError as wrong:
        raise Unparsable("a character that YAML does not allow", wrong.position) from None


class _Reader:
    """Turns events into values; every event but an alias is one part, or the end of one."""

    def __init__(self, text: str) -> None:
        self.spans: dict[Path, tuple[int, int]] = {}
        self._events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))

    def document(self) -> Any:
        event = self._next()
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            raise Unparsable("nothing but comments", 0)
        value = self._value(event, ())
        self._next()  # the document's end
        event = self._next()
        if isinstance(event, yaml.DocumentStartEvent):
            raise Unparsable("a second document; a file holds one", _start(event))
        return value

    def _next(self) -> Any:
        return next(self._events)

    def _value(self, event: Any, path: Path) -> Any:
        start = _start(event)
        if isinstance(event, yaml.AliasEvent):
            raise Unparsable("aliases are not read; write the value out", start)
        if event.tag not in {None, "!", "tag:yaml.org,2002:str"}:
            raise Unparsable("tags are not read; write the plain value", start)
        if len(path) > DEEPEST:
            raise Unparsable(f"nested more than {DEEPEST} levels deep", start)
        value, end = self._read(event, path)
        self.spans[path] = (start, end)
        return value

    def _read(self, event: Any, path: Path) -> tuple[Any, int]:
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return _scalar(event), _end(event)

    def _mapping(self, path: Path) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise Unparsable("a key must be a plain word", _start(event))
            key = event.value
            if key in members:
                raise Unparsable(f"the key {key[:60]!r} stands here twice", _start(event))
            members[key] = self._value(self._next(), (*path, key))
        return members, _end(event)

    def _sequence(self, path: Path) -> tuple[list[Any], int]:
        entries: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            entries.append(self._value(event, (*path, len(entries))))
        return entries, _end(event)


def _start(event: Any) -> int:
    return int(event.start_mark.index)


def _end(event: Any) -> int:
    return int(event.end_mark.index)


def _scalar(event: Any) -> str | float | bool | None:
    word: str = event.value
    if event.tag is not None or not event.implicit[0]:
        return word
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if word[:1] not in _NUMBER_STARTS:
        return word
    if _WHOLE.fullmatch(word):
        return int(word)
    return float(word) if _NUMBER.fullmatch(word) else word
