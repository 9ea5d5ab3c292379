"""Where a phrase of the rules stands in a text.

A phrase is plain words, found as whole words in any case, or a regular expression between slashes
(`/tests? (is|are) missing/`) in the syntax of RE2, which takes linear time on any text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

_MEMORY = 1 << 20  # bytes a compiled expression may take: x{1000} of x{1000} is refused, not tried
_EDGE = r"[^\pL\pN_]"  # RE2's own \b knows ASCII letters only


class PhraseError(ValueError):
    """A regular expression that RE2 does not take; the message says why."""


def expression_of(phrase: str) -> str | None:
    """The regular expression of a phrase written between slashes, or None for plain words."""
    enclosed = len(phrase) > 2 and phrase.startswith("/") and phrase.endswith("/")
    return phrase[1:-1] if enclosed else None


def check_phrase(phrase: str) -> None:
    """Raise `PhraseError` when the phrase can't be looked for."""
    _compiled(phrase)


def spans(phrase: str, text: str) -> tuple[tuple[int, int], ...]:
    """Where the phrase stands in the text, from left to right, as offsets into the text."""
    pattern, group = _compiled(phrase)
    found = (match.span(group) for match in pattern.finditer(_encodable(text)))
    return tuple((start, end) for start, end in found if start < end)


def names(pattern: str, name: str) -> bool:
    """Whether the pattern of a config means this name: the same, or matched by the expression."""
    if expression_of(pattern) is None:
        return pattern == name
    return _compiled(pattern)[0].search(_encodable(name)) is not None


@lru_cache(maxsize=2048)
def _compiled(phrase: str) -> tuple[Any, int]:
    expression = expression_of(phrase)
    try:
        if expression is None:
            return re2.compile(f"(?:^|{_EDGE})({_words(phrase)})(?:{_EDGE}|$)", _options()), 1
        return re2.compile(expression, _options(never_capture=True)), 0
    except re2.error as refused:
        raise PhraseError(_reason(refused)) from None


def _options(*, never_capture: bool = False) -> re2.Options:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False  # RE2 would write to stderr, past our logs
    options.max_mem = _MEMORY
    options.never_capture = never_capture
    return options


def _words(phrase: str) -> str:
    """Match the words with any white space between them and either kind of apostrophe."""
    escaped = (re2.escape(word) for word in phrase.split())
    return r"\s+".join(escaped).replace(re2.escape("'"), "['’]")


def _encodable(text: str) -> str:
    """The text of the same length that RE2 can read: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _reason(refused: Exception) -> str:
    (said,) = refused.args or ("not a regular expression",)
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
