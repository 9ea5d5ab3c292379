"""Say which lines of a Markdown body are code, quotes, hidden or paragraphs of text."""

from __future__ import annotations

import re
from string import ascii_letters

from bot.domain.prose_kinds import Blocks, Fence, Kind, label


def read_blocks(body: str) -> Blocks:
    """Sort the lines of a body into blocks, as CommonMark does in the common cases."""
    reader = _Reader(body)
    at = number = 0
    while (line := _LINE.match(body, at)) and at < len(body):
        number += 1
        reader.read(number, at, line.end(1))
        at = line.end()
        if reader.resume > at:  # what a fence or a comment covers is no line of its own
            last = max(body.rfind("\n", at, reader.resume), body.rfind("\r", at, reader.resume)) + 1
            number += len(_BREAK.findall(body, at, last))
            at = max(at, last)
    return reader.finish()


_LETTERS = frozenset(ascii_letters)
"""What no block begins with: most lines do."""
_BREAK = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"([^\r\n]*+)(?:\r\n|\n|\r|$)")
_FENCE = re.compile(r"(`{3,}+|~{3,}+)([^\r\n]*+)")
_CLOSING = re.compile(r"(?<=[\r\n]) {0,3}+(`{3,}+|~{3,}+)[ \t]*+(?=[\r\n]|\Z)")
_FULL = re.compile(r"(?<=[\r\n])([ \t]*+)([^ \t\r\n][^\r\n]*+)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r"(?:(?:-[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)$")
_UNDERLINE = re.compile(r"(?:=++|-++)[ \t]*+$")
_ITEM = re.compile(r"([-+*]|\d{1,9}[.)])([ \t]+|$)")
_TASK = re.compile(r"\[[ xX]\](?=[ \t])")
_RAW = re.compile(r"<(pre|script|style|textarea)(?:[\s>]|$)", re.IGNORECASE)
_DEFINITION = re.compile(
    r"\[([^\[\]^][^\[\]]{0,998}+)\]:[ \t]*+(?:<[^<>]*+>|[^\s<]\S*+)"
    r"(?:[ \t]++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?[ \t]*+$"
)
_QUOTES = re.compile(r"(?:[ ]{0,3}>[ \t]?)++")
_DEEPEST = 32  # nested lists beyond this are read as text, so that hostile nesting stays linear


class _Reader:
    """Feeds on lines and remembers what is open: lists, a paragraph, a quote."""

    def __init__(self, body: str) -> None:
        self.body = body
        self.found = Blocks()
        self.lists: list[int] = []
        self.paragraph: tuple[int, int] | None = None
        self.quoted_fence = ""
        self.quoted_text = False
        self.quoted_line = -1
        self.resume = 0  # a fence, a comment or a raw HTML block covers everything before this offset
        self.number = 0

    def read(self, number: int, start: int, end: int) -> None:
        self.number = number
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

    def _fence(self, opened: re.Match[str], indent: int) -> None:
        """Take everything into the fence up to the line that closes it, or that ends its list item."""
        end = opened.end()
        begin = end + (2 if self.body.startswith("\r\n", end) else 1)
        text_end, self.resume = self._end_of_fence(opened[1], end)
        text = _plain(self.body[begin:text_end], indent) if text_end >= begin else ""
        self.found.fences.append(Fence(opened[2].strip(), text, self.number))
        self.found.pieces.append((Kind.FENCE, opened.start(), self.resume))

    def _end_of_fence(self, mark: str, at: int) -> tuple[int, int]:
        """Return where the text of a fence ends, and where the fence itself does."""
        column = self.lists[-1] if self.lists else 0
        if not column:
            marks = (line for line in _CLOSING.finditer(self.body, at) if line[1].startswith(mark))
            closing = next(marks, None)
            return self._fence_up_to(closing.start(), closing.end()) if closing else self._fence_up_to()
        for line in _FULL.finditer(self.body, at):
            indent = _width(line[1])
            if indent < column:  # the list item that held the fence is over
                return self._fence_up_to(line.start())
            if indent - column < 4 and _closes(line[2], mark):
                return self._fence_up_to(line.start(), line.end())
        return self._fence_up_to()

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
            item = _ITEM.match(self.body, at, end) if first in "-+*0123456789" else None
            if not item or depth >= _DEEPEST or not self._may_start(item, depth):
                self._text(at, end, depth)
                return
            self._leave(depth)
            content = _content_column(item, indent)
            self.lists.append(content)
            depth += 1
            at = item.end()
            if at >= end:
                return
            indent = max(content, indent + _width(item.group()))
            if task := _TASK.match(self.body, at, end):
                self.found.pieces.append((Kind.TASK, task.start(), task.end()))
                self._text(task.end(), end, depth)
                return

    def _marked(self, first: str, at: int, end: int, indent: int, depth: int) -> bool:
        """Say whether the line begins a block that is known by its first characters, and record it."""
        if first == ">":
            goes_on = self.quoted_text
            self._leave(depth)
            self._quote(at, end, goes_on=goes_on)
        elif first in "`~" and (opened := self._fence_opens(at, end)):
            self._leave(depth)
            self._fence(opened, indent)
        elif first == "#" and _HEADING.match(self.body, at, end):
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
        if _RULE.match(self.body, at, end):
            return True
        return bool(self.paragraph and depth == len(self.lists) and _UNDERLINE.match(self.body, at, end))

    def _fence_opens(self, at: int, end: int) -> re.Match[str] | None:
        opened = _FENCE.match(self.body, at, end)
        return None if opened is None or (opened[1][0] == "`" and "`" in opened[2]) else opened

    def _markup(self, at: int, end: int, depth: int) -> bool:
        if self.body.startswith("<!--", at):
            closed = self.body.find("-->", at + 2)
            stop = len(self.body) if closed < 0 else closed + 3
            kind = Kind.COMMENT
        elif raw := _RAW.match(self.body, at, end):
            closing = re.compile(f"</{raw[1]}>", re.IGNORECASE).search(self.body, at)
            stop = closing.end() if closing else len(self.body)
            kind = Kind.FENCE if raw[1].lower() == "pre" else Kind.HTML
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
        if self.quoted_line != self.number - 1 or self.lists or pieces[-1][0] is not Kind.QUOTE:
            return False
        _, start, _ = pieces.pop()
        self._quote(at, end, goes_on=self.quoted_text)
        pieces[-1] = (Kind.QUOTE, start, end)
        return True

    def _quote(self, at: int, end: int, *, goes_on: bool) -> None:
        self.quoted_line = self.number
        self.found.pieces.append((Kind.QUOTE, at, end))
        prefix = _QUOTES.match(self.body, at, end)
        inner = self.body[prefix.end() if prefix else at : end]
        bare = inner.strip()
        if self.quoted_fence:
            self.quoted_fence = "" if _closes(bare, self.quoted_fence) else self.quoted_fence
            return
        opened = _FENCE.match(bare)
        self.quoted_fence = opened[1] if opened else ""
        code = not goes_on and inner.startswith(("    ", "\t"))
        self.quoted_text = bool(bare) and not opened and not code and not _HEADING.match(bare)

    def _deep(self, at: int, end: int, depth: int) -> None:
        if self.paragraph or self.quoted_text:
            self._text(at, end, depth)
        else:
            self._leave(depth)
            self.found.pieces.append((Kind.FENCE, at, end))

    def _text(self, at: int, end: int, depth: int) -> None:
        if self.paragraph:
            self.paragraph = (self.paragraph[0], end)  # also a lazy line: it continues the paragraph
        elif self.quoted_text:
            self.found.pieces.append((Kind.QUOTE, at, end))
        else:
            del self.lists[depth:]
            definition = _DEFINITION.match(self.body, at, end) if self.body[at] == "[" else None
            if definition:
                self.found.labels.add(label(definition[1]))
                self.found.pieces.append((Kind.LINK, at, end))
            else:
                self.paragraph = (at, end)

    def _may_start(self, item: re.Match[str], depth: int) -> bool:
        """Say whether a list item may begin here; within a paragraph only `1.` and bullets with text."""
        if not self.paragraph or depth < len(self.lists):
            return True
        return bool(item[2]) and item.end() < item.endpos and item[1] in ("-", "+", "*", "1.", "1)")

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


def _content_column(item: re.Match[str], indent: int) -> int:
    marker = indent + len(item[1])
    space = _width(item[2])
    return marker + (space if 1 <= space <= 4 else 1)


def _width(space: str) -> int:
    return len(space.expandtabs(4)) if "\t" in space else len(space)


def _plain(text: str, indent: int) -> str:
    """Return the lines of a fence with as much less indent as the fence has, each ended alike."""
    if not indent and "\r" not in text:
        return f"{text}\n"
    return "".join([f"{_outdent(line, indent)}\n" for line in _BREAK.split(text)])


def _outdent(line: str, indent: int) -> str:
    cut = min(indent, len(line) - len(line.lstrip(" ")))
    return line[cut:]
