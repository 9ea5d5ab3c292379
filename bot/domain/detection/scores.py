"""How strongly a text speaks for each type, and for none, by the learnt weights."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from bot.domain.detection.evidence import Evidence
from bot.domain.detection.features import facts, words
from bot.domain.detection.rules import DetectionRules, Weights

Scores = tuple[float, float, float, float, float]
"""For the four types in their order, and for none."""

LENIENCE = 0.75
"""What none is given in advance: a false alarm costs more trust than a failure that stays unsaid."""
_VOICE = 0.6  # how much single words count beside cues
_USUAL = 12.0  # known words of a usual sentence; of a longer text each one counts less
_FEWEST = 6


def scores(evidence: Evidence, rules: DetectionRules) -> Scores:
    """Add up what the weights say of everything that was found."""
    known = rules.weights.get
    of_cues = [row for name in facts(evidence) if (row := known(name))]
    of_words = [row for name in words(evidence, rules) if (row := known(name))]
    volume = voice(len(of_words))
    totals = [sum(column) for column in zip(*of_cues, strict=True)] or [0.0] * 5
    if of_words:
        spoken = (sum(column) for column in zip(*of_words, strict=True))
        totals = [total + volume * said for total, said in zip(totals, spoken, strict=True)]
    one, two, three, four, none = totals
    return one, two, three, four, none + LENIENCE


def voice(known: int) -> float:
    """Say how much each of so many known words counts."""
    return _VOICE / sqrt(max(_FEWEST, known) / _USUAL)


def telling_words(evidence: Evidence, rules: DetectionRules, column: int, most: int) -> tuple[str, ...]:
    """Return the known words that speak most for one type against none."""
    said = _margins(words(evidence, rules), rules.weights, column)
    best = sorted(said, reverse=True)[:most]
    return tuple(name.strip("^$? ") for margin, name in best if margin > 0)


def _margins(names: Iterable[str], weights: Weights, column: int) -> list[tuple[float, str]]:
    return [(weights[name][column] - weights[name][-1], name) for name in names if name in weights]
