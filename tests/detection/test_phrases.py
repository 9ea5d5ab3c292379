"""The language of phrases: what each form matches."""

from __future__ import annotations

import pytest

from bot.detection.phrases import PhraseMatch, PhraseMatcher

KINDS = {"fail": ("fail", "fails", "failed")}


def found(phrase: str, text: str) -> list[tuple[int, int]]:
    matches = PhraseMatcher([(0, phrase)], KINDS).find(tuple(text.split()))
    return [(match.start, match.end) for match in matches]


@pytest.mark.parametrize(
    ("phrase", "text", "spans"),
    [
        ("tests fail", "the tests fail", [(1, 3)]),
        ("tests fail", "the tests never fail", []),
        ("(a|b c) d", "a d b c d", [(0, 2), (2, 5)]),
        ("(really|) wrong", "really wrong", [(0, 2), (1, 2)]),
        ("tests {fail}", "tests failed", [(0, 2)]),
        ("tests .. fail", "tests on windows fail", [(0, 4)]),
        ("tests .. fail", "tests on old windows fail", []),
        ("tests ... fail", "tests on some old windows box fail", [(0, 7)]),
        ("^ no", "no way", [(0, 1)]),
        ("^ no", "say no", []),
        ("no $", "say no", [(1, 2)]),
        ("no $", "no way", []),
        ("<code> fails", "<code> fails", [(0, 2)]),
        ("fail", "fail fail", [(0, 1), (1, 2)]),
        ("a .. b", "a", []),
    ],
)
def test_a_phrase_matches_words(phrase, text, spans):
    assert found(phrase, text) == spans


def test_every_cue_is_found_with_its_number():
    matcher = PhraseMatcher([(3, "tests {fail}"), (5, "fails")], KINDS)
    assert matcher.find(("tests", "fails")) == [PhraseMatch(3, 0, 2), PhraseMatch(5, 1, 2)]


def test_nothing_is_found_in_no_words():
    assert PhraseMatcher([(0, "a")], KINDS).find(()) == []
