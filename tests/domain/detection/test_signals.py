"""The source document's signals, one by one."""

from __future__ import annotations

import pytest

from bot.domain.detection import FeedbackType, OwnCue, detect


@pytest.mark.parametrize(
    "wish",
    [
        "try again",
        "start over",
        "do it from scratch",
        "redo it",
        "re-do it",
        "rewrite it",
        "rework it",
        "do this again",
        "revert it",
    ],
)
def test_every_wish_to_have_it_again_is_heard(wish, rules):
    assert "request to redo" in detect(f"NACK, {wish}.", rules).signals


@pytest.mark.parametrize(
    "meant",
    [
        "the idea was",
        "the intention is",
        "what i want is",
        "the goal is",
        "the point was",
        "i'd prefer",
        "i would rather have",
        "i mean",
        "this should be",
    ],
)
def test_every_way_to_say_what_was_meant_is_heard(meant, rules):
    assert "clarification of intent" in detect(f"NACK, {meant} to read it.", rules).signals


@pytest.mark.parametrize(
    ("text", "single"),
    [
        ("nit: two dots. Another nit: a typo.", False),
        ("Good to merge once you rebase.", True),
        ("LGTM, one more thing: the date.", True),  # two cues hear the same thing
        ("LGTM apart from a typo.", True),
    ],
)
def test_one_issue_is_told_from_several(text, single, rules):
    assert ("single issue mentioned" in detect(text, rules).signals) == single


def test_a_slip_is_a_specific_adjustment(rules):
    assert "specific adjustment requested" in detect("There is a typo here.", rules).signals


def test_each_signal_is_listed_once_with_at_most_six_cues(rules):
    told = detect("NACK. No, NACK again.", rules).signals
    assert len(told) == len(set(told))
    many = detect(
        "The build fails. The tests fail on Windows. CI is red. Lint errors in a.py. "
        "The type check failed. It does not compile.",
        rules,
    ).signals
    assert len([one for one in many if ": " in one]) == 6


def test_an_own_word_beside_a_cue_is_a_second_one(rules):
    own = rules.extended([OwnCue(FeedbackType.USER_REJECTION, "drawing board")], threshold=0.5, rounds=2)
    assert detect("NACK, back to the drawing board.", own).confidence == 0.6


def test_a_cue_is_told_with_most_of_its_words_and_not_again_with_fewer(rules):
    told = detect("LGTM except for the typo in the docs", rules).signals

    assert "apart_from: except for the" in told
    assert "apart_from: except for" not in told


def test_a_cue_that_was_said_twice_is_told_twice(rules):
    told = detect("CI is red, and the build fails too.", rules).signals

    assert {"ci_fails: build fails", "ci_fails: ci is red"} <= {*told}


def test_words_that_decided_are_not_told_again_as_a_part_of_others(rules):
    words = detect("This is wrong.", rules).words

    assert "this is wrong" in words
    assert "wrong" not in words
