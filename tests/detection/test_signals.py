"""The signals of document 004, one by one."""

from __future__ import annotations

import pytest

from bot.detection.detector import detect
from bot.detection.rules import FeedbackType, RepositoryCue


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
    own = rules.extended(
        [RepositoryCue(FeedbackType.USER_REJECTION, "drawing board")], threshold=0.5, rounds=2
    )
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


@pytest.mark.parametrize(
    "not_said",
    [
        "> please try again",
        "`revert`",
        "```\ngit revert abc\n```",
        "<!-- try again -->",
        "https://example.org/rewrite",
        "~~Please rewrite it.~~",
        "No need to rewrite it.",
    ],
)
def test_a_wish_that_the_writer_does_not_utter_makes_nobody_surer(not_said, rules):  # row 217
    found = detect(f"This is wrong.\n\n{not_said}", rules)
    assert "request to redo" not in found.signals
    assert found.confidence == detect("This is wrong.", rules).confidence


@pytest.mark.parametrize(
    "printed",
    [
        "Traceback (most recent call last):",
        "Segmentation fault (core dumped)",
        "KeyError: 5",
        "BUG: unable to handle page fault for address 0000000000000010",
        "connect ECONNREFUSED 127.0.0.1:5432",
        "ERROR: could not open the archive",
    ],
)
def test_every_error_message_makes_surer(printed, rules):  # row 215
    said = "The server hangs forever for me."
    found = detect(f"{said}\n```\n{printed}\n```", rules)
    assert (found.type, found.confidence) == (FeedbackType.RUNTIME_ERROR, 0.9)
    assert detect(said, rules).confidence == 0.5


def test_an_exit_code_alone_is_no_error_message(rules):
    found = detect("The server hangs forever for me.\n```\nexit code 3\n```", rules)
    assert ("exit code mentioned" in found.signals, found.confidence) == (True, 0.6)


@pytest.mark.parametrize(
    ("quoted", "own"),
    [
        ("> ValueError: a b", "Now I get\n\n```\nKeyError: 5\n```"),
        ("> Segmentation fault", "Here as well:\n```\nSegmentation fault (core dumped)\n```"),
        ("> test_alpha", "The tests fail: test_beta."),
    ],
)
def test_what_is_quoted_does_not_hide_what_the_writer_shows(quoted, own, rules):
    answer = detect(f"{quoted}\n\n{own}", rules)
    assert (answer.confidence, answer.signals) == (detect(own, rules).confidence, detect(own, rules).signals)


def test_the_words_that_decided_are_among_the_signals_where_no_cue_is(rules):
    found = detect("Now I get\n\n```\nKeyError: 5\n```", rules)
    assert found.signals == ("exception type specified", "words: KeyError: 5")


OWN = [RepositoryCue(FeedbackType.RUNTIME_ERROR, "goes kaputt")]


@pytest.mark.parametrize(
    "text",
    [
        "The importer no longer goes kaputt, thanks! LGTM",
        "It never goes kaputt. Looks good.",
        "If it goes kaputt, tell me.",
        "~~It goes kaputt.~~ Looks good",
        "> It goes kaputt.\n\nLooks good to me.",
    ],
)
def test_an_own_cue_that_is_denied_over_or_struck_out_says_nothing(text, rules):
    own = rules.extended(OWN, threshold=0.5, rounds=2)
    assert detect(text, own).type == detect(text, rules).type


def test_the_words_of_an_own_cue_are_told_first(rules):
    found = detect("The importer goes  kaputt.", rules.extended(OWN, threshold=0.5, rounds=2))
    assert (found.words[0], "own cue: goes kaputt" in found.signals) == ("goes kaputt", True)


CRASH = "The server crashes with a segfault right after start, and I had to kill it."


@pytest.mark.parametrize("failed", ["One test fails.", "The build fails too.", "CI is red."])
def test_a_failed_check_goes_before_the_crash_in_it(failed, rules):
    assert detect(CRASH, rules).type is FeedbackType.RUNTIME_ERROR
    assert detect(f"{CRASH} {failed}", rules).type is FeedbackType.VERIFICATION_FAILURE


@pytest.mark.parametrize(
    "text",
    [
        "I get the same error on python 3.7 when I open the page.",
        "My cron job ends with `KeyError: 5` every night.",
    ],
)
def test_words_that_sound_like_a_check_make_no_failed_check_of_a_run(text, rules):
    assert detect(text, rules).type is FeedbackType.RUNTIME_ERROR


def test_the_two_greedy_patterns_need_a_second_signal(rules):  # row 202
    assert [cue.strong for cue in rules.cues if cue.name == "document_verification_greedy"] == [False]
    assert detect("You should see the new page but not before noon.", rules).type is None
