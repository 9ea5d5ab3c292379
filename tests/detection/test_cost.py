"""What a text takes to understand grows with its length, and never exceeds what usual prose takes."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from bot.detection.automaton import MAX_REPETITIONS
from bot.detection.detector import detect
from bot.detection.evidence import gather_evidence
from bot.detection.load import load_shipped_detection


def own(label: str) -> list[str]:
    return (Path(__file__).parent / "sentences" / f"{label}.txt").read_text("utf-8").splitlines()


PIECES = [
    "i do not think ",
    "(",
    "not ",
    "`",
    "<!--",
    "this is ",
    "error: ",
    'File "',
    "tests fail ",
    "? ",
    "\n",
    "[a](",
    "9",
    "`a` ",
    "    a\n",
    "this is wrong\n- ",
    "- `\n",
    "&lt;",
    "x; ",
    "why? ",
    "a.B ",
    "a*",
    "_)",
    "a-",
    "1)",
    "._ ",
]


@pytest.mark.parametrize("piece", PIECES)
def test_the_work_grows_with_the_text_and_not_faster(piece, rules):
    texts = (piece * 100, piece * 800)
    short, long = (calls(text, rules) for text in texts)
    assert long <= 10 * short


@pytest.mark.parametrize("piece", [*PIECES, "if ?_"])
def test_a_text_made_to_hurt_takes_no_more_than_usual_prose(piece, rules):
    usual = " ".join(own("none"))[:4096]
    made = (piece * len(usual))[: len(usual)]
    assert calls(made, rules) <= calls(usual, rules)


@pytest.mark.parametrize("around", ["```\n{}\n```", "- a\n\n  ```\n{}", "> {}"])
@pytest.mark.parametrize("piece", ["\n", " \n", "- a\n", "`\n", "\r"])
def test_nor_does_it_within_a_fence_a_list_or_a_quote(piece, around, rules):
    usual = " ".join(own("none"))[:4096]
    made = around.format(piece * (4096 // len(piece)))
    assert calls(made, rules) <= calls(usual, rules)


def test_a_comment_is_understood_alike_whenever_it_is_read(rules):
    """What is remembered makes reading faster, and changes nothing."""
    texts = own("user_rejection") + own("none")
    first = [detect(text, rules) for text in texts]
    assert [detect(text, load_shipped_detection()) for text in texts[:3]] == first[:3]
    assert [detect(text, rules) for text in reversed(texts)] == [*reversed(first)]


def test_a_comment_that_nobody_wrote_before_takes_little_more_than_one_that_comes_again():
    rules = load_shipped_detection()
    texts = own("none") + own("user_rejection") + own("verification_failure")
    read, fresh = texts[::2], texts[1::2]
    for text in read:
        detect(text, rules)
    first, again = ([calls_once(text, rules) for text in fresh] for _ in range(2))
    assert sum(first) < 3 * sum(again)


def test_a_cue_that_is_repeated_without_end_is_heard_a_few_times(rules):
    text = " ".join(f"The tests fail in {chr(97 + part % 26) * (2 + part // 26)}." for part in range(60))
    heard = Counter(match.name for match in gather_evidence(text, rules).matches)
    assert heard["tests_fail"] == MAX_REPETITIONS


def calls(text: str, rules) -> int:
    """How many calls it takes to understand a text that was seen before."""
    detect(text, rules)
    return calls_once(text, rules)


def calls_once(text: str, rules) -> int:
    """How many calls it takes to understand a text now: a measure that no other load disturbs."""
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
