"""Whether a lesson helps: the arithmetic by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.gates.model import Gate, Severity
from bot.gates.packs import change_gate
from bot.history.model import Ratio
from bot.lessons.effect import (
    SECTION_END,
    SECTION_START,
    Adoption,
    Interval,
    Outcome,
    difference_interval,
    find_lessons,
    instruction_of,
    measure_effect,
    wilson_interval,
)
from bot.turn.rule_book import default_rules
from bot.verdicts.quality import is_imperative
from tests.builders import KNOWLEDGE_BASE

SINCE = datetime(2026, 9, 1, tzinfo=UTC)
ADOPTION = Adoption("AGENTS.md", SINCE)


def rounded(interval: Interval) -> tuple[float, float]:
    return round(interval[0], 3), round(interval[1], 3)


def test_the_interval_of_6_in_20_by_hand():
    # z² = 3.8415; centre = 0.3 + 3.8415/40 = 0.39604; spread = 1.96·√(0.0105 + 0.0024009) = 0.22262;
    # scale = 1 + 3.8415/20 = 1.19207; so (0.39604 ∓ 0.22262) / 1.19207.
    assert rounded(wilson_interval(Ratio(6, 20))) == (0.145, 0.519)


def test_the_interval_of_none_in_20_by_hand():
    # centre = spread = 3.8415/40 = 0.09604, so the bounds are 0 and 0.19207 / 1.19207.
    assert rounded(wilson_interval(Ratio(0, 20))) == (0.0, 0.161)


def test_nothing_says_nothing():
    assert wilson_interval(Ratio(0, 0)) == (0.0, 1.0)


def test_the_interval_of_the_difference_by_hand():
    # 0.3 − √(0.1545² + 0.1611²) = 0.0768, and 0.3 + √(0.2190² + 0²) = 0.5190.
    assert rounded(difference_interval(Ratio(6, 20), Ratio(0, 20))) == (0.077, 0.519)


def opened(before: tuple[int, int], after: tuple[int, int]):
    """Pull requests, so many of so many that broke the gate, on both sides of the lesson."""
    for (broken, count), start in ((before, SINCE - timedelta(days=7)), (after, SINCE)):
        yield from ((start + timedelta(hours=number), number < broken) for number in range(count))


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ((6, 20), (0, 20), Outcome.HELPED),
        ((6, 20), (5, 20), Outcome.NO_EFFECT),
        ((2, 20), (9, 20), Outcome.NO_EFFECT),
        ((6, 20), (0, 19), Outcome.MEASURING),
        ((4, 4), (0, 40), Outcome.NO_BASELINE),
    ],
)
def test_an_effect_is_judged_after_20_pull_requests(before, after, outcome):
    effect = measure_effect(ADOPTION, opened(before, after))
    assert (effect.before, effect.after, effect.outcome) == (Ratio(*before), Ratio(*after), outcome)


def test_pull_requests_from_long_before_are_no_baseline():
    rows = [(SINCE - timedelta(weeks=27), True)] * 50
    assert measure_effect(ADOPTION, rows).before == Ratio(0, 0)


@pytest.mark.parametrize(
    ("facts", "instruction"),
    [
        ({"lesson": "Pin what you add"}, "Pin what you add"),
        ({"fix": "Add the down migration. Run it twice."}, "Add the down migration"),
        ({"fix": "Never edit a migration that ran."}, "Never edit a migration that ran"),
        ({"fix": "A migration runs both ways."}, "Follow “Migrations”: A migration runs both ways"),
    ],
)
def test_an_instruction_is_the_lesson_of_the_gate_or_else_its_fix(facts, instruction):
    gate = Gate(
        "no_rollback",
        "Migrations",
        "It can't be undone",
        **{"fix": "Undo it.", "severity": Severity.BLOCKING, **facts},
    )
    assert instruction_of(gate) == instruction


@pytest.mark.parametrize("gate", [pytest.param(gate, id=gate.tag) for gate in default_rules().gates])
def test_every_shipped_lesson_is_short_and_tells_what_to_do(gate):
    assert gate.lesson
    assert is_imperative(gate.lesson)


def test_a_repository_that_changes_a_fix_changes_the_lesson():
    gate = KNOWLEDGE_BASE.get("date_errors")
    assert change_gate(gate, {"fix": "Write the day as DD.MM.YYYY."}).lesson == ""
    assert change_gate(gate, {"severity": "warning"}).lesson == gate.lesson


def test_a_lesson_is_found_by_its_sentence_or_by_its_tag_in_the_section():
    date, title = KNOWLEDGE_BASE.get("date_errors"), KNOWLEDGE_BASE.get("title_overclaims")
    wrapped = instruction_of(date).upper().replace(" ", "\n  ", 1)
    section = f"{SECTION_START}\n- Say less (`{title.tag}`).\n{SECTION_END}\n`scope_error`"
    assert find_lessons(f"# Rules\n\n- {wrapped}.\n", KNOWLEDGE_BASE) == {"date_errors"}
    assert find_lessons(section, KNOWLEDGE_BASE) == {"title_overclaims"}
    assert find_lessons(date.fix, KNOWLEDGE_BASE) == {"date_errors"}
    assert find_lessons("Mind `date_errors`.", KNOWLEDGE_BASE) == frozenset()
