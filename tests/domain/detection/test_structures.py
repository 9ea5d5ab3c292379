"""Which of several expressions a text has."""

from __future__ import annotations

import pytest

from bot.domain.detection.structures import Place, Structures


def test_every_expression_that_is_there_is_found_once_in_their_order():
    found = Structures(["b+", "x", "(?m)^a"]).find("c\nabb b")
    assert tuple(found) == (Place(0, 3, "bb"), Place(2, 2, "a"))


def test_nothing_is_found_where_nothing_is():
    assert (tuple(Structures(["b+"]).find("é")), tuple(Structures([]).find("b"))) == ((), ())


@pytest.mark.parametrize(
    ("patterns", "text", "places"),
    [
        ("abcdefghijklmn", "n g f", [Place(5, 4, "f"), Place(6, 2, "g"), Place(13, 0, "n")]),
        ("abcdefg", "ég", [Place(6, 1, "g")]),
        ("b", "\ud800b", [Place(0, 1, "b")]),
    ],
)
def test_many_expressions_are_found_each_once_where_a_reader_sees_them(patterns, text, places):
    assert Structures(patterns).find(text) == places
