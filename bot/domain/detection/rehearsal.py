"""Reading the words of all phrases once, so that the first text of a process costs what any other does."""

from __future__ import annotations

from string import ascii_lowercase

from bot.domain.detection.detector import detect
from bot.domain.detection.rules import DetectionRules

_LETTERS = frozenset(ascii_lowercase)
_AT_ONCE = 20  # a sentence as long as people's


def _words(phrase: str) -> list[str]:
    return "".join([sign if sign in _LETTERS else " " for sign in phrase]).split()


def rehearse(rules: DetectionRules) -> None:
    """Have what a word leads to, counts as and looks like worked out for every word that phrases name."""
    named = {word for cue in rules.cues for phrase in cue.phrases for word in _words(phrase)}
    listed = {word for words in rules.lists.values() for word in words}
    words = sorted(named | listed)
    for first in range(0, len(words), _AT_ONCE):
        detect(" ".join(words[first : first + _AT_ONCE]), rules)
