from __future__ import annotations

from pathlib import Path

import pytest

from bot.gates.config import (
    DegradationLimits,
    QualityDimension,
    find_wrong_sum,
    scoring_rules,
    shipped_scoring,
)
from bot.gates.model import Aspect
from bot.gates.problems import RuleFileError
from bot.gates.rule_files import parse_rule_file
from bot.turn.rule_book import default_rules

FILE = Path(__file__).parents[2] / "rules" / "scoring.yml"
SECTIONS = "scoring, dimensions, severities, aspects, degradation"


def parse(text: str):
    return parse_rule_file(text.encode(), "scoring.yml", "rules/scoring", find_wrong_sum)


def problems(text: str) -> list[str]:
    with pytest.raises(RuleFileError) as refused:
        parse(text)
    return [str(problem) for problem in refused.value.problems]


def changed(old: str, new: str) -> str:
    text = FILE.read_text("utf-8")
    assert old in text
    return text.replace(old, new, 1)


def test_the_product_weighs_as_the_document_says():  # row 77 # row 78 # row 79 # row 80 # row 81
    assert shipped_scoring().weights.dimensions == {
        QualityDimension.VALIDATION: 0.30,
        QualityDimension.COMPLETENESS: 0.25,
        QualityDimension.CORRECTNESS: 0.25,
        QualityDimension.READABILITY: 0.10,
        QualityDimension.EFFICIENCY: 0.10,
    }


def test_the_products_items_and_limits():  # row 94 # row 95
    scoring = shipped_scoring()
    assert scoring.weights.severities == {"critical": 1.0, "major": 0.4, "minor": 0.1, "suggestion": 0.05}
    assert scoring.limits == DegradationLimits(0.05, 2, 2, 2.0, 20, 2, 1, 0.5, 5)
    assert set(scoring.weights.aspects) == set(Aspect)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "validation: 0.30",
            "validation: much",
            'scoring.yml:7:15: dimensions.validation is "much"; use a number from 0 to 1',
        ),
        (
            "validation: 0.30",
            "validation: 1.5",
            "scoring.yml:7:15: dimensions.validation is 1.5; use a number from 0 to 1",
        ),
        (
            "validation: 0.30",
            "validation: 0.40",
            "scoring.yml:6:1: dimensions add up to 1.1; they are shares of one score and must add up to 1",
        ),
        (
            "major: 0.4",
            "mayor: 0.4",
            """scoring.yml:14:1: severities is missing major; required: critical, major, minor, suggestion
scoring.yml:16:3: severities.mayor is unknown; did you mean major? One of critical, major, minor, suggestion""",
        ),
        (
            "  style: readability",
            "  style: beauty",
            f'scoring.yml:29:10: aspects.style is "beauty"; use one of {", ".join(QualityDimension)}',
        ),
        (
            "drops_in_a_row: 2",
            "drops_in_a_row: 1.5",
            "scoring.yml:37:19: degradation.drops_in_a_row is 1.5; use an integer of at least 1",
        ),
        (
            "drops_in_a_row: 2",
            "drops_in_a_row: true",
            "scoring.yml:37:19: degradation.drops_in_a_row is true; use an integer of at least 1",
        ),
        ("growth: 2.0", "growth: 1", "scoring.yml:39:11: degradation.growth is 1; use a number over 1"),
        ("scoring: 1", "scoring: 2", "scoring.yml:3:10: scoring is 2; use 1, the version of this format"),
        (
            "scoring: 1",
            "scoring: 1\nbonus: {}",
            f"scoring.yml:4:1: bonus is unknown; use one of {SECTIONS}",
        ),
        ("drop: 0.05", "drop:", "scoring.yml:36:8: degradation.drop is empty; use a number from 0 to 1"),
        ("drop: 0.05", "drop: [1]", "scoring.yml:36:9: degradation.drop is a list; use a number from 0 to 1"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_allowed(old, new, expected):
    assert problems(changed(old, new)) == expected.split("\n")


def test_a_count_may_be_written_with_a_decimal_point():
    text = changed("drops_in_a_row: 2", "drops_in_a_row: 3.0")
    assert scoring_rules(parse(text)).limits.drops_in_a_row == 3


def test_a_section_that_is_no_mapping():
    assert problems(changed("severities:\n", "severities: 5\nx_y:\n"))[:1] == [
        "scoring.yml:14:13: severities is 5; use the keys critical, major, minor, suggestion"
    ]


def test_everything_that_is_wrong_is_said_at_once():
    assert problems("scoring: 2\n") == [
        f"scoring.yml:1:1: the file is missing dimensions, severities, aspects, degradation; required: {SECTIONS}",
        "scoring.yml:1:10: scoring is 2; use 1, the version of this format",
    ]


def test_the_rules_without_a_file_are_the_products():
    assert scoring_rules(parse(FILE.read_text("utf-8"))) == default_rules().scoring
