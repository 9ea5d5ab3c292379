"""Which part of a text is read: all of it, unless it is broken up as no person's words are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice


def readable_part(text: str) -> str:
    """Leave out the middle of a text that is broken up as no person's words are; its ends are heard."""
    if "\r" in text:  # what ends a line on some systems would count as no break
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    share = max(_FEWEST_BREAKS, len(text) // _PER_BREAK)
    if len(text) <= share or _breaks_at_most(text) <= share or sum(map(text.count, _BREAKS)) <= share:
        return text
    fences = [*_fence_lines(text)]
    outside = [*_outside(text, fences)]
    backwards = [(len(text) - end, len(text) - start) for start, end in reversed(outside)]
    first = _nth(_BREAK, text, outside, share // 2)
    last = _nth(_KAERB, text[::-1], backwards, share // 2)
    if first is None or last is None or first + last >= len(text):
        return text
    return f"{text[: _beside(first, fences)]}\n\n{text[_beside(len(text) - last, fences) :]}"


def _breaks_at_most(text: str) -> int:
    """Return a number that the breaks of a text do not exceed; faster than counting each kind."""
    read = text.encode("utf-8", "replace")
    signs = len(read) - len(read.translate(None, _BREAKING))
    return signs + text.count("    ") + text.count("www.")


def _nth(pattern: re.Pattern[str], text: str, spans: list[tuple[int, int]], number: int) -> int | None:
    """Return where the break of that number begins within the spans, counted from 0."""
    found = (found.start() for start, end in spans for found in pattern.finditer(text, start, end))
    return next(islice(found, number, None), None)


def _fence_lines(text: str) -> Iterator[tuple[int, int, bool]]:
    """Return the lines that open or close a fenced block, and whether each one opens it."""
    opened = ""
    for line in _FENCE.finditer(text):
        if not opened:
            opened = line[1]
            yield *line.span(), True
        elif line[1].startswith(opened) and not line[2].strip():
            opened = ""
            yield *line.span(), False


def _outside(text: str, fences: list[tuple[int, int, bool]]) -> Iterator[tuple[int, int]]:
    """Return what is not in a fenced block: what is pasted there is set apart, however many its marks.

    A block that is never closed, or that stands in a list and ends with it, sets nothing apart.
    """
    done = 0
    for (start, end, _), (closing, _, _) in zip(fences[::2], fences[1::2], strict=False):
        if text[start] != " ":
            yield done, end
            done = closing
    yield done, len(text)


def _beside(at: int, fences: list[tuple[int, int, bool]]) -> int:
    """Move a cut out of a fence's line, so that no block is left half: before it opens, or behind its end."""
    near = ((start, end, opens) for start, end, opens in fences if start + opens <= at <= end)
    return next((start if opens else end for start, end, opens in near), at)


_BREAKS = (*"`[<>~\t\n(,!?:;.…。–—", "    ", "www.", "](", "- ", "* ", "+ ")
_BREAKING = b"`[]<>~\t\n(,!?:;.-*+\x80"  # a byte of each break; the last one is in all that are not ASCII
_EACH = [re.escape(one) for one in _BREAKS if one not in (".", "](")]
_BREAK = re.compile(
    "|".join((*_EACH, r"\](?=\()", r"\.(?=[\s)\]\"'*_A-Z])"))
)  # a dot in a name breaks nothing
_HCAE = [re.escape(one[::-1]) for one in _BREAKS if one not in (".", "](")]
_KAERB = re.compile("|".join((*_HCAE, r"(?<=\()\]", r"(?<=[\s)\]\"'*_A-Z])\.")))
"""The breaks of a text that is read backwards."""
_FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)([^`\n]*+)$", re.MULTILINE)
_PER_BREAK, _FEWEST_BREAKS = 16, 64
