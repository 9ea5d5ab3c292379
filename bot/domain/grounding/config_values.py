"""Which values does a file give a key?"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence

from bot.domain import regex
from bot.domain.grounding.toml_text import toml

_YAML = regex.Pattern(r"^(?P<indent>[ ]*)(?:- )?[\"']?(?P<key>[\w./-]+)[\"']?\s*:(?:\s+(?P<value>.*))?$")
_INI = regex.Pattern(r"^\s*(?:export\s+)?(?P<key>[\w.-]+)\s*[=:](?P<value>.*)$")
_COMMENT = regex.Pattern(r"\s+(?:#|//|;).*$")
_SECTION = regex.Pattern(r"\s*\[([^\]]+)\]\s*")


def values(path: str, lines: Sequence[str], key: str) -> tuple[str, ...]:
    """Every value that the file gives the key (`timeout`, or `server.timeout`), each once, as written."""
    suffix = posixpath.splitext(path)[1].lower()
    try:
        found = _read(suffix, lines, key)
        matching = [value for name, value in found if _ends(name, key)]
    except (ValueError, RecursionError):
        return ()
    return tuple(dict.fromkeys(plain(value) for value in matching))


def plain(value: str) -> str:
    """A value without quotes and end marks, words for truth in one spelling."""
    bare = value.strip().rstrip(",;").strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'`":
        bare = bare[1:-1]
    return bare.lower() if bare.lower() in {"true", "false", "null", "none"} else bare


def _read(suffix: str, lines: Sequence[str], key: str) -> Iterator[tuple[str, str]]:
    if suffix in {".json", ".jsonc", ".json5"}:
        return _tree(json.loads("\n".join(lines)), "")
    if suffix == ".toml":
        return _tree(toml("\n".join(lines)), "")
    if suffix in {".yml", ".yaml"}:
        return _yaml(lines)
    if suffix in {".ini", ".cfg", ".conf", ".properties"}:
        return _ini(lines)
    return _code(lines, key)


def _tree(node: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for key, below in node.items():
            yield from _tree(below, f"{name}.{key}".lstrip("."))
    elif isinstance(node, str | int | float | bool) or node is None:
        yield name, node if isinstance(node, str) else json.dumps(node)


def _yaml(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Plain `key: value` lines by their indent; texts of several lines are passed over."""
    above: list[tuple[int, str]] = []
    text_from: int | None = None
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" "))
        if text_from is not None and indent > text_from:
            continue
        text_from = None
        match = _YAML.match(line)
        if match is None:
            continue
        above = [(depth, key) for depth, key in above if depth < indent]
        value = _COMMENT.sub("", f" {match['value'] or ''}").strip()
        if value[:1] in {"|", ">"}:
            text_from = indent
        elif value:
            yield ".".join((*(key for _, key in above), match["key"])), value
        above.append((indent, match["key"]))


def _ini(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    section = ""
    for line in lines:
        if header := _SECTION.fullmatch(line):
            section = header[1]
        elif not line.lstrip().startswith(("#", ";")) and (match := _INI.match(line)):
            yield f"{section}.{match['key']}".lstrip("."), _COMMENT.sub("", match["value"]).strip()


def _code(lines: Sequence[str], key: str) -> Iterator[tuple[str, str]]:
    """Assignments of a plain value to the name; whatever is computed is not a value that can be read."""
    said = regex.Pattern(
        rf"(?:[\w<>,: ]+\s)?[\"']?{regex.escape(key)}[\"']?\s*(?::[\w.&'\[\]<>|\s]+)?(?::=|[:=])\s*"
        r"(?P<value>\"[^\"]*\"|'[^']*'|-?\d[\w.]*|true|false|null|None|True|False|nil)\s*[;,)]*\s*(?:(?:#|//).*)?$"
    )
    for line in lines:
        if not line.lstrip().startswith(("#", "//", "*", "--")) and (match := said.match(line.lstrip())):
            yield key, match["value"]


def _ends(name: str, key: str) -> bool:
    return name == key or name.endswith(f".{key}")
