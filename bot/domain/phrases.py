"""Where a phrase of the rules stands in a text.

A phrase is plain words, found as whole words in any case, or a regular expression between slashes
(`/tests? (is|are) missing/`) in the syntax of RE2, which takes linear time on any text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import re2

_MEMORY = 1 << 20  # bytes a compiled expression may take: x{1000} of x{1000} is refused, not tried
_PART = 1 << 15  # characters of plain phrases that are looked for together


class PhraseError(ValueError):
    """A regular expression that RE2 does not take; the message says why."""


def expression_of(phrase: str) -> str | None:
    """The regular expression of a phrase written between slashes, or None for plain words."""
    enclosed = len(phrase) > 2 and phrase.startswith("/") and phrase.endswith("/")
    return phrase[1:-1] if enclosed else None


def check_phrase(phrase: str) -> None:
    """Raise `PhraseError` when the phrase can't be looked for."""
    _compiled(expression_of(phrase) or _words(phrase))


def spans(phrases: tuple[str, ...], text: str) -> tuple[tuple[int, int], ...]:
    """Where any of the phrases stands in the text, as sorted offsets into it.

    Of plain phrases that overlap, the first is found.
    """
    return tuple(sorted(set(_spans(phrases, _encodable(text)))))


def occur(phrases: tuple[str, ...], text: str) -> bool:
    """Whether any of the phrases stands in the text."""
    return next(_spans(phrases, _encodable(text)), None) is not None


def names(pattern: str, name: str) -> bool:
    """Whether the pattern of a config means this name: the same, or matched by the expression."""
    expression = expression_of(pattern)
    if expression is None:
        return pattern == name
    return _compiled(expression).search(_encodable(name)) is not None


def _spans(phrases: tuple[str, ...], text: str) -> Iterator[tuple[int, int]]:
    plain, expressions = _searches(phrases)
    for words in plain:
        found = (match.span() for match in words.finditer(text))
        yield from ((start, end) for start, end in found if _is_whole(text, start, end))
    for expression in expressions:
        found = (match.span() for match in expression.finditer(text))
        yield from ((start, end) for start, end in found if start < end)


@lru_cache(maxsize=512)
def _searches(phrases: tuple[str, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """A few searches for all plain phrases together, and one for each expression."""
    plain = [_words(phrase) for phrase in phrases if expression_of(phrase) is None]
    expressions = [expression for phrase in phrases if (expression := expression_of(phrase)) is not None]
    together = (_compiled("|".join(part), memory=8 * _MEMORY) for part in _parts(plain))
    return tuple(together), tuple(map(_compiled, expressions))


@lru_cache(maxsize=1024)
def _compiled(expression: str, memory: int = _MEMORY) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False  # RE2 would write to stderr, past our logs
    options.max_mem = memory
    options.never_capture = True
    try:
        return re2.compile(expression, options)
    except re2.error as refused:
        (said,) = refused.args or ("unreadable",)
        raise PhraseError(said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)) from None


def _parts(plain: list[str]) -> Iterator[list[str]]:
    """Cut the list where one search for all of it would be larger than RE2 takes."""
    longest = max(map(len, plain), default=1)
    size = max(1, _PART // longest)
    return (plain[start : start + size] for start in range(0, len(plain), size))


def _words(phrase: str) -> str:
    """Match the words with any white space between them and either kind of apostrophe."""
    words = r"\s+".join(re2.escape(word) for word in phrase.split()).replace(re2.escape("'"), "['’]")
    return f"{_edge(phrase[:1])}{words}{_edge(phrase[-1:])}"


def _edge(character: str) -> str:
    return r"\b" if character.isascii() and _is_of_word(character) else ""


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word runs on past the edges; RE2's own edge of a word knows ASCII letters only."""
    runs_on_left = start > 0 and _is_of_word(text[start - 1]) and _is_of_word(text[start])
    runs_on_right = end < len(text) and _is_of_word(text[end]) and _is_of_word(text[end - 1])
    return start < end and not runs_on_left and not runs_on_right


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _encodable(text: str) -> str:
    """The text of the same length that RE2 can read: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
