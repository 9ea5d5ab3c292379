"""Find lessons in a repository's instruction files, and measure whether they help."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.gates.model import Gate
from bot.history.model import Ratio
from bot.markdown.escape import code_span, escape_mentions
from bot.markdown.format import first_sentence
from bot.verdicts.quality import is_imperative

INSTRUCTION_FILES = (
    "AGENTS.md",
    "CLAUDE.md",
    ".github/copilot-instructions.md",
    ".cursor/rules/whetstone.mdc",
)
"""The files that are looked at, on the default branch."""
SECTION_START = "<!-- whetstone:lessons -->"
SECTION_END = "<!-- /whetstone:lessons -->"
MIN_AFTER = 20
"""Reviewed pull requests since a lesson was added, before its effect is judged."""
MIN_BEFORE = 5
"""Reviewed pull requests before it was added, without which nothing can be compared."""
BASELINE = timedelta(weeks=26)
"""How far back the pull requests before a lesson count."""

_Z = 1.959964  # 95%, two-sided


@dataclass(frozen=True, slots=True)
class Adoption:
    """Which file contains a lesson, and since when."""

    file: str
    since: datetime


class Outcome(StrEnum):
    """Whether a lesson helps."""

    HELPED = "helped"
    NO_EFFECT = "no_effect"
    MEASURING = "measuring"
    """Too few pull requests since."""
    NO_BASELINE = "no_baseline"
    """Too few pull requests before."""


Interval = tuple[float, float]
"""The bounds of a rate, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Effect:
    """How often the gate was broken before and since its lesson was added."""

    adoption: Adoption
    before: Ratio
    after: Ratio
    outcome: Outcome


def measure_effect(adoption: Adoption, opened: Iterable[tuple[datetime, bool]]) -> Effect:
    """Compare the reviewed pull requests opened before and since, each with whether it broke the gate."""
    rows = tuple(opened)
    start = adoption.since - BASELINE
    before = Ratio.of(broken for at, broken in rows if start <= at < adoption.since)
    after = Ratio.of(broken for at, broken in rows if at >= adoption.since)
    return Effect(adoption, before, after, _outcome(before, after))


def _outcome(before: Ratio, after: Ratio) -> Outcome:
    if before.whole < MIN_BEFORE:
        return Outcome.NO_BASELINE
    if after.whole < MIN_AFTER:
        return Outcome.MEASURING
    return Outcome.HELPED if difference_interval(before, after)[0] > 0 else Outcome.NO_EFFECT


def wilson_interval(ratio: Ratio) -> Interval:
    """Return the 95% interval of a rate by Wilson's score, which holds for small counts."""
    if not ratio.whole:
        return 0.0, 1.0
    rate, count, square = ratio.part / ratio.whole, ratio.whole, _Z * _Z
    centre = rate + square / (2 * count)
    spread = _Z * math.sqrt(rate * (1 - rate) / count + square / (4 * count * count))
    scale = 1 + square / count
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def difference_interval(before: Ratio, after: Ratio) -> Interval:
    """Return the 95% interval of how far the rate fell, from both Wilson intervals (Newcombe's method)."""
    then, (then_low, then_high) = before.part / before.whole, wilson_interval(before)
    now, (now_low, now_high) = after.part / after.whole, wilson_interval(after)
    fell = then - now
    return fell - math.hypot(then - then_low, now_high - now), fell + math.hypot(
        then_high - then, now - now_low
    )


def find_lessons(text: str, gates: Iterable[Gate]) -> frozenset[str]:
    """Return the tags whose lesson a file contains: its sentence anywhere, or its tag inside the markers."""
    words, section = _normalise(text), _section(text)
    return frozenset(
        gate.tag
        for gate in gates
        if code_span(gate.tag) in section
        or any(_normalise(sentence) in words for sentence in (instruction_of(gate), _fix_of(gate)))
    )


def instruction_of(gate: Gate) -> str:
    """Return what to do before a push so that a gate holds: one imperative sentence without its full stop."""
    if gate.lesson:
        return escape_mentions(gate.lesson)
    name = "" if is_imperative(gate.fix) else f"Follow “{escape_mentions(gate.gate)}”: "
    return f"{name}{_fix_of(gate)}"


def _fix_of(gate: Gate) -> str:
    return first_sentence(gate.fix).removesuffix(".")


def _normalise(text: str) -> str:
    return " ".join(text.split()).casefold()


def _section(text: str) -> str:
    start = text.find(SECTION_START)
    end = text.find(SECTION_END, start)
    return text[start : end if end >= 0 else len(text)] if start >= 0 else ""
