r"""Compile patterns for untrusted text with RE2, so that any text is searched in linear time.

`\w` and `\s` mean what they mean to Python, beyond ASCII too; `\d` and `\b` are RE2's, for ASCII only.
There is no lookaround and no backreference. `$` is the end of the text only, unless the pattern says
`(?m)`. A search encodes the whole text: call `finditer` once instead of `match` in a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import re2

RegexMatch = Any
"""A match of google-re2, which has no types: as one of `re`, with offsets in characters."""

_ASCII = {"w": r"0-9A-Za-z_", "s": r"\t-\r\x1c-\x20"}
_UNICODE = {
    "w": r"\pL\pN_",
    "s": r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}",
}


class Regex:
    """A pattern, compiled at its first use; half of a surrogate pair in a text is read as a question mark.

    A server defines some 250 patterns, and uses most of them seldom: compiled they take 5 MB and 0.2 s.
    """

    __slots__ = ("_ascii", "_unicode", "options", "pattern")

    def __init__(self, pattern: str, *, ignore_case: bool = False) -> None:
        self.pattern = pattern
        self.options = re2.Options()
        self.options.case_sensitive = not ignore_case
        self.options.log_errors = False  # RE2 would write to stderr
        self._ascii: Any = None
        self._unicode: Any = None

    def __repr__(self) -> str:
        return f"Pattern({self.pattern!r})"

    def compile(self) -> Regex:
        """Compile the pattern and return it; raise `re2.error` if it is malformed."""
        self._for("")
        return self

    def search(self, text: str) -> RegexMatch | None:
        """Return the first match anywhere."""
        return self._for(text).search(encodable(text))

    def match(self, text: str) -> RegexMatch | None:
        """Return the match at the start."""
        return self._for(text).match(encodable(text))

    def fullmatch(self, text: str) -> RegexMatch | None:
        """Return the match of the whole text."""
        return self._for(text).fullmatch(encodable(text))

    def finditer(self, text: str) -> Iterator[RegexMatch]:
        """Yield the matches that do not overlap, from left to right."""
        return iter(self._for(text).finditer(encodable(text)))

    def findall(self, text: str) -> list[Any]:
        """Return the text of each match, or of its groups where the pattern has any."""
        return list(self._for(text).findall(encodable(text)))

    def split(self, text: str, maxsplit: int = 0) -> list[str]:
        """Return the parts between the matches."""
        return list(self._for(text).split(encodable(text), maxsplit))

    def sub(self, replacement: str | Callable[[RegexMatch], str], text: str) -> str:
        """Return the text with each match replaced; a replacement that is text is taken literally."""
        compiled, readable = self._for(text), encodable(text)
        if compiled.search(readable) is None:  # which is most texts, and takes half the time
            return readable
        replace = replacement if callable(replacement) else lambda _: replacement
        return str(compiled.sub(replace, readable))

    def _for(self, text: str) -> Any:
        if text.isascii():
            if self._ascii is None:
                self._ascii = re2.compile(_expand(self.pattern, _ASCII), self.options)
            return self._ascii
        if self._unicode is None:  # a class of all letters makes a program many times as large
            self._unicode = re2.compile(_expand(self.pattern, _UNICODE), self.options)
        return self._unicode


class RegexSet:
    """Patterns of the same options; an ASCII text is searched for several of them at once.

    For any other text RE2 would need too many states: each pattern is left to be searched for by itself.
    """

    __slots__ = ("_parts", "_patterns")

    def __init__(self, patterns: Sequence[Regex]) -> None:
        self._patterns = patterns
        self._parts: list[tuple[int, Any]] = []

    def possible(self, text: str) -> Iterable[int]:
        """Return the numbers of the patterns that may match somewhere in the text, in their order."""
        if not text.isascii():
            return range(len(self._patterns))
        if not self._parts:
            starts = range(0, len(self._patterns), _PER_SEARCH)
            self._parts = [
                (start, _compile_together(self._patterns[start : start + _PER_SEARCH])) for start in starts
            ]
        data = text.encode()
        return [start + number for start, part in self._parts for number in sorted(part.Match(data) or ())]


_PER_SEARCH = 13


def _compile_together(patterns: Sequence[Regex]) -> Any:
    together = re2.Set.SearchSet(patterns[0].options)
    for pattern in patterns:
        together.Add(_expand(pattern.pattern, _ASCII))
    together.Compile()
    return together


def encodable(text: str) -> str:
    """Return a text of the same length that can be encoded: half of a surrogate pair becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def is_word(character: str) -> bool:
    r"""Whether the character, if there is one, is one that `\w` matches."""
    return character.isalnum() or character == "_"


def with_words(pattern: str, words: Mapping[str, Iterable[str]]) -> Regex:
    """Return a pattern for any case, in which `<name>` stands for any of the words of this name."""
    for name, alternatives in words.items():
        pattern = pattern.replace(f"<{name}>", f"(?:{'|'.join(alternatives)})")
    return Regex(pattern, ignore_case=True)


def escape(text: str) -> str:
    """Return a pattern that matches just this text."""
    return str(re2.escape(encodable(text)))


def _expand(pattern: str, classes: dict[str, str]) -> str:
    r"""Write out `\w` and `\s`, which RE2 reads as ASCII and without some white space."""
    parts: list[str] = []
    in_brackets = False
    characters = iter(pattern)
    for character in characters:
        if character != "\\":
            in_brackets = character != "]" if in_brackets else character == "["
            parts.append(character)
            continue
        name = next(characters)
        members = classes.get(name.lower())
        if members is None:
            parts.append(character + name)
        elif not in_brackets:
            parts.append(f"[^{members}]" if name.isupper() else f"[{members}]")
        elif name.islower():
            parts.append(members)
        else:
            message = f"\\{name} can't be used in brackets: {pattern}"
            raise ValueError(message)
    return "".join(parts)
