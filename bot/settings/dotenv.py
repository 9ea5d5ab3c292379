"""Which variables a `.env` file sets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_SKIPPED = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_NAME = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*")
_SINGLE = re.compile(r"'([^']*)'")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_BARE = re.compile(r"(?!#)(?:[^\s#]|(?<=\S)#|[ \t]+(?=[^\s#]))*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


@dataclass(frozen=True, slots=True)
class DotEnv:
    """What a file says, and where it can't be understood; no value is ever in a problem."""

    values: dict[str, str]
    problems: tuple[str, ...] = ()


def read(path: Path | None) -> DotEnv:
    """The variables of the file; an absent file sets none."""
    if path is None or not path.exists():
        return DotEnv({})
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        return DotEnv({}, (f"{path}: can't be read: {error.strerror}",))
    except UnicodeDecodeError:
        return DotEnv({}, (f"{path}: is not UTF-8 text",))
    return parse(text, str(path))


def parse(text: str, name: str = ".env") -> DotEnv:
    """The variables of the text; a line that can't be understood is named and skipped."""
    text = text.replace("\r\n", "\n")
    values: dict[str, str] = {}
    problems = []
    position = 0
    while position < len(text):
        if skipped := _SKIPPED.match(text, position):
            position = skipped.end()
            continue
        line = text.count("\n", 0, position) + 1
        try:
            key, value, position = _assignment(text, position)
        except ValueError as mistake:
            problems.append(f"{name}:{line}: {mistake}")
            position = _next_line(text, position)
            continue
        if key in values:
            problems.append(f"{name}:{line}: {key} is set a second time")
        values[key] = value
    return DotEnv(values, tuple(problems))


def _assignment(text: str, position: int) -> tuple[str, str, int]:
    named = _NAME.match(text, position)
    if not named:
        raise ValueError("expected NAME=value")
    value, end = _value(text, named.end(), named[1])
    rest = _SKIPPED.match(text, end)
    if not rest:
        raise ValueError(f"unexpected text after the value of {named[1]}")
    return named[1], value, rest.end()


def _value(text: str, position: int, key: str) -> tuple[str, int]:
    quote = text[position : position + 1]
    if quote == "'":
        if found := _SINGLE.match(text, position):
            return found[1], found.end()
        raise ValueError(f"the quote that opens the value of {key} is never closed")
    if quote == '"':
        if found := _DOUBLE.match(text, position):
            return _ESCAPE.sub(_unescaped, found[1]), found.end()
        raise ValueError(f"the quote that opens the value of {key} is never closed")
    bare = _BARE.match(text, position)
    return (bare[0], bare.end()) if bare else ("", position)


def _unescaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[1], found[0])


def _next_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
