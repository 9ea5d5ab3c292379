"""Split a body into headings, list items and paragraphs, and their text into sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from bot import regex
from bot.markdown.blocks import SpanKind, with_plain_breaks
from bot.markdown.spans import blank, mask_hidden


class BlockKind(Enum):
    """What a block of prose is."""

    HEADING = "heading"
    ITEM = "item"
    TASK = "task"
    """A list item with a box."""
    PARAGRAPH = "paragraph"


@dataclass(frozen=True, slots=True)
class ProseBlock:
    """A heading, a top-level list item with all that is nested in it, or a paragraph.

    `start` is behind the mark that begins it; the offsets are those of the body.
    """

    kind: BlockKind
    start: int
    end: int
    ticked: bool = False
    """A list item whose box is ticked."""


_UNREAD = (SpanKind.FENCE, SpanKind.QUOTE, SpanKind.COMMENT, SpanKind.HTML, SpanKind.IMAGE)
_HEADING = regex.Regex(r" {0,3}#{1,6}[ \t]+")
_MARK = regex.Regex(r"([ \t]*)([-*+•]|[0-9]{1,3}[.)])[ \t]+")
_BOX = regex.Regex(r"\[([ xX])\][ \t]+")
_RULE = regex.Regex(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+)[ \t]*")
_BOLD_LINE = regex.Regex(r"[ \t]*(?:\*\*[^*\n]{1,120}\*\*|__[^_\n]{1,120}__)[ \t]*:?[ \t]*")
_SENTENCE_END = regex.Regex(
    r"(?P<abbreviation>\b(?:[eE]\.g|[iI]\.e|[cC]f|vs|etc|approx|[nN]o|[eE]x|[aA]ka|resp)\.)"
    r"|(?P<sign>[.!?…]+[)\"'”’*_]*)(?:\s|$)|\n[ \t]*(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+|\n[ \t]*\n"
)
_STRUCK_OUT = regex.Regex(r"(?s)~~.*?~~")

_WRAPPED = 60
"""Characters from which a line may have been wrapped by its writer."""


def read_prose(body: str) -> str:
    """Return the body with code blocks, quotes, hidden comments and markup blanked; every offset fits."""
    readable = with_plain_breaks(mask_hidden(body, *_UNREAD))
    return _blank_struck_out(readable) if "~~" in readable else readable


def split_prose(body: str, readable: str) -> tuple[ProseBlock, ...]:
    """Return the blocks in order; `readable` is what `read_prose` made of the body."""
    blocks: list[ProseBlock] = []
    open_block: ProseBlock | None = None
    after_blank = True
    previous = ""
    offset = 0
    for line in readable.split("\n"):
        start, end = offset, offset + len(line)
        offset = end + 1
        if not line.strip():
            if not body[start:end].strip():
                after_blank = True
            elif open_block and open_block.kind is not BlockKind.PARAGRAPH:
                open_block = _extend(blocks, open_block, end)
            continue
        indent = len(line) - len(line.lstrip(" \t"))
        is_next = not after_blank and not _is_list_over(previous, line)
        if open_block and _continues(open_block, line, indent, is_next=is_next):
            open_block = _extend(blocks, open_block, end)
        elif _RULE.fullmatch(line):
            open_block = None
        else:
            open_block = _begin(line, start, end, after_list=_is_item(open_block) or after_blank)
            blocks.append(open_block)
            if open_block.kind is BlockKind.HEADING:
                open_block = None
        after_blank = False
        previous = line
    return tuple(_bold_headings(blocks, readable))


def _is_item(block: ProseBlock | None) -> bool:
    return block is not None and block.kind in (BlockKind.ITEM, BlockKind.TASK)


def _continues(block: ProseBlock, line: str, indent: int, *, is_next: bool) -> bool:
    if _HEADING.match(line) or (_RULE.fullmatch(line) and indent < 2):
        return False
    mark = _MARK.match(line)
    if _is_item(block):
        if mark and indent < 2:
            return False
        return is_next or indent >= 2
    if mark and indent < 4:
        # As in Markdown, only a list's first number interrupts a paragraph.
        return is_next and mark[2][0].isdigit() and mark[2][:-1] != "1"
    return is_next


def _is_list_over(previous: str, line: str) -> bool:
    """Whether a line directly below a list item starts a new paragraph, so that it is not wrapped text."""
    if not _MARK.match(previous):
        return False
    is_wrapped = len(previous) >= _WRAPPED and not previous.rstrip().endswith((".", "!", "?", ":"))
    return line[:1].isupper() and (not is_wrapped or line.rstrip().endswith(":"))


def _begin(line: str, start: int, end: int, *, after_list: bool) -> ProseBlock:
    if heading := _HEADING.match(line):
        return ProseBlock(BlockKind.HEADING, start + heading.end(), end)
    mark = _MARK.match(line)
    if mark is None or not (after_list or mark[2] in {"-", "*", "+", "•", "1.", "1)"}):
        return ProseBlock(BlockKind.PARAGRAPH, start, end)
    box = _BOX.match(line[mark.end() :])
    if box is None:
        return ProseBlock(BlockKind.ITEM, start + mark.end(), end)
    return ProseBlock(BlockKind.TASK, start + mark.end() + box.end(), end, ticked=box[1] != " ")


def _extend(blocks: list[ProseBlock], block: ProseBlock, end: int) -> ProseBlock:
    blocks[-1] = ProseBlock(block.kind, block.start, end, block.ticked)
    return blocks[-1]


def _bold_headings(blocks: list[ProseBlock], readable: str) -> Iterator[ProseBlock]:
    """Take a bold line of its own for the heading that it is used as."""
    for block in blocks:
        is_paragraph = block.kind is BlockKind.PARAGRAPH
        if is_paragraph and _BOLD_LINE.fullmatch(readable[block.start : block.end]):
            yield ProseBlock(BlockKind.HEADING, block.start, block.end)
        else:
            yield block


def _blank_struck_out(text: str) -> str:
    return _STRUCK_OUT.sub(lambda struck: struck[0] if "\n\n" in struck[0] else blank(struck[0]), text)


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the sentences between two offsets; a nested list item is a sentence of its own."""
    limit = len(text) if end is None else end
    begin = start
    for match in _SENTENCE_END.finditer(text[start:limit]):
        at = start + match.start()
        if match["abbreviation"]:
            continue
        stop = at + len(match["sign"] or "")
        # "1. first" inside a line: the number of a list, not the end of a sentence.
        is_number = (
            match["sign"] == "." and text[max(start, at - 2) : at].strip().isdigit() and at - begin < 4
        )
        if is_number:
            continue
        if text[begin:stop].strip():
            yield _trim(text, begin, stop)
        begin = start + match.end()
    if text[begin:limit].strip():
        yield _trim(text, begin, limit)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
