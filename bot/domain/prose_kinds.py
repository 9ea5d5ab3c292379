"""The kinds of text in a Markdown body, and what its lines are found to be."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias


class Kind(Enum):
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


Piece: TypeAlias = tuple[Kind, int, int]


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block: its info string, its text, and the line of the opening fence."""

    info: str
    text: str
    line: int


@dataclass(slots=True)
class Blocks:
    """What the lines of a body are; paragraphs still have to be read for what is inline."""

    pieces: list[Piece] = field(default_factory=list)
    paragraphs: list[tuple[int, int]] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)


def end_of_closing_tag(body: str, names: Collection[str], start: int, end: int) -> int:
    """Return the offset behind the first `</name>` of these names; 0 where there is none."""
    at = body.find("</", start, end)
    while at >= 0:
        close = body.find(">", at + 2, min(end, at + _LONGEST_TAG))
        if close >= 0 and body[at + 2 : close].lower() in names:
            return close + 1
        at = body.find("</", at + 2, end)
    return 0


_LONGEST_TAG = 16  # longer than each name that is looked for, with its signs


def label(text: str) -> str:
    """Two spellings of a link reference are the same one when their labels are equal."""
    return " ".join(text.split()).casefold()
