"""Say which parts of a person's Markdown are their own words, and which code, quotes, links or hidden."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from string import ascii_letters

from bot.domain.prose_blocks import read_blocks, with_plain_breaks
from bot.domain.prose_inline import read_inline
from bot.domain.prose_kinds import Fence, Kind, Piece

__all__ = ["Comment", "Fence", "Kind", "Piece", "Span", "comments", "cover", "fences", "mask", "spans"]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the body of one kind; `line` is where it starts, counted from 1."""

    kind: Kind
    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True)
class Comment:
    """What stands between `<!--` and `-->`, and the line it starts on."""

    text: str
    line: int


def spans(body: str) -> tuple[Span, ...]:
    """Cover the whole body in order, without gap or overlap; nothing for an empty body."""
    starts = _line_starts(body)
    return tuple(Span(kind, start, end, bisect_right(starts, start)) for kind, start, end in cover(body))


def cover(body: str) -> list[Piece]:
    """Cover the whole body as `spans` does, without the lines, which take longer to find than the rest."""
    if not body:
        return []
    if not _may_be_marked_up(body):
        return [(_TEXT, 0, len(body))]
    return _covered(_pieces(body), len(body))


def mask(body: str, *hidden: Kind) -> str:
    """Blank the hidden kinds: same length, same lines, so every offset still fits."""
    if not _may_be_marked_up(body):
        return body
    parts: list[str] = []
    done = 0
    for kind, start, end in _pieces(body):
        if kind in hidden:
            parts += (body[done:start], _blank(body[start:end]))
            done = end
    return "".join((*parts, body[done:])) if parts else body


def fences(body: str) -> tuple[Fence, ...]:
    """Return the fenced code blocks in order, outside quotes and comments, fence lines left out."""
    if "```" not in body and "~~~" not in body:
        return ()
    return tuple(read_blocks(body).fences)


def comments(body: str) -> tuple[Comment, ...]:
    """Return the closed HTML comments in order, outside code and quotes."""
    if "<!--" not in body:
        return ()
    return tuple(
        Comment(body[span.start + 4 : max(span.start + 4, span.end - 3)], span.line)
        for span in spans(body)
        if span.kind is Kind.COMMENT and body.endswith("-->", span.start, span.end)
    )


_TEXT = Kind.TEXT  # found without asking the enum, which is slow for what is asked of every piece
# What can begin anything but plain text; most short comments have none of it.
_SIGNS = ("`", "<", ">", "[", "~", "\t", "://", "    ", "www.", "WWW.", "Www.")
# Lines that begin with a letter, and empty ones: no block begins there, only paragraphs need be told apart.
_PLAIN_STARTS = frozenset(("", "@", *ascii_letters))


def _may_be_marked_up(body: str) -> bool:
    return any(map(body.__contains__, _SIGNS))


def _pieces(body: str) -> list[Piece]:
    if "\r" not in body and _PLAIN_STARTS.issuperset([line[:1] for line in body.split("\n")]):
        return [piece for start, end in _paragraphs(body) for piece in read_inline(body, start, end, ())]
    blocks = read_blocks(body)
    found = blocks.pieces
    for start, end in blocks.paragraphs:
        found += read_inline(body, start, end, blocks.labels)
    return sorted(found, key=_start)


def _paragraphs(body: str) -> Iterator[tuple[int, int]]:
    at = 0
    for part in body.split("\n\n"):
        if text := part.strip("\n"):
            start = at + part.startswith("\n")
            yield start, start + len(text)
        at += len(part) + 2


def _covered(pieces: list[Piece], length: int) -> list[Piece]:
    found: list[Piece] = []
    done = 0
    for piece in pieces:
        if piece[1] > done:
            found.append((_TEXT, done, piece[1]))
        found.append(piece)
        done = piece[2]
    if done < length:
        found.append((_TEXT, done, length))
    return found


def _line_starts(body: str) -> list[int]:
    return [0, *accumulate(len(line) + 1 for line in with_plain_breaks(body).split("\n"))][:-1]


def _blank(text: str) -> str:
    lines = (line.split("\r") for line in text.split("\n"))
    return "\n".join(["\r".join([" " * len(part) for part in line]) for line in lines])


def _start(piece: Piece) -> int:
    return piece[1]
