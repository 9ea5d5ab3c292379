"""When two remarks are one entry."""

from __future__ import annotations

import pytest

from bot.findings.entries import is_same_remark
from bot.pull_request.model import Item
from bot.values import Location

HERE = Location("src/app.py", 4, 9)


def remark(words, place=HERE):
    return Item(None, words, place)


LEAK = "The file handle is never closed when the parser raises an error"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (remark(LEAK), remark("File handle never closed if parser raises error"), True),
        (remark(LEAK), remark(LEAK, Location("src/app.py", 8)), True),
        (remark(LEAK), remark(LEAK, Location("src/app.py", 10)), False),
        (remark(LEAK), remark(LEAK, Location("src/b.py", 4)), False),
        (remark(LEAK), remark(LEAK, Location("src/app.py")), False),
        (remark(LEAK), remark("The name of the parser is too long"), False),
        (remark("leaks"), remark("leaks"), False),
    ],
)
def test_two_reviewers_say_the_same_only_at_the_same_lines_in_mostly_the_same_words(a, b, same):
    assert is_same_remark(a, b) is same
    assert is_same_remark(b, a) is same
