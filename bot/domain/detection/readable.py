"""Which part of a text is read: all of it, unless it is broken up as no person's words are."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase

from bot.domain import regex


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
    first = _nth(text, outside, share // 2, ahead=1)
    last = _nth(text[::-1], backwards, share // 2, ahead=-1)
    if first is None or last is None or first + last >= len(text):
        return text
    return f"{text[: _beside(first, fences)]}\n\n{text[_beside(len(text) - last, fences) :]}"


def _breaks_at_most(text: str) -> int:
    """Return a number that the breaks of a text do not exceed; faster than counting each kind."""
    read = text.encode("utf-8", "replace")
    signs = len(read) - len(read.translate(None, _BREAKING))
    return signs + text.count("    ") + text.count("www.")


def _nth(text: str, spans: list[tuple[int, int]], number: int, ahead: int) -> int | None:
    """Return where the break of that number begins within the spans, counted from 0.

    `ahead` is 1, or -1 in a text that is read backwards.
    """
    two, four = _OF_TWO[ahead], _OF_FOUR[ahead]
    for start, end in spans:
        at = start
        while at < end:
            if text[at] in _ALONE:
                size = 1
            elif text[at : at + 4] in four and at + 4 <= end:
                size = 4
            elif text[at : at + 2] in two and at + 2 <= end:
                size = 2
            else:
                size = int(text[at] in _BEFORE and _breaks(text, at, at + ahead, end))
            if size and not number:
                return at
            number -= size > 0
            at += size or 1
    return None


def _breaks(text: str, at: int, beside: int, end: int) -> bool:
    """Say whether a sign breaks the text for what stands beside it: a dot in a name does not."""
    if not 0 <= beside < end:
        return False
    return text[beside] in _BEFORE[text[at]] or (text[at] == "." and text[beside].isspace())


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
_ALONE = frozenset(one for one in _BREAKS if len(one) == 1 and one != ".")
_OF_TWO = {ahead: frozenset(one[::ahead] for one in ("- ", "* ", "+ ")) for ahead in (1, -1)}
_OF_FOUR = {ahead: frozenset(one[::ahead] for one in ("    ", "www.")) for ahead in (1, -1)}
_BEFORE = {"]": "(", ".": f")]\"'*_{ascii_uppercase}"}
_FENCE = regex.Pattern(r"(?m)^ {0,3}(`{3,}|~{3,})([^`\n]*)$")
_PER_BREAK, _FEWEST_BREAKS = 16, 64
