"""Read the strict subset of YAML that rule files use, with the position of every node.

Read from the parser's events: no recursion, so no file can be too deep for us, and nothing is resolved
behind the reader's back. Plain words are read as in YAML 1.2: `on`, `no` and `2026-01-01` are text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from bot import regex
from bot.gates.problems import RuleFileError, RuleFileProblem


@dataclass(frozen=True, slots=True)
class YamlScalar:
    """One word, number, truth value or nothing."""

    value: str | int | float | bool | None
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class YamlSequence:
    """A list."""

    items: tuple[YamlNode, ...]
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class YamlEntry:
    """A key of a mapping, where it stands, and what it holds."""

    key: str
    line: int
    column: int
    node: YamlNode


@dataclass(frozen=True, slots=True)
class YamlMapping:
    """Keys and what they hold, in the file's order."""

    entries: Mapping[str, YamlEntry]
    line: int
    column: int


YamlNode = YamlScalar | YamlSequence | YamlMapping


def to_plain(node: YamlNode) -> Any:
    """The node as Python's own values, as JSON would have them."""
    match node:
        case YamlScalar():
            return node.value
        case YamlSequence():
            return [to_plain(item) for item in node.items]
        case YamlMapping():
            return {key: to_plain(entry.node) for key, entry in node.entries.items()}


def entry_at(node: YamlNode, *path: str) -> YamlEntry | None:
    """The entry at the end of these keys, or None where the file does not have it."""
    entry: YamlEntry | None = None
    for key in path:
        entry = node.entries.get(key) if isinstance(node, YamlMapping) else None
        if entry is None:
            return None
        node = entry.node
    return entry


def entries(node: YamlNode, *path: str) -> tuple[YamlEntry, ...]:
    """The entries of the mapping at the end of these keys; none where there is no mapping."""
    entry = entry_at(node, *path)
    return tuple(entry.node.entries.values()) if entry and isinstance(entry.node, YamlMapping) else ()


MAX_RULE_FILE_SIZE = 65_536
MAX_YAML_DEPTH = 16

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_YAMLS = "tag:yaml.org,2002:"
_WHOLE = regex.Regex(r"[-+]?(?:0|[1-9][0-9]{0,14})")
_NUMBER_STARTS = frozenset("+-0123456789")
_NUMBER = regex.Regex(r"[-+]?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_UNPRINTABLE = regex.Regex(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}\x{2028}\x{2029}\x{feff}\x{fffe}\x{ffff}]")


def read_yaml_document(data: bytes, file: str) -> YamlMapping:
    """The file's one mapping; raises `RuleFileError` with everything that is wrong with its YAML."""
    reader = _YamlNodeReader(file)
    text = reader.decoded(data)
    if text is not None:
        reader.follow(text)
    if reader.problems:
        raise RuleFileError(tuple(reader.problems))
    if not isinstance(reader.root, YamlMapping):
        line, column = (reader.root.line, reader.root.column) if reader.root else (1, 1)
        what = "the file is empty" if _is_nothing(reader.root) else "the file is not a mapping"
        raise RuleFileError(
            (RuleFileProblem(file, line, column, what, "use keys with values, as in `version: 1`"),)
        )
    return reader.root


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    is_mapping: bool
    line: int
    column: int
    path: str
    key: YamlScalar | None = None
    items: list[YamlNode] = field(default_factory=list)
    entries: dict[str, YamlEntry] = field(default_factory=dict)


class _YamlNodeReader:
    """Builds the nodes of one file, and notes every problem on the way."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[RuleFileProblem] = []
        self.root: YamlNode | None = None
        self._open: list[_Open] = []
        self._documents = 0

    def decoded(self, data: bytes) -> str | None:
        if len(data) > MAX_RULE_FILE_SIZE:
            self._say(1, 1, "the file is too large", f"at most {MAX_RULE_FILE_SIZE} bytes")
            return None
        try:
            text = data.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-8")
            self._say(
                *_place(before), f"byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8"
            )
            return None
        bad = _UNPRINTABLE.search(text)
        if bad:
            self._unprintable(bad[0], *_place(text[: bad.start()]))
        return None if bad else text

    def follow(self, text: str) -> None:
        try:
            for event in self._events(text):
                self._take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line, mark.column) if mark else (0, 0)
            self._say(line + 1, column + 1, *_syntax(text, line, error.problem))
        except yaml.YAMLError:
            self._say(1, 1, "the file is not YAML", "use keys with values, as in `version: 1`")

    def _events(self, text: str) -> Iterator[yaml.Event]:
        for event in yaml.parse(text, Loader=_LOADER):
            yield event
            if len(self._open) > MAX_YAML_DEPTH:
                self._say(*_start(event), "the nesting is too deep", f"at most {MAX_YAML_DEPTH} levels")
                return
            if self._documents > 1:
                self._say(*_start(event), "a second document begins", "one document a file")
                return

    def _take(self, event: yaml.Event) -> None:
        line, column = _start(event)
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
            case yaml.AliasEvent():
                self._say(line, column, f"the alias *{event.anchor} is used", "write the value out")
                self._put(YamlScalar(None, line, column))
            case yaml.ScalarEvent():
                self._refuse_marks(event, line, column)
                is_plain = event.value.isprintable()
                if not is_plain and (bad := _UNPRINTABLE.search(event.value)):  # an escape in quotes
                    self._unprintable(bad[0], line, column)
                self._put(YamlScalar(_value(event), line, column), text=event.value)
            case yaml.CollectionStartEvent():
                self._refuse_marks(event, line, column)
                self._begin(isinstance(event, yaml.MappingStartEvent), line, column)
            case yaml.CollectionEndEvent():
                self._put(_closed(self._open.pop()))

    def _refuse_marks(self, event: Any, line: int, column: int) -> None:
        if event.anchor is not None:
            self._say(
                line, column, f"the anchor &{event.anchor} is set", "write the value out where it is used"
            )
        if event.tag is not None:
            self._say(line, column, f"the type {event.tag.replace(_YAMLS, '!!')} is given", "leave it out")

    def _begin(self, is_mapping: bool, line: int, column: int) -> None:  # noqa: FBT001 - private, named at the call
        above = self._open[-1] if self._open else None
        if above and above.is_mapping and above.key is None:
            self._say(line, column, "a key is a list or a mapping", "use a word as the key")
        self._open.append(_Open(is_mapping, line, column, self._path()))

    def _put(self, node: YamlNode, text: str | None = None) -> None:
        if not self._open:
            self.root = node
            return
        above = self._open[-1]
        if not above.is_mapping:
            above.items.append(node)
        elif above.key is None:
            above.key = YamlScalar(text if text is not None else "", node.line, node.column)
        else:
            self._enter(above, above.key, node)
            above.key = None

    def _enter(self, above: _Open, key: YamlScalar, node: YamlNode) -> None:
        word = str(key.value)
        first = above.entries.get(word)
        if word == "<<":
            self._say(key.line, key.column, "the merge key << is used", "write the keys out")
        elif first is not None:
            self._say(
                key.line,
                key.column,
                f"{_join(above.path, word)} is given twice",
                f"keep one (first in line {first.line})",
            )
        else:
            above.entries[word] = YamlEntry(word, key.line, key.column, node)

    def _path(self) -> str:
        if not self._open:
            return ""
        above = self._open[-1]
        if above.is_mapping:
            return _join(above.path, str(above.key.value)) if above.key else above.path
        return f"{above.path}[{len(above.items)}]"

    def _unprintable(self, character: str, line: int, column: int) -> None:
        self._say(line, column, f"the character U+{ord(character):04X} can't be printed", "leave it out")

    def _say(self, line: int, column: int, what: str, allowed: str) -> None:
        self.problems.append(RuleFileProblem(self.file, line, column, what, allowed))


def _value(event: Any) -> str | float | bool | None:
    """What the word means: YAML 1.2's few plain forms; everything else is text."""
    word: str = event.value
    if not event.implicit[0]:  # quoted, or a block of text
        return word
    if word in _WORDS:
        return _WORDS[word]
    if word[:1] not in _NUMBER_STARTS:
        return word
    if _WHOLE.fullmatch(word):
        return int(word)
    return float(word) if _NUMBER.fullmatch(word) else word


def _closed(above: _Open) -> YamlNode:
    if above.is_mapping:
        return YamlMapping(above.entries, above.line, above.column)
    return YamlSequence(tuple(above.items), above.line, above.column)


def _is_nothing(node: YamlNode | None) -> bool:
    return node is None or (isinstance(node, YamlScalar) and node.value is None)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _start(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _place(before: str) -> tuple[int, int]:
    """Line and column of what comes after this text."""
    line = before.count("\n")
    return line + 1, len(before) - (before.rfind("\n") + 1) + 1


def _syntax(text: str, line: int, said: str | None) -> tuple[str, str]:
    """What the parser stumbled over, in words that help."""
    lines = text.splitlines()
    here = lines[line] if line < len(lines) else ""
    if "\t" in here[: len(here) - len(here.lstrip())]:
        return "a tab indents this line", "indent with spaces"
    return f"this is not YAML: {said or 'it ends too early'}", "check indentation, quotes and colons"
