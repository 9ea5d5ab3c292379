"""Which of several expressions a text has."""

from __future__ import annotations

import pytest

from bot.detection.rules import StructureMatch, StructureMatcher


def test_every_expression_that_is_there_is_found_once_in_their_order():
    found = StructureMatcher(["b+", "x", "(?m)^a"]).find("c\nabb b")
    assert tuple(found) == (StructureMatch(0, 3, "bb"), StructureMatch(2, 2, "a"))


def test_nothing_is_found_where_nothing_is():
    assert (tuple(StructureMatcher(["b+"]).find("é")), tuple(StructureMatcher([]).find("b"))) == ((), ())


@pytest.mark.parametrize(
    ("patterns", "text", "places"),
    [
        (
            "abcdefghijklmn",
            "n g f",
            [StructureMatch(5, 4, "f"), StructureMatch(6, 2, "g"), StructureMatch(13, 0, "n")],
        ),
        ("abcdefg", "ég", [StructureMatch(6, 1, "g")]),
        ("b", "\ud800b", [StructureMatch(0, 1, "b")]),
    ],
)
def test_many_expressions_are_found_each_once_where_a_reader_sees_them(patterns, text, places):
    assert StructureMatcher(patterns).find(text) == places
