"""JSON with the place of every part; Python's own reader keeps none, and lets repeated keys and NaN pass."""

from __future__ import annotations

from json import JSONDecodeError, JSONDecoder
from typing import Any

from bot.adapters.parsed import DEEPEST, Parsed, Path, Unparsable
from bot.domain import regex

_SPACE = frozenset(" \t\n\r")
_NUMBER = regex.Pattern(r"-?(?:0|[1-9][0-9]{0,308})(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_IN_NUMBER = frozenset("0123456789+-.eE")
_STRINGS = JSONDecoder()
_WORDS = {"true": True, "false": False, "null": None}


def read_json(text: str) -> Parsed:
    """The one value in the text; raises `Unparsable`."""
    reader = _Reader(text)
    value, end = reader.value(_skip(text, 0), ())
    end = _skip(text, end)
    if end < len(text):
        raise Unparsable("more text after the end of the document", end)
    return Parsed(value, reader.spans)


class _Reader:
    """Reads from an offset, and returns what it read with the offset behind it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[Path, tuple[int, int]] = {}

    def value(self, at: int, path: Path) -> tuple[Any, int]:
        if len(path) > DEEPEST:
            raise Unparsable(f"nested more than {DEEPEST} levels deep", at)
        value: Any
        match self.text[at : at + 1]:
            case "{":
                value, end = self._object(at, path)
            case "[":
                value, end = self._list(at, path)
            case '"':
                value, end = self._string(at)
            case _:
                value, end = self._plain(at)
        self.spans[path] = (at, end)
        return value, end

    def _object(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        end = _skip(self.text, at + 1)
        while self.text[end : end + 1] != "}":
            if self.text[end : end + 1] != '"':
                raise Unparsable("expected a key in double quotes, or }", end)
            start, (key, end) = end, self._string(end)
            if key in members:
                raise Unparsable(f"the key {key[:60]!r} stands here twice", start)
            end = self._expect(":", end)
            members[key], end = self.value(end, (*path, key))
            end = self._next("}", end)
        return members, end + 1

    def _list(self, at: int, path: Path) -> tuple[list[Any], int]:
        entries: list[Any] = []
        end = _skip(self.text, at + 1)
        while self.text[end : end + 1] != "]":
            entry, end = self.value(end, (*path, len(entries)))
            entries.append(entry)
            end = self._next("]", end)
        return entries, end + 1

    def _next(self, closing: str, at: int) -> int:
        """Behind the comma, or at the closing bracket."""
        at = _skip(self.text, at)
        if self.text[at : at + 1] == closing:
            return at
        behind = self._expect(",", at)
        if self.text[behind : behind + 1] == closing:
            raise Unparsable("a comma before the closing bracket", at)
        return behind

    def _expect(self, sign: str, at: int) -> int:
        at = _skip(self.text, at)
        if self.text[at : at + 1] != sign:
            raise Unparsable(f"expected {sign!r}", at)
        return _skip(self.text, at + 1)

    def _string(self, at: int) -> tuple[str, int]:
        try:
            text, end = _STRINGS.raw_decode(self.text, at)
        except JSONDecodeError as wrong:
            raise Unparsable(wrong.msg.lower().removesuffix(" at"), wrong.pos) from None
        return str(text), end

    def _plain(self, at: int) -> tuple[Any, int]:
        for word, value in _WORDS.items():
            if self.text.startswith(word, at):
                return value, at + len(word)
        end = at
        while end < len(self.text) and self.text[end] in _IN_NUMBER:
            end += 1
        match = _NUMBER.match(self.text[at:end])
        if match is None or self.text[at + match.end() : end][:1].isdigit():
            raise Unparsable("expected a value: an object, a list, a text in double quotes, a number", at)
        whole = match[1] is None and match[2] is None
        return (int(match[0]) if whole else float(match[0])), at + match.end()


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
