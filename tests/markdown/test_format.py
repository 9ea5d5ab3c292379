"""Numbers as a person would say them."""

import pytest

from bot.markdown.format import format_out_of


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (1, 1, "the only gate"),
        (1, 2, "1 of the 2 gates"),
        (2, 2, "both gates"),
        (3, 5, "3 of the 5 gates"),
        (5, 5, "all 5 gates"),
    ],
)
def test_a_part_of_some_is_told_as_people_tell_it(part, whole, said):
    assert format_out_of(part, whole, "gate") == said
