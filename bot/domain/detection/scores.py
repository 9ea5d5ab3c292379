"""How strongly a text speaks for each type, and for none, by the learnt weights."""

from __future__ import annotations

from math import sqrt

from bot.domain.detection.evidence import Evidence
from bot.domain.detection.features import facts, words
from bot.domain.detection.rules import DetectionRules
from bot.domain.detection.weights import unpacked

Scores = tuple[float, float, float, float, float]
"""For the four types in their order, and for none."""

LENIENCE = 0.5
"""What none is given in advance: a false alarm costs more trust than a failure that stays unsaid."""
_VOICE = 0.8  # how much single words count beside cues
_USUAL = 12.0  # known words of a usual sentence; of a longer text each one counts less
_FEWEST = 6


def scores(evidence: Evidence, rules: DetectionRules) -> Scores:
    """Add up what the weights say of everything that was found."""
    known = rules.learnt.facts.get
    of_facts = unpacked(sum(filter(None, map(known, facts(evidence)))))
    said, many = rules.learnt.weigh(evidence.sentences)
    volume = voice(many)
    one, two, three, four, none = [
        (fact + volume * word) / 100 for fact, word in zip(of_facts, unpacked(said), strict=True)
    ]
    return one, two, three, four, none + LENIENCE


def voice(known: int) -> float:
    """Say how much each of so many known words counts."""
    return _VOICE / sqrt(max(_FEWEST, known) / _USUAL)


def telling_words(evidence: Evidence, rules: DetectionRules, column: int, most: int) -> tuple[str, ...]:
    """Return the known words that speak most for one type against none."""
    said = words(evidence.sentences, rules.learnt.kinds)
    telling = rules.learnt.telling(said, column)
    return tuple(said[name] for margin, name in telling[:most] if margin > 0)
