"""Which of several expressions a text has."""

from __future__ import annotations

from bot.domain.detection.structures import Place, Structures


def test_every_expression_that_is_there_is_found_once_in_their_order():
    found = Structures(["b+", "x", "(?m)^a"]).find("c\nabb b")
    assert tuple(found) == (Place(0, 3, "bb"), Place(2, 2, "a"))


def test_nothing_is_found_where_nothing_is():
    assert (tuple(Structures(["b+"]).find("é")), tuple(Structures([]).find("b"))) == ((), ())
