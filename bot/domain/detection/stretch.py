"""Which words of which sentence does a stretch of a text stand for?"""

from __future__ import annotations

from typing import NamedTuple

from bot.domain.detection.words import Sentence, normalised, sentences
from bot.domain.prose import Kind

MARKS = frozenset((",", ":"))
CLAUSE_ENDS = MARKS | {"but", "though", "although", "however", "because", "since", "while", "except"}


class Stretch(NamedTuple):
    """Words of a sentence: the sentence, and from where up to where."""

    sentence: Sentence
    start: int
    end: int

    @property
    def before(self) -> tuple[str, ...]:
        """The words before it in its clause."""
        return clause_before(self.sentence.words, self.start)

    @property
    def after(self) -> tuple[str, ...]:
        """The words after it in its clause."""
        words = self.sentence.words
        close = next((at for at in range(self.end, len(words)) if words[at] in CLAUSE_ENDS), len(words))
        return words[self.end : close]


def read(text: str, start: int, end: int) -> Stretch:
    """Return the words of the stretch and of the sentence that it begins in; far away nothing is read."""
    end = min(end, start + _FAR)
    before = normalised(_set_apart(text[max(0, start - _FAR) : start + 1])[:-1])
    own = _first_sentence(text[start:end])
    words, asks = _first_sentence(_set_apart(text[start : end + _FAR]))
    last = len(before) + min(len(own.words), len(words))
    return Stretch(Sentence((*before, *words), asks), len(before), last)


def clause_before(words: tuple[str, ...], end: int) -> tuple[str, ...]:
    """Return the words of a clause up to an end."""
    begin = next((at for at in range(end, 0, -1) if words[at - 1] in CLAUSE_ENDS), 0)
    return words[begin:end]


def _set_apart(text: str) -> str:
    """End a sentence with a short line, and where one begins with a capital: GitHub shows them as lines."""
    first, *others = text.split("\n")
    parts, before = [first], first
    for line in others:
        ends = 0 < len(before) <= _SHORT or "A" <= line.lstrip(" \t")[:1] <= "Z"
        parts += (";" if ends else "\n", line)
        before = line
    return "".join(parts)


def _first_sentence(text: str) -> Sentence:
    return next(iter(sentences(text, ((Kind.TEXT, 0, len(text)),))), Sentence((), asks=False))


_FAR = 400  # characters before and after, about as much as a long sentence has
_SHORT = 50
