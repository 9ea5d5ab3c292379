"""What a text takes to understand grows with its length, and not faster."""

from __future__ import annotations

import sys

import pytest

from bot.detection.detector import detect

PIECES = ["i do not think ", "(", "not ", "`", "<!--", "this is ", "error: ", 'File "', "tests fail ", "? ", "\n",
          "[a](", "9", "`a` ", "    a\n", "this is wrong\n- ", "- `\n", "&lt;", "x; ", "a.B ", "a*", "_)", "a-", "1)"]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_the_work_grows_with_the_text_and_not_faster(piece, rules):
    short, long = (count_calls(piece * many, rules) for many in (100, 800))
    assert long <= 10 * short


@pytest.mark.parametrize("around", ["```\n{}\n```", "- a\n\n  ```\n{}", "> {}"])
@pytest.mark.parametrize("piece", ["\n", " \n", "- a\n", "`\n", "\r"])
def test_nor_does_it_within_a_fence_a_list_or_a_quote(piece, around, rules):
    short, long = (count_calls(around.format(piece * many), rules) for many in (100, 800))
    assert long <= 10 * short


def test_a_comment_is_understood_alike_whenever_it_is_read(rules):
    texts = ["The tests fail on Windows.", "NACK", "nit: typo", "LGTM", "Why is this here?"]
    first = [detect(text, rules) for text in texts]
    assert [detect(text, rules) for text in reversed(texts)] == [*reversed(first)]


def count_calls(text: str, rules) -> int:
    """How many calls it takes to understand a text: a measure that no other load disturbs."""
    detect(text, rules)
    seen = 0

    def count(_frame, event, _argument):
        nonlocal seen
        seen += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        detect(text, rules)
    finally:
        sys.setprofile(None)
    return seen
