"""Parse feedback documents (JSON or YAML) in files and code fences, with the position of each part."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from json import JSONDecodeError, JSONDecoder
from typing import Any

from bot import regex
from bot.gates.model import Aspect, is_tag
from bot.gates.yaml_reader import YamlFault, YamlReader
from bot.markdown import spans
from bot.markdown.blocks import with_plain_breaks
from bot.pull_request.model import Item
from bot.values import Location

DocumentPath = tuple[str | int, ...]
MAX_DOCUMENT_DEPTH = 50
"""Levels of nesting; a feedback document has six."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A value, and the offsets of its parts by their path."""

    value: Any
    spans: dict[DocumentPath, tuple[int, int]]


class DocumentSyntaxError(Exception):
    """What is wrong with a text, and at which character."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.offset = offset


_SPACE = frozenset(" \t\n\r")
_NUMBER = regex.Regex(r"-?(?:0|[1-9][0-9]{0,308})(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_IN_NUMBER = frozenset("0123456789+-.eE")
_STRINGS = JSONDecoder()
_WORDS = {"true": True, "false": False, "null": None}


def parse_json(text: str) -> ParsedDocument:
    """Return the one value in the text; raise `DocumentSyntaxError`."""
    reader = _JsonReader(text)
    value, end = reader.value(_skip(text, 0), ())
    end = _skip(text, end)
    if end < len(text):
        raise DocumentSyntaxError("more text after the end of the document", end)
    return ParsedDocument(value, reader.spans)


class _JsonReader:
    """Reads a value at an offset, and returns it with the offset behind it.

    The YAML reader can't stand in: libyaml refuses the surrogate pairs that `json.dumps` writes.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[DocumentPath, tuple[int, int]] = {}

    def value(self, at: int, path: DocumentPath) -> tuple[Any, int]:
        if len(path) > MAX_DOCUMENT_DEPTH:
            raise DocumentSyntaxError(f"nested more than {MAX_DOCUMENT_DEPTH} levels deep", at)
        value: Any
        match self.text[at : at + 1]:
            case "{" | "[" as bracket:
                value, end = self._members(at, path, "}" if bracket == "{" else "]")
            case '"':
                value, end = self._string(at)
            case _:
                value, end = self._plain(at)
        self.spans[path] = (at, end)
        return value, end

    def _members(self, at: int, path: DocumentPath, closing: str) -> tuple[Any, int]:
        """Read an object or a list."""
        members: dict[str | int, Any] = {}
        end = _skip(self.text, at + 1)
        while self.text[end : end + 1] != closing:
            key: str | int = len(members)
            if closing == "}":
                if self.text[end : end + 1] != '"':
                    raise DocumentSyntaxError("expected a key in double quotes, or }", end)
                start, (key, end) = end, self._string(end)
                if key in members:
                    raise DocumentSyntaxError(f"the key {key[:60]!r} appears twice", start)
                end = self._expect(":", end)
            members[key], end = self.value(end, (*path, key))
            end = self._next(closing, end)
        return (members if closing == "}" else list(members.values())), end + 1

    def _next(self, closing: str, at: int) -> int:
        """Return the offset behind the comma, or of the closing bracket."""
        at = _skip(self.text, at)
        if self.text[at : at + 1] == closing:
            return at
        behind = self._expect(",", at)
        if self.text[behind : behind + 1] == closing:
            raise DocumentSyntaxError("a comma before the closing bracket", at)
        return behind

    def _expect(self, sign: str, at: int) -> int:
        at = _skip(self.text, at)
        if self.text[at : at + 1] != sign:
            raise DocumentSyntaxError(f"expected {sign!r}", at)
        return _skip(self.text, at + 1)

    def _string(self, at: int) -> tuple[str, int]:
        try:
            text, end = _STRINGS.raw_decode(self.text, at)
        except JSONDecodeError as error:
            raise DocumentSyntaxError(error.msg.lower().removesuffix(" at"), error.pos) from None
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
            raise DocumentSyntaxError(
                "expected a value: an object, a list, a text in double quotes, a number", at
            )
        is_integer = match[1] is None and match[2] is None
        return (int(match[0]) if is_integer else float(match[0])), at + match.end()


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


_YAML_MESSAGES = {
    YamlFault.SYNTAX: "{}",
    YamlFault.CHARACTER: "a character that YAML does not allow",
    YamlFault.DEPTH: f"nested more than {MAX_DOCUMENT_DEPTH} levels deep",
    YamlFault.SECOND_DOCUMENT: "a second document; use one per file",
    YamlFault.ALIAS: "aliases are not supported; write the value out",
    YamlFault.TAG: "tags are not supported; write the plain value",
    YamlFault.KEY_TYPE: "a key must be a plain word",
    YamlFault.DUPLICATE_KEY: "the key {2!r} appears twice",
}


def parse_yaml(text: str) -> ParsedDocument:
    """Return the one document in the text; raise `DocumentSyntaxError`."""
    reader = YamlReader(MAX_DOCUMENT_DEPTH + 1, strict=False)
    reader.read(text)
    if reader.problems:
        first = reader.problems[0]
        raise DocumentSyntaxError(_YAML_MESSAGES[first.fault].format(*first.details), first.offset)
    if not reader.positions:
        raise DocumentSyntaxError("nothing but comments", 0)
    spans_of_parts = {path: (part.start, part.end) for path, part in reader.positions.items()}
    return ParsedDocument(reader.value, spans_of_parts)


@dataclass(frozen=True, slots=True, order=True)
class TextPosition:
    """A line and column of a file, both counted from 1, columns in characters."""

    line: int
    column: int


class UnreadableDocument(Exception):
    """The file is not a JSON or YAML document; the message says where and why, in one line."""


MAX_DOCUMENT_SIZE = 1_048_576
"""Bytes that a feedback file may have."""


@dataclass(frozen=True)
class FeedbackFile:
    """A document and the positions of its parts."""

    name: str
    text: str
    value: Any
    spans: Mapping[DocumentPath, tuple[int, int]]

    def position(self, path: DocumentPath) -> TextPosition:
        """Return where this part of the document starts; of a missing part, where it would belong."""
        return self._at(self._span(path)[0])

    def words(self, path: DocumentPath, start: int, end: int) -> TextPosition:
        """Return the position of these characters of a text, or at least the start of the text."""
        first, last = self._span(path)
        words = self._text_at(path)[start:end]
        if not words.strip():
            return self._at(first)
        # A line of the file may be folded at any space.
        pattern = r"\s+".join(map(regex.escape, words.split()))
        in_text, in_file = _offsets(pattern, self._text_at(path)), _offsets(pattern, self.text[first:last])
        number = bisect_left(in_text, start)
        return self._at(first + in_file[number] if number < len(in_file) else first)

    @cached_property
    def _line_starts(self) -> list[int]:
        lines = with_plain_breaks(self.text).split("\n")
        return [0, *accumulate(len(line) + 1 for line in lines)][:-1]

    def _at(self, offset: int) -> TextPosition:
        line = bisect_right(self._line_starts, offset)
        return TextPosition(line, offset - self._line_starts[line - 1] + 1)

    def _span(self, path: DocumentPath) -> tuple[int, int]:
        while path not in self.spans and path:
            path = path[:-1]
        return self.spans.get(path, (0, 0))

    def _text_at(self, path: DocumentPath) -> str:
        value = self.value
        for part in path:
            value = value[part]
        return str(value)


@lru_cache(256)  # the same words can be wrong in many places of one text
def _offsets(pattern: str, text: str) -> tuple[int, ...]:
    return tuple(match.start() for match in regex.Regex(pattern).finditer(text))


def read_feedback_file(data: bytes, name: str) -> FeedbackFile:
    """Return the document in the file; raise `UnreadableDocument`."""
    if len(data) > MAX_DOCUMENT_SIZE:
        raise UnreadableDocument(
            f"{name}: {len(data):,} bytes are too many; use at most {MAX_DOCUMENT_SIZE:,}"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableDocument(f"{name}: not UTF-8 text (byte {error.start + 1})") from None
    if not text.strip():
        raise UnreadableDocument(f"{name}: empty; write an actionable-feedback document in JSON or YAML")
    try:
        parsed = parse_json(text) if _is_json(name, text) else parse_yaml(text)
    except DocumentSyntaxError as error:
        at = FeedbackFile(name, text, None, {(): (error.offset, error.offset)}).position(())
        raise UnreadableDocument(f"{name}:{at.line}:{at.column}: {error}") from None
    return FeedbackFile(name, text, parsed.value, parsed.spans)


def _is_json(name: str, text: str) -> bool:
    suffix = name.lower().rpartition(".")[2]
    if suffix in {"yml", "yaml"}:
        return False
    return suffix == "json" or text.lstrip()[:1] in {"{", "["}


MAX_DOCUMENT_ITEMS = 100
"""Items that are read of one document."""
_SEVERITIES = "critical, major, minor, suggestion"
DOCUMENT_SEVERITIES = frozenset(_SEVERITIES.split(", "))

_KEY = "feedback_items"
_LANGUAGES = frozenset({"json", "yaml", "yml"})
_LINES = regex.Regex(r"L?(\d{1,7})(?:\s*[-–]\s*L?(\d{1,7}))?")
_PATH_AND_PLACE = regex.Regex(r"(?P<path>[^\s:]+\.[^\s:]+|[^\s:]+/[^\s:]+):(?P<place>.+)")
_PARTS = frozenset({"function", "section", "element"})
_LONGEST = 1000
_LONGEST_PART = 200


def parse_documents_in(body: str, url: str = "") -> tuple[Item, ...]:
    """Return the items of every document in a `json` or `yaml` fence."""
    if _KEY not in body:
        return ()
    return tuple(
        item
        for fence in spans.find_fences(body)
        if _KEY in fence.text and (language := " ".join(fence.info.lower().split()[:1])) in _LANGUAGES
        for item in parse_document_items(_value(fence.text, language), url)
    )


def parse_document_items(document: Any, url: str = "") -> tuple[Item, ...]:
    """Return the document's items, whatever else is wrong with it; one that says nothing is left out."""
    trees = _part(document, _KEY)
    if not isinstance(trees, list):
        return ()
    target = _text(_part(document, "target"), "path")
    path = target if _is_path(target) else ""
    return tuple(item for tree in trees[:MAX_DOCUMENT_ITEMS] if (item := _item(tree, path, url)))


def _value(text: str, language: str) -> Any:
    name = "feedback.json" if language == "json" else "feedback.yml"
    try:
        return read_feedback_file(text.encode("utf-8", "replace"), name).value
    except UnreadableDocument:
        return None


def _item(tree: Any, path: str, url: str) -> Item | None:
    words, tag = _text(tree, "issue")[:500], _text(tree, "tag").strip().lower()
    if not words and not is_tag(tag):
        return None
    suggestion, location, evidence = (_part(tree, key) for key in ("suggestion", "location", "evidence"))
    aspect, severity = _text(tree, "aspect"), _text(tree, "severity").strip().lower()
    # A severity that is no severity must not make a blocker a warning: it blocks, and the reader is told.
    is_unknown = bool(severity) and severity not in DOCUMENT_SEVERITIES
    return Item(
        tag=tag if is_tag(tag) else None,
        words=words,
        place=_place(location, path),
        url=url,
        suggestion=_text(suggestion, "example")[:_LONGEST] or None,
        aspect=aspect if aspect in set(Aspect) else None,
        severity=None if is_unknown else severity or None,
        blocks=True if is_unknown and not is_tag(tag) else None,
        action=_text(suggestion, "action")[:_LONGEST] or None,
        rationale=_text(suggestion, "rationale")[:500] or None,
        context_before=_text(location, "context_before")[:500],
        context_after=_text(location, "context_after")[:500],
        evidence=_text(evidence, "test_result")[:500]
        or (f'severity "{severity[:40]}" is unknown; use one of {_SEVERITIES}' if is_unknown else None),
        metric=_text(evidence, "metric")[:500] or None,
        reference=_text(evidence, "reference")[:500] or None,
        score=_score(tree),
        part=_inside(location),
    )


def _place(location: Any, target: str) -> Location | None:
    """Return the location that `reference` names, or our further keys `path`, `line` and `end_line`."""
    reference, path = _text(location, "reference").strip(), _text(location, "path") or target
    if inside := _PATH_AND_PLACE.fullmatch(reference):
        path, reference = inside["path"], inside["place"].strip()
    elif _text(location, "type") == "path" and _is_path(reference):
        path, reference = reference, ""
    line, end = _number(location, "line"), _number(location, "end_line")
    if line is None and (lines := _LINES.fullmatch(reference)):
        line, end = int(lines[1]), int(lines[2]) if lines[2] else None
    if not _is_path(path):
        return None
    return Location(path, line or None, end if line and end and end > line else None)


def _inside(location: Any) -> tuple[str, str] | None:
    """Return the function, section or element that the document names in place of lines."""
    kind, reference = _text(location, "type"), _text(location, "reference").strip()
    if kind not in _PARTS:
        return None
    inside = _PATH_AND_PLACE.fullmatch(reference)
    name = (inside["place"] if inside else reference).strip()[:_LONGEST_PART]
    return (kind, name) if name and not _LINES.fullmatch(name) else None


def _score(tree: Any) -> float | None:
    value = _part(tree, "score")
    is_score = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_score else None


def _is_path(text: str) -> bool:
    """Whether the text names a file; `.` and `owner/repo#7` are the whole pull request."""
    return text not in {"", "."} and "#" not in text and "\n" not in text and len(text) <= 500


def _part(tree: Any, key: str) -> Any:
    return tree.get(key) if isinstance(tree, Mapping) else None


def _text(tree: Any, key: str) -> str:
    value = _part(tree, key)
    return value if isinstance(value, str) else ""


def _number(tree: Any, key: str) -> int | None:
    value = _part(tree, key)
    is_line = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**7
    return value if is_line else None
