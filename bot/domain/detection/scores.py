"""How strongly a text speaks for each type, and for none, by the learnt weights."""

from __future__ import annotations

from math import sqrt

from bot.domain.detection.evidence import Evidence
from bot.domain.detection.features import facts
from bot.domain.detection.rules import DetectionRules
from bot.domain.detection.weights import unpacked

Scores = tuple[float, float, float, float, float]
"""For the four types in their order, and for none."""

LENIENCE = 0.3
"""What none is given in advance: a false alarm costs more trust than a failure that stays unsaid."""
_VOICE = 0.8  # how much single words count beside cues
_USUAL = 12.0  # known words of a usual sentence; of a longer text each one counts less
_FEWEST = 6


def scores(evidence: Evidence, rules: DetectionRules) -> Scores:
    """Add up what the weights say of everything that was found."""
    known = rules.learnt.facts.get
    of_facts = unpacked(sum(filter(None, map(known, facts(evidence)))))
    said, many = rules.learnt.weigh(evidence.sentences)
    of_words = unpacked(said)
    loud = voice(many) / 100
    return (
        of_facts[0] / 100 + loud * of_words[0],
        of_facts[1] / 100 + loud * of_words[1],
        of_facts[2] / 100 + loud * of_words[2],
        of_facts[3] / 100 + loud * of_words[3],
        of_facts[4] / 100 + loud * of_words[4] + LENIENCE,
    )


def voice(known: int) -> float:
    """Say how much each of so many known words counts."""
    return _VOICE / sqrt(max(_FEWEST, known) / _USUAL)
