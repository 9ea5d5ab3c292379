"""Several patterns that are searched for at once."""

import pytest

from bot.regex import Regex, RegexSet

PATTERNS = [Regex(rf"\b{word}\s+(?P<n>[0-9]+)", ignore_case=True) for word in ("line", "page", "step") * 10]


@pytest.mark.parametrize(
    "text", ["", "Line 3 of page 12", "step\u00a04, line 5", "STEP 1", "no number here", "line 3 – page 4"]
)
def test_no_pattern_that_matches_is_left_out(text):
    matching = [number for number, pattern in enumerate(PATTERNS) if pattern.search(text)]
    possible = list(RegexSet(PATTERNS).possible(text))
    assert [number for number in possible if number in matching] == matching


def test_of_an_ascii_text_only_patterns_that_match_are_left():
    assert list(RegexSet(PATTERNS[:3]).possible("Line 3, step 4")) == [0, 2]
