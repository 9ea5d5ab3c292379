"""Sentences put together as comments are, so that the detector learns what becomes of one among others.

A failure among harmless sentences is still a failure; harmless ones stay harmless however many there are; a
failure with an excuse, or that is over, is none; consent with a request is nearly done; a kind word before a
failure takes nothing of it away.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bot.detection.evidence import TYPES, gather_evidence
from bot.detection.rules import CueMeaning, DetectionRules, FeedbackType

LABELS = (*FeedbackType, "none")
NONE = len(LABELS) - 1
RUNTIME, VERIFICATION, REJECTION, PARTIAL = range(NONE)
OPENED = (RUNTIME, VERIFICATION, REJECTION)
SOME = 0.25
"""How many of the failures are excused, and how many of the consents come with a request."""

Row = tuple[str, int]
Rows = list[Row]


class Companions(NamedTuple):
    """What sentences are put together with."""

    plain: list[str]
    consent: list[str]
    harmless: list[str]
    excuses: list[str]
    settlements: list[str]
    requests: list[str]
    openers: list[str]


def composed(rows: Rows, rules: DetectionRules, directory: Path, run: int) -> Iterator[Row]:
    """Return texts of several sentences with their labels; the same run gives the same."""
    chance = random.Random(run)
    pools = _companions(rows, rules, directory)
    for text, label in rows:
        yield _among_others(text, label, pools, chance)
        if label == VERIFICATION and chance.random() < SOME:
            yield _excused(text, pools, chance), NONE
        if label in OPENED and chance.random() < SOME:
            yield _joined([chance.choice(pools.openers), text], chance), label
        if label == RUNTIME and chance.random() < SOME:
            yield _joined([text, chance.choice(pools.settlements)], chance), NONE
    for text in pools.consent:
        if chance.random() < 2 * SOME:
            yield _joined(_turned([text, chance.choice(pools.requests)], 0.2, chance), chance), PARTIAL
    for text in pools.requests:
        yield _joined([chance.choice(pools.plain), text], chance), NONE


def _among_others(text: str, label: int, pools: Companions, chance: random.Random) -> Row:
    others = pools.harmless if label == NONE else pools.plain
    first = pools.consent if label == PARTIAL and chance.random() < 0.4 else others
    parts = _turned([text, chance.choice(first)], 0.5, chance)
    if chance.random() < 0.3:
        parts.insert(chance.randrange(3), chance.choice(others))
    return _joined(parts, chance), label


def _excused(text: str, pools: Companions, chance: random.Random) -> str:
    parts = _turned([text, chance.choice(pools.excuses)], 0.3, chance)
    if chance.random() < 0.4:
        parts.insert(0, chance.choice(pools.consent))
    return _joined(parts, chance)


def _turned(parts: list[str], often: float, chance: random.Random) -> list[str]:
    return parts[::-1] if chance.random() < often else parts


def _joined(parts: list[str], chance: random.Random) -> str:
    return chance.choice((" ", " ", "\n\n")).join(_ended(part) for part in parts)


def _ended(text: str) -> str:
    return text if text.rstrip()[-1:] in ".!?`:)" else f"{text.rstrip()}."


def _companions(rows: Rows, rules: DetectionRules, directory: Path) -> Companions:
    """Sort the harmless sentences: plain ones hold no cue of a failure, and some of those consent."""
    plain, consent = [], []
    harmless = [text for text, label in rows if label == NONE and not text.startswith(">")]
    for text in harmless:
        evidence = gather_evidence(text, rules)
        if evidence.shown or evidence.is_unrelated or any(match.says in TYPES for match in evidence.matches):
            continue
        approves = any(match.says is CueMeaning.APPROVAL for match in evidence.matches)
        (consent if approves else plain).append(text)
    read = (
        (directory / "companions" / f"{name}.txt").read_text("utf-8").splitlines()
        for name in ("excuses", "settlements", "requests", "openers")
    )
    return Companions(plain, consent, harmless, *read)
