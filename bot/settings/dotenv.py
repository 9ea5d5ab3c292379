"""Which variables a `.env` file sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_BLANK = " \t"
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
        if _is_rest_empty(text, position):
            position = _next_line(text, position)
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
    left, sign, right = text[position : _next_line(text, position)].partition("=")
    key = left.strip(_BLANK)
    if key.startswith(("export ", "export\t")):
        key = key.removeprefix("export").lstrip(_BLANK)
    if not sign or not (key.isascii() and key.isidentifier()):
        raise ValueError("expected NAME=value")
    start = position + len(left) + 1 + len(right) - len(right.lstrip(_BLANK))
    value, end = _value(text, start, key)
    if not _is_rest_empty(text, end):
        raise ValueError(f"unexpected text after the value of {key}")
    return key, value, _next_line(text, end)


def _value(text: str, position: int, key: str) -> tuple[str, int]:
    quote = text[position : position + 1]
    if quote == "'":
        value, closed, _ = text[position + 1 :].partition("'")
        if closed:
            return value, position + len(value) + 2
    elif quote == '"':
        if (unescaped := _double_quoted(text, position + 1)) is not None:
            return unescaped
    else:
        return _bare(text, position)
    raise ValueError(f"the quote that opens the value of {key} is never closed")


def _double_quoted(text: str, position: int) -> tuple[str, int] | None:
    """The value with its escapes read, and the offset behind the closing quote; None where there is none."""
    parts = []
    while position < len(text) and text[position] != '"':
        size = 2 if text[position] == "\\" else 1
        part = text[position : position + size]
        parts.append(_ESCAPES.get(part[1], part) if len(part) > 1 else part)
        position += size
    return ("".join(parts), position + 1) if position < len(text) else None


def _bare(text: str, position: int) -> tuple[str, int]:
    """The value up to a comment or the end of the line, without blanks behind it."""
    end = at = position
    while at < len(text) and (text[at] in _BLANK or not text[at].isspace()):
        if text[at] == "#" and (at == position or end < at):
            break
        end = end if text[at] in _BLANK else at + 1
        at += 1
    return text[position:end], end


def _is_rest_empty(text: str, position: int) -> bool:
    """Whether nothing but a comment is left of the line."""
    rest = text[position : _next_line(text, position)].lstrip(_BLANK)
    return rest in ("", "\n") or rest.startswith("#")


def _next_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
