"""What a comment is understood as, how sure that is, and by which words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.detection.detector import Detection, classify, compute_confidence, detect
from bot.detection.evidence import gather_evidence
from bot.detection.rules import FeedbackType, RepositoryCue

TRACE = 'It dies:\n\n```\nTraceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: 3\n```'


def test_a_harmless_comment_is_nothing(rules):  # row 237
    assert detect("No problem, looks good.", rules) == Detection(None)


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello!",
        "error",
        "Error.",
        "exception",
        "foo_bar",
        "`parse_date`",
        "KeyError",
        "@ada",
        "?",
        "👍",
    ],
)
def test_a_greeting_a_name_or_one_word_decides_nothing(text, rules):
    assert detect(text, rules).type is None


@pytest.mark.parametrize(  # rows 199 to 201
    "text", ["Here is the traceback", "The command failed", "This is a type error", "The command failed."]
)
def test_the_documents_own_pattern_wins_where_it_is_all_that_is_stated(text, rules):
    found = detect(text, rules)
    assert (found.type, found.confidence >= 0.5) == (FeedbackType.RUNTIME_ERROR, True)


@pytest.mark.parametrize(
    "text",
    ["Is this a type error?", "Log the error here.", "If the command failed, we retry.", "No crash here."],
)
def test_a_pattern_that_is_not_stated_as_a_fact_is_no_crash(text, rules):
    assert detect(text, rules).type is not FeedbackType.RUNTIME_ERROR


@pytest.mark.parametrize(
    "text",
    [
        "The tests fail on Windows.",
        "CI is red: two lint errors in `bot/report.py`.",
        "This does not compile with GCC 9.",
        "You broke the tests.",
        "Lint fails, please fix.",
    ],
)
def test_a_short_statement_that_a_check_fails_is_shown(text, rules):
    found = detect(text, rules)
    assert (found.type, found.is_shown) == (FeedbackType.VERIFICATION_FAILURE, True)


@pytest.mark.parametrize(
    "text",
    [
        "The tests failed yesterday.",
        "Unit tests failed last week.",
        "I reverted it since CI was red.",
        "Otherwise the tests fail.",
        "I get a lint error if I leave it out.",
        "The check fails the build if coverage drops, which is what we want.",
        "The build failed because of a network outage.",
        "The old version did not compile with GCC 9.",
        "This caused a build failure in the other repository.",
    ],
)
def test_a_failure_that_may_be_past_conditional_or_elsewhere_is_not_shown(text, rules):
    assert detect(text, rules).is_shown is False


def test_a_detection_tells_everything_about_itself(rules):
    found = detect("The tests fail on Windows.", rules)
    assert (found.type, found.signals[:2], found.actions, found.words) == (
        FeedbackType.VERIFICATION_FAILURE,
        ("tests_fail: tests fail", "document_verification: tests fail"),
        ("add_test_context", "specify_behavior", "request_validation"),
        ("tests fail", "fail on"),
    )
    assert (found.confidence, found.is_shown) == (found.prose_confidence, found.confidence >= rules.threshold)


def test_where_no_cue_decides_the_words_that_did_are_the_signal(rules):
    found = detect("Space before the bracket.", rules)
    assert (found.type, found.signals, found.words) == (
        FeedbackType.PARTIAL_SUCCESS,
        ("words: the bracket, space before the",),
        ("the bracket", "space before the"),
    )


@pytest.mark.parametrize("text", [TRACE, "The tests fail on Windows.", "NACK", "nit: typo", "LGTM"])
def test_the_same_text_is_always_the_same(text, rules):
    assert detect(text, rules) == detect(text, rules)


@pytest.mark.parametrize(
    ("text", "type_", "signal"),
    [  # row 211
        (TRACE, "runtime_error", "stack trace present"),
        (TRACE, "runtime_error", "exception type specified"),
        ("It crashes here: `Segmentation fault (core dumped)`", "runtime_error", "error message included"),
        # row 212
        ("CI fails:\n```\nFAILED tests/test_a.py::test_b\n```", "verification_failure", "test output"),
        ("The tests fail:\n```\nAssertionError: 1 != 2\n```", "verification_failure", "assertion message"),
        ("The test `test_parse_date` fails on CI.", "verification_failure", "specific test name"),
        # row 213
        ("I don't think this is a good idea.", "user_rejection", "negative sentiment"),
        ("NACK, this is wrong, please rework it.", "user_rejection", "request to redo"),
        ("NACK. I meant the reader and not the writer.", "user_rejection", "clarification of intent"),
        # row 214
        ("LGTM, just one nit: please rename it.", "partial_success", "positive-negative combination"),
        ("Looks good, could you please add a test?", "partial_success", "specific adjustment requested"),
        ("nit: two dots", "partial_success", "single issue mentioned"),
    ],
)
def test_the_documents_signals_are_listed(text, type_, signal, rules):
    found = detect(text, rules)
    assert (found.type, signal in found.signals) == (type_, True)


@pytest.mark.parametrize(
    ("text", "boost"),
    [
        (TRACE, 0.3),  # row 215: a stack trace
        ("The test `test_date` fails on CI.", 0.2),  # row 216: the name of a test
        ("NACK, start over.", 0.2),  # row 217: a wish to have it again
        ("Nit: please rename this.", 0.1),  # row 218: a specific change
        ("It crashes on start.", 0.0),
        ("The tests fail.", 0.0),
        ("NACK", 0.0),
        ("Nit: two dots.", 0.0),
    ],
)
def test_the_documents_boost_is_added_before_calibration(text, boost, rules):
    evidence = gather_evidence(text, rules)
    found, probabilities = classify(evidence, rules)
    without = (
        sum(probabilities[:2])
        if found == "verification_failure"
        else probabilities[[*FeedbackType].index(found)]
    )
    assert compute_confidence(found, probabilities, evidence, rules) == pytest.approx(without + boost)


def test_more_evidence_is_surer_and_never_less_sure(rules):
    assert detect(TRACE, rules).confidence > detect("It dies.", rules).confidence


@pytest.mark.parametrize("text", [TRACE, "The tests fail.", "NACK", "nit: a typo", "This is wrong. " * 50])
def test_words_alone_are_never_surer_than_a_formal_state(text, rules):  # row 219
    assert 0 < detect(text, rules).confidence <= 0.95


@pytest.mark.parametrize(
    ("text", "state", "type_", "sure"),
    [
        ("LGTM", "changes_requested", "user_rejection", 0.95),  # row 197
        ("LGTM", "CHANGES_REQUESTED", "user_rejection", 0.95),
        ("Only a nit: a typo.", "changes_requested", "user_rejection", 0.95),
        ("The tests fail on Windows.", "changes_requested", "verification_failure", 0.95),
        ("Only a nit: a typo.", "approved", "partial_success", 0.95),  # row 198
        ("Great work!", "approved", None, 0.0),
        ("", "approved", None, 0.0),
    ],
)
def test_a_formal_state_outranks_the_prose(text, state, type_, sure, rules):
    found = detect(text, rules, state)
    assert (found.type, found.confidence) == (type_, sure)


def test_a_comment_without_a_formal_state_is_judged_by_its_words(rules):
    text = "The tests fail on Windows."
    assert detect(text, rules, "commented") == detect(text, rules)


@pytest.mark.parametrize(
    "text", ["The tests fail on Windows.", "It crashes on start.", "nit: a typo", "This is wrong."]
)
def test_an_approval_with_a_complaint_is_nearly_done(text, rules):  # row 198
    found = detect(text, rules, "approved")
    assert (found.type, found.confidence, found.is_shown) == (FeedbackType.PARTIAL_SUCCESS, 0.95, True)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        (f"CI fails on this branch.\n\n{TRACE}", "verification_failure"),
        ("> The tests fail on Windows.\n\nFixed, thanks.", None),
        ("<!-- the tests fail -->Looks good!", None),
        ("Does it crash on Windows?", None),
        ("~~The tests fail.~~ Fixed now.", None),
    ],
)
def test_what_outranks_and_what_cancels(text, type_, rules):
    assert detect(text, rules).type == type_


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("The tests don't fail.", "negated"),
        ("If it crashes, tell me.", "harmless"),
        ("It used to crash, it crashed daily.", "settled"),
        ("The daemon crashes.", ""),
        ("I can reproduce it: the daemon crashes.", ""),
    ],
)
def test_what_stands_around_a_failure_can_take_it_away(text, note, rules):
    matches = gather_evidence(text, rules).matches
    assert {match.note for match in matches if match.name in ("crashes", "tests_fail")} == {note}


@pytest.mark.parametrize(
    "hidden",
    [
        "<!--\nTraceback (most recent call last):\nKeyError: 3\nSegmentation fault (core dumped)\n-->",
        "[Segmentation fault](https://a.example)",
        "![FAILED tests/test_a.py::test_b](https://a.example/b.png)",
        "https://a.example/KeyError:3/SIGSEGV",
    ],
)
@pytest.mark.parametrize("body", ["{}", "{}\n", "Thanks!\n\n{}"])
def test_what_is_hidden_or_a_link_shows_no_failure(hidden, body, rules):
    assert gather_evidence(body.format(hidden), rules).shown == ()


def test_what_is_quoted_is_nobody_elses_evidence(rules):
    quoted = gather_evidence("> Segmentation fault (core dumped)\n\nI see.", rules)
    assert quoted.pasted(FeedbackType.RUNTIME_ERROR) == []
    both = gather_evidence("> Segmentation fault\n\nHere too: `Segmentation fault`", rules)
    assert len(both.pasted(FeedbackType.RUNTIME_ERROR)) == 1


@pytest.mark.parametrize(
    ("printed", "by_a_compiler"),
    [
        ("a.c:3:1: error: expected expression", True),
        ("error: cannot find symbol", True),
        ("ld.lld: error: undefined symbol: parse", True),
        ("clang: error: unknown argument: '-x'", True),
        ("sqlite error: too many columns", False),
        ("ValueError: cannot convert float NaN to integer", False),
        ("TypeError: Cannot read properties of undefined", False),
        ("panic: runtime error: invalid memory address", False),
    ],
)
def test_what_a_compiler_printed_is_told_from_what_a_run_did(printed, by_a_compiler, rules):
    shown = {one.structure.name for one in gather_evidence(f"```\n{printed}\n```", rules).shown}
    assert ("compiler_output" in shown) == by_a_compiler


def test_a_repository_can_teach_its_own_words(rules):
    cues = (
        RepositoryCue(FeedbackType.USER_REJECTION, "back to the drawing board"),
        RepositoryCue(FeedbackType.RUNTIME_ERROR, "/kaputt+/"),
    )
    own = replace(rules, own_cues=cues, threshold=0.5)
    found = [
        detect(text, own) for text in ("Back to the drawing board!", "all kaputtt", "`kaputt` is German")
    ]
    assert [one.type for one in found] == ["user_rejection", "runtime_error", None]
    assert [one.is_shown for one in found] == [True, True, False]
    assert found[0].signals[-1] == "own cue: Back to the drawing board"


@pytest.mark.parametrize(
    "text",
    [
        "This is not back to the drawing board.",
        "Is it back to the drawing board?",
        "> back to the drawing board",
    ],
)
def test_own_words_that_are_not_stated_count_for_nothing(text, rules):
    cue = RepositoryCue(FeedbackType.RUNTIME_ERROR, "back to the drawing board")
    own = replace(rules, own_cues=(cue,), threshold=0.5)
    assert detect(text, own).type is not FeedbackType.RUNTIME_ERROR


def test_an_own_word_beside_a_cue_is_surer(rules):
    cue = RepositoryCue(FeedbackType.USER_REJECTION, "drawing board")
    own = replace(rules, own_cues=(cue,), threshold=0.5)
    assert detect("NACK, back to the drawing board.", own).confidence >= 0.6


def test_a_repository_sets_its_threshold(rules):
    own = replace(rules, threshold=0.95)
    assert detect("The tests fail on Windows.", own).is_shown is False


@pytest.mark.parametrize(
    "text", ["", "   ", "\0", "\ud800 the tests fail", "\u202eabc", "a" * 70000, "🚀" * 500]
)
def test_strange_texts_are_read_to_the_end(text, rules):
    assert detect(text, rules) == detect(text, rules)


def test_each_signal_is_listed_once_with_at_most_six_cues(rules):
    text = "The build fails. The tests fail. CI is red. Lint errors in a.py. The type check failed. It does not compile."
    signals = detect(text, rules).signals
    assert len(signals) == len(set(signals))
    assert len([one for one in signals if ": " in one]) <= 6


def test_words_that_stand_in_other_words_are_told_once(rules):
    words = detect("This is wrong. The tests fail on Windows and it does not compile.", rules).words
    assert [one for one in words for other in words if f" {one} " in f" {other} "] == [*words]


@pytest.mark.parametrize(
    "hidden",
    [
        "> please try again",
        "```\ngit revert abc\n```",
        "<!-- try again -->",
        "~~Please rewrite it.~~",
        "No need to rewrite it.",
    ],
)
def test_a_wish_that_the_writer_does_not_utter_is_no_signal(hidden, rules):
    assert "request to redo" not in detect(f"NACK.\n\n{hidden}", rules, "changes_requested").signals
