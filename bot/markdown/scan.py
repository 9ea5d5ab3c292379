"""Find words, code spans and quotations in foreign text in linear time, where RE2 has no syntax for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.regex import is_word

_LONGEST_QUOTATION = 300  # characters, so that a stray quotation mark hides little and costs little


def has_word(text: str, word: str, start: int = 0, *, joined_by: str = "") -> bool:
    """Whether the word occurs in the text from there on, and not as part of a longer one."""
    at = text.find(word, start)
    while at >= 0:
        around = (text[at - 1 : at] if at else "", text[at + len(word) : at + len(word) + 1])
        if not any(sign and (is_word(sign) or sign in joined_by) for sign in around):
            return True
        at = text.find(word, at + 1)
    return False


def code_spans(text: str, longest: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield the start, the end and the number of backticks on each side of the code within a line.

    A run of backticks opens code where the next run that is as long is on the same line, and at most
    `longest` characters away.
    """
    ticks = list(runs("`", text, 0, len(text)))
    closing: list[int | None] = []
    next_of_length: dict[int, int] = {}
    for index in range(len(ticks) - 1, -1, -1):
        start, end = ticks[index]
        closing.append(next_of_length.get(end - start))
        next_of_length[end - start] = index
    closing.reverse()
    done = 0
    for (start, end), other in zip(ticks, closing, strict=True):
        if other is None or start < done:
            continue
        close, close_end = ticks[other]
        if (longest is None or close - end <= longest) and text.find("\n", end, close) < 0:
            yield start, close_end, end - start
            done = close_end


def quotations(text: str, marks: Mapping[str, str], before: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of what stands between quotation marks on one line, marks included.

    `marks` names for each opening mark the ones that close it. A straight single one opens only at the
    start, and behind white space or a sign of `before`; one between two letters is an apostrophe.
    """
    done = 0
    for at, sign in enumerate(text):
        if sign not in marks or at < done:
            continue
        if sign == "'" and at and not (text[at - 1].isspace() or text[at - 1] in before):
            continue
        end = _end_of_quotation(text, at + 1, marks[sign])
        if end:
            yield at, end
            done = end


def _end_of_quotation(text: str, start: int, marks: str) -> int:
    """Return the offset behind the closing mark; 0 if there is none near enough, or nothing before it."""
    limit = start + _LONGEST_QUOTATION + 1
    if marks == "'":
        close = text.find("'", start, limit)
        while close > start and is_word(text[close - 1]) and is_word(text[close + 1 : close + 2]):
            close = text.find("'", close + 1, limit)
        if is_word(text[close + 1 : close + 2]):
            return 0
    else:
        close = min((at for mark in marks if (at := text.find(mark, start, limit)) >= 0), default=-1)
    return close + 1 if close > start and text.find("\n", start, close) < 0 else 0


def runs(sign: str, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each run of a character between two offsets."""
    while (start := text.find(sign, start, end)) >= 0:
        begin, start = start, end_of_run(sign, text, start, end)
        yield begin, start


def end_of_run(sign: str, text: str, start: int, end: int) -> int:
    """Return the offset behind the run of a character that starts there."""
    while start < end and text[start] == sign:
        start += 1
    return start
