"""Split a Markdown body into blocks: paragraphs, code, quotes, HTML."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import Enum
from string import ascii_letters
from typing import TypeAlias

from bot import regex


class SpanKind(Enum):
    """What a stretch of a body is."""

    TEXT = "text"
    CODE = "code"
    FENCE = "fence"
    QUOTE = "quote"
    LINK = "link"
    IMAGE = "image"
    URL = "url"
    COMMENT = "comment"
    HTML = "html"
    TASK = "task"

    __hash__ = object.__hash__  # that of an enum is written in Python, and asked for with every piece


Piece: TypeAlias = tuple[SpanKind, int, int]


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block: its info string, its text, and the offset of its first line."""

    info: str
    text: str
    start: int


@dataclass(slots=True)
class Blocks:
    """What the lines of a body are; paragraphs still have to be read for what is inline."""

    pieces: list[Piece] = field(default_factory=list)
    paragraphs: list[tuple[int, int]] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)


def end_of_closing_tag(body: str, names: Collection[str], start: int, end: int) -> int:
    """Return the offset behind the first `</name>` of these names; 0 if there is none."""
    at = body.find("</", start, end)
    while at >= 0:
        close = body.find(">", at + 2, min(end, at + _LONGEST_TAG))
        if close >= 0 and body[at + 2 : close].lower() in names:
            return close + 1
        at = body.find("</", at + 2, end)
    return 0


_LONGEST_TAG = 16  # longer than each name that is looked for, with its signs


def normalize_label(text: str) -> str:
    """Two spellings of a link reference are the same one when their labels are equal."""
    return " ".join(text.split()).casefold()


def read_blocks(body: str) -> Blocks:
    """Sort the lines of a body into blocks, as CommonMark does in the common cases."""
    reader = _Reader(body)
    at = 0
    while at < len(body):
        end, after = reader.line(at)
        reader.read(at, end, after)
        # What a fence or a comment covers is no line of its own.
        at = max(after, reader.breaks.rfind("\n", after, reader.resume) + 1)
    return reader.finish()


def with_plain_breaks(body: str) -> str:
    """Return a body of the same length in which each line ends with one line feed."""
    return body.replace("\r\n", " \n").replace("\r", "\n") if "\r" in body else body


_LETTERS = frozenset(ascii_letters)
"""What no block begins with: most lines do."""
_ITEM = regex.Regex(r"([-+*]|[0-9]{1,9}[.)])([ \t]+|$)")
_QUOTE_SIGNS = regex.Regex(r"(?: {0,3}>[ \t]?)*")
_TASKS = ("[ ]", "[x]", "[X]")
_RAW = ("pre", "script", "style", "textarea")
_DEFINITION = regex.Regex(
    r"\[([^\[\]^][^\[\]]*)\]:[ \t]*(?:<[^<>]*>|[^\s<]\S*)"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*"
)
_LONGEST_LABEL = 999
_DEEPEST = 32  # nested lists beyond this are read as text, so that hostile nesting stays linear


_Item = tuple[str, str]
"""How a list item begins: its marker, and the space behind it."""


class _Reader:
    """Feeds on lines and remembers what is open: lists, a paragraph, a quote."""

    def __init__(self, body: str) -> None:
        self.body = body
        self.breaks = with_plain_breaks(body)
        self.found = Blocks()
        self.lists: list[int] = []
        self.paragraph: tuple[int, int] | None = None
        self.quoted_fence = ""
        self.quoted_text = False
        self.quoted_until = -1  # where the line begins that follows a quoted one
        self.resume = 0  # a fence, a comment or a raw HTML block covers everything before this offset
        self.start = self.after = 0  # of the line that is read

    def line(self, start: int) -> tuple[int, int]:
        """Return where the line ends that starts there, without and with what ends it."""
        end = self.breaks.find("\n", start)
        if end < 0:
            return len(self.body), len(self.body)
        return (end - self.body.startswith("\r\n", end - 1) if end > start else end), end + 1

    def read(self, start: int, end: int, after: int) -> None:
        self.start, self.after = start, after
        if end <= self.resume:
            return
        first = self.body[start]
        if first == ">" and self._goes_on_quoting(start, end):
            return
        if start < self.resume:
            self._text(self.resume, end, 0)
            return
        if first in _LETTERS:
            self.quoted_fence = ""
            self._text(start, end, 0)
            return
        text = self.body[start:end]
        bare = text.lstrip(" \t")
        indent = _width(text[: len(text) - len(bare)])
        if not bare.startswith(">"):
            self.quoted_fence = ""
        if not bare:
            self._close()
            self.quoted_text = False
            return
        self._block(start + len(text) - len(bare), end, indent)

    def finish(self) -> Blocks:
        self._close()
        return self.found

    def _fence(self, at: int, end: int, indent: int) -> None:
        """Take everything into the fence up to the line that closes it, or that ends its list item."""
        mark, info = _fence_mark(self.body[at:end])
        begin = end + (2 if self.body.startswith("\r\n", end) else 1)
        text_end, self.resume = self._end_of_fence(mark, end)
        text = _plain(self.body[begin:text_end], indent) if text_end >= begin else ""
        self.found.fences.append(Fence(info.strip(), text, self.start))
        self.found.pieces.append((SpanKind.FENCE, at, self.resume))

    def _end_of_fence(self, mark: str, at: int) -> tuple[int, int]:
        """Return where the text of a fence ends, and where the fence itself does."""
        column = self.lists[-1] if self.lists else 0
        if not column:
            return self._fence_up_to(*self._closing_line(mark, at))
        for start, end in self._lines_after(at):
            text = self.body[start:end]
            bare = text.lstrip(" \t")
            indent = _width(text[: len(text) - len(bare)])
            if bare and indent < column:  # the list item that held the fence is over
                return self._fence_up_to(start)
            if indent - column < 4 and _closes(bare, mark):
                return self._fence_up_to(start, end)
        return self._fence_up_to()

    def _closing_line(self, mark: str, at: int) -> tuple[int, int] | tuple[()]:
        """Return the first line behind an offset that closes a fence, found by its mark: most have none."""
        while (found := self.body.find(mark, at)) >= 0:
            start = self.breaks.rfind("\n", at, found) + 1
            end, after = self.line(found)
            begins_line = start and found - start < 4 and not self.body[start:found].strip(" ")
            if begins_line and _closes(self.body[found:end], mark):
                return start, end
            at = after - 1 if after > end else after
        return ()

    def _lines_after(self, at: int) -> Iterator[tuple[int, int]]:
        _, start = self.line(at)
        while start < len(self.body):
            end, after = self.line(start)
            yield start, end
            start = after

    def _fence_up_to(self, line: int | None = None, end: int | None = None) -> tuple[int, int]:
        """Return the end of what stands before a line, and of the fence: there, unless the line closes it."""
        before = len(self.body) if line is None else line
        before -= self.body.endswith("\n", 0, before)
        before -= self.body.endswith("\r", 0, before)
        return before, before if end is None else end

    def _block(self, at: int, end: int, indent: int) -> None:
        depth = sum([indent >= column for column in self.lists])
        while True:
            inner = self.lists[depth - 1] if depth else 0
            if indent - inner >= 4:
                self._deep(at, end, depth)
                return
            first = self.body[at]
            if first in "`~<>#-+*_=0123456789" and self._marked(first, at, end, indent, depth):
                return
            item = _item(self.body[at:end]) if first in "-+*0123456789" else None
            if not item or depth >= _DEEPEST or not self._may_start(item, end - at, depth):
                self._text(at, end, depth)
                return
            self._leave(depth)
            content = _content_column(item, indent)
            self.lists.append(content)
            depth += 1
            at += len(item[0]) + len(item[1])
            if at >= end:
                return
            indent = max(content, indent + _width(item[0] + item[1]))
            if self.body.startswith(_TASKS, at) and self.body[at + 3 : min(end, at + 4)] in (" ", "\t"):
                self.found.pieces.append((SpanKind.TASK, at, at + 3))
                self._text(at + 3, end, depth)
                return

    def _marked(self, first: str, at: int, end: int, indent: int, depth: int) -> bool:
        """Say whether the line begins a block that is known by its first characters, and record it."""
        if first == ">":
            goes_on = self.quoted_text
            self._leave(depth)
            self._quote(at, end, goes_on=goes_on)
        elif first in "`~" and self._fence_opens(at, end):
            self._leave(depth)
            self._fence(at, end, indent)
        elif first == "#" and _is_heading(self.body[at:end]):
            self._leave(depth)
            self.found.paragraphs.append((at, end))
        elif first in "-*_=" and self._is_rule(at, end, depth):
            self._leave(depth)
        elif first == "<":
            return self._markup(at, end, depth)
        else:
            return False
        return True

    def _is_rule(self, at: int, end: int, depth: int) -> bool:
        line = self.body[at:end]
        signs = line.replace(" ", "").replace("\t", "")
        if signs[0] != "=" and len(signs) >= 3 and signs == signs[0] * len(signs):
            return True
        underlined = self.paragraph and depth == len(self.lists) and signs[0] in "=-"
        return bool(underlined and _closes(line, signs[0]))

    def _fence_opens(self, at: int, end: int) -> bool:
        mark, info = _fence_mark(self.body[at:end])
        return bool(mark) and not (mark[0] == "`" and "`" in info)

    def _markup(self, at: int, end: int, depth: int) -> bool:
        if self.body.startswith("<!--", at):
            closed = self.body.find("-->", at + 2)
            stop = len(self.body) if closed < 0 else closed + 3
            kind = SpanKind.COMMENT
        elif raw := _raw_tag(self.body[at:end]):
            stop = end_of_closing_tag(self.body, (raw,), at, len(self.body)) or len(self.body)
            kind = SpanKind.FENCE if raw == "pre" else SpanKind.HTML
        else:
            return False
        self._leave(depth)
        self.found.pieces.append((kind, at, stop))
        self.resume = stop
        if stop < end:
            self._text(stop, end, depth)
        return True

    def _goes_on_quoting(self, at: int, end: int) -> bool:
        """Take a further line into the quote that the line before belongs to."""
        pieces = self.found.pieces
        if self.quoted_until != self.start or self.lists or pieces[-1][0] is not SpanKind.QUOTE:
            return False
        _, start, _ = pieces.pop()
        self._quote(at, end, goes_on=self.quoted_text)
        pieces[-1] = (SpanKind.QUOTE, start, end)
        return True

    def _quote(self, at: int, end: int, *, goes_on: bool) -> None:
        self.quoted_until = self.after
        self.found.pieces.append((SpanKind.QUOTE, at, end))
        inner = _unquoted(self.body[at:end])
        bare = inner.strip()
        if self.quoted_fence:
            self.quoted_fence = "" if _closes(bare, self.quoted_fence) else self.quoted_fence
            return
        self.quoted_fence, _ = _fence_mark(bare)
        code = not goes_on and inner.startswith(("    ", "\t"))
        self.quoted_text = bool(bare) and not self.quoted_fence and not code and not _is_heading(bare)

    def _deep(self, at: int, end: int, depth: int) -> None:
        if self.paragraph or self.quoted_text:
            self._text(at, end, depth)
        else:
            self._leave(depth)
            self.found.pieces.append((SpanKind.FENCE, at, end))

    def _text(self, at: int, end: int, depth: int) -> None:
        if self.paragraph:
            self.paragraph = (self.paragraph[0], end)  # also a lazy line: it continues the paragraph
        elif self.quoted_text:
            self.found.pieces.append((SpanKind.QUOTE, at, end))
        else:
            del self.lists[depth:]
            name = _defined_label(self.body[at:end]) if self.body[at] == "[" else ""
            if name:
                self.found.labels.add(normalize_label(name))
                self.found.pieces.append((SpanKind.LINK, at, end))
            else:
                self.paragraph = (at, end)

    def _may_start(self, item: _Item, length: int, depth: int) -> bool:
        """Say whether a list item may begin here; within a paragraph only `1.` and bullets with text."""
        if not self.paragraph or depth < len(self.lists):
            return True
        marker, space = item
        return bool(space) and len(marker) + len(space) < length and marker in ("-", "+", "*", "1.", "1)")

    def _leave(self, depth: int) -> None:
        self._close()
        self.quoted_text = False
        del self.lists[depth:]

    def _close(self) -> None:
        if self.paragraph:
            self.found.paragraphs.append(self.paragraph)
            self.paragraph = None


def _closes(bare: str, mark: str) -> bool:
    closing = bare.rstrip(" \t")
    return len(closing) >= len(mark) and closing == mark[0] * len(closing)


def _item(line: str) -> _Item | None:
    """Return how the list item begins, or None if the line is none."""
    match = _ITEM.match(line)
    return (match[1], match[2]) if match else None


def _fence_mark(line: str) -> tuple[str, str]:
    """Return what opens a fence, and the rest of the line; nothing if none is opened."""
    sign = line[:1]
    info = line.lstrip(sign) if sign in ("`", "~") else line
    length = len(line) - len(info)
    return (line[:length], info) if length >= 3 else ("", "")


def _is_heading(line: str) -> bool:
    text = line.lstrip("#")
    return 1 <= len(line) - len(text) <= 6 and text[:1] in ("", " ", "\t")


def _raw_tag(line: str) -> str:
    """Return the name of the tag, behind which HTML is raw, that the line begins with."""
    named = (name for name in _RAW if line[1 : len(name) + 1].lower() == name)
    return next((name for name in named if line[len(name) + 1 : len(name) + 2].strip() in ("", ">")), "")


def _unquoted(line: str) -> str:
    """Return the line without the signs of a quote that it begins with."""
    return line[_QUOTE_SIGNS.match(line).end() :]  # type: ignore[union-attr]  # it matches nothing as well


def _defined_label(line: str) -> str:
    """Return the label that the line defines for links, if it does."""
    definition = _DEFINITION.fullmatch(line) if "]:" in line else None
    name: str = definition[1] if definition else ""
    return name if len(name) <= _LONGEST_LABEL else ""


def _content_column(item: _Item, indent: int) -> int:
    marker = indent + len(item[0])
    space = _width(item[1])
    return marker + (space if 1 <= space <= 4 else 1)


def _width(space: str) -> int:
    return len(space.expandtabs(4)) if "\t" in space else len(space)


def _plain(text: str, indent: int) -> str:
    """Return the lines of a fence with as much less indent as the fence has, each ended alike."""
    if not indent and "\r" not in text:
        return f"{text}\n"
    return "".join(
        [f"{_outdent(line, indent)}\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    )


def _outdent(line: str, indent: int) -> str:
    cut = min(indent, len(line) - len(line.lstrip(" ")))
    return line[cut:]
