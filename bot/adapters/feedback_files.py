"""What a feedback file says, as a plain value, and at which line and column each part of it stands."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from bot.adapters.feedback_json import read_json
from bot.adapters.feedback_yaml import read_yaml
from bot.adapters.parsed import Parsed, Path, Unparsable
from bot.domain import regex
from bot.domain.lint import Position, UnreadableFeedback
from bot.domain.prose_blocks import with_plain_breaks

LARGEST = 1_048_576
"""Bytes that a feedback file may have."""


@dataclass(frozen=True)
class FeedbackFile:
    """A document and where its parts stand."""

    name: str
    text: str
    value: Any
    spans: Mapping[Path, tuple[int, int]]

    def position(self, path: Path) -> Position:
        """Where this part of the document starts; of a missing part: where it would belong."""
        return self._at(self._span(path)[0])

    def words(self, path: Path, start: int, end: int) -> Position:
        """Where these characters of a text stand, or at least where the text starts."""
        first, _ = self._span(path)
        words = self._text_at(path)[start:end]
        if not words.strip():
            return self._at(first)
        in_text, in_file = self._mentions(path, words)
        number = bisect_left(in_text, start)
        return self._at(first + in_file[number] if number < len(in_file) else first)

    def _mentions(self, path: Path, words: str) -> tuple[list[int], list[int]]:
        """Where these words start, in the text of this part and in the file."""
        key = (path, words)
        if key not in self._mentioned:
            first, last = self._span(path)
            wanted = _spaced(words)
            self._mentioned[key] = (
                [match.start() for match in wanted.finditer(self._text_at(path))],
                [match.start() for match in wanted.finditer(self.text[first:last])],
            )
        return self._mentioned[key]

    @cached_property
    def _mentioned(self) -> dict[tuple[Path, str], tuple[list[int], list[int]]]:
        return {}

    @cached_property
    def _starts(self) -> list[int]:
        lines = with_plain_breaks(self.text).split("\n")
        return [0, *accumulate(len(line) + 1 for line in lines)][:-1]

    def _at(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def _span(self, path: Path) -> tuple[int, int]:
        while path not in self.spans and path:
            path = path[:-1]
        return self.spans.get(path, (0, 0))

    def _text_at(self, path: Path) -> str:
        value = self.value
        for part in path:
            value = value[part]
        return str(value)


def read(data: bytes, name: str) -> FeedbackFile:
    """The document in the file; raises `UnreadableFeedback`."""
    if len(data) > LARGEST:
        raise UnreadableFeedback(
            f"{name}: {len(data):,} bytes are too many; a feedback file has at most {LARGEST:,}"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise UnreadableFeedback(f"{name}: not UTF-8 text (byte {wrong.start + 1})") from None
    if not text.strip():
        raise UnreadableFeedback(f"{name}: empty; write an actionable-feedback document in JSON or YAML")
    try:
        parsed: Parsed = (read_json if _is_json(name, text) else read_yaml)(text)
    except Unparsable as wrong:
        place = FeedbackFile(name, text, None, {(): (wrong.offset, wrong.offset)}).position(())
        raise UnreadableFeedback(f"{name}:{place.line}:{place.column}: {wrong}") from None
    return FeedbackFile(name, text, parsed.value, parsed.spans)


def _is_json(name: str, text: str) -> bool:
    suffix = name.lower().rpartition(".")[2]
    if suffix in {"yml", "yaml"}:
        return False
    return suffix == "json" or text.lstrip()[:1] in {"{", "["}


def _spaced(words: str) -> regex.Pattern:
    """The words as they may stand in a file, where a line can be folded at any space."""
    return regex.Pattern(r"\s+".join(map(regex.escape, words.split())))
