"""What a comment is understood as, how sure that is, and by which words."""

from __future__ import annotations

import pytest

from bot.detection.detector import Detection, detect
from bot.detection.evidence import gather_evidence
from bot.detection.rules import CueMeaning, FeedbackType, RepositoryCue

TRACE = 'It dies:\n\n```\nTraceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: 3\n```'


def test_a_harmless_comment_is_nothing(rules):  # row 237
    assert detect("No problem, looks good.", rules) == Detection(None)


def test_the_documents_own_example_is_a_rejection(rules):  # row 243
    found = detect("wrong, I meant security review", rules)
    assert (found.type, "clarification of intent" in found.signals) == (FeedbackType.USER_REJECTION, True)


def test_a_detection_says_everything_about_itself(rules):
    assert detect("The tests fail on Windows.", rules) == Detection(
        FeedbackType.VERIFICATION_FAILURE,
        0.6,
        (
            "tests_fail: tests fail",
            "ci_fails: tests fail",
            "document_verification_1: tests fail",
            "something_fails: fail on",
            "build_fails: fail on windows",
        ),
        ("add_test_context", "specify_behavior", "request_validation"),
        ("tests fail", "fail on windows"),
        is_shown=True,
        prose_confidence=0.6,
    )


def test_where_no_cue_speaks_the_words_that_decided_are_the_signal(rules):
    found = detect("The picture is upside down with this branch.", rules)
    assert found.signals == (f"words: {', '.join(found.words)}",)
    assert found.words


def test_words_that_stand_in_other_words_are_told_once(rules):
    found = detect("The picture is upside down with this branch.", rules)
    assert "upside down" in found.words
    assert [one for one in found.words for other in found.words if f" {one} " in f" {other} "] == [
        *found.words
    ]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("The server hangs forever for me.", 0.5),
        ("> Traceback (most recent call last):\n> KeyError: 3\n\nThe server hangs forever for me.", 0.5),
        ("> FAILED tests/test_a.py::test_b\n\nCI is red.", 0.5),
    ],
)
def test_what_somebody_else_pasted_makes_nobody_surer(text, sure, rules):
    assert detect(text, rules).confidence == sure


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("Incorrect.", 0.5),  # two cues, one word
        ("This is wrong.", 0.5),  # one cue within the other
        ("This is wrong. NACK.", 0.6),
        ("CI is red and the build fails.", 0.6),
        ("The tests failed.", 0.5),  # what is said is not shown as well
        ("CI is red:\n```\nFAILED\n```", 0.6),
        ("Tests are failing:\n```\ntests failed\n```", 0.6),  # in the same words, but not by the same voice
        ("NACK. Wrong.", 0.6),  # in the same place, but of another sentence
    ],
)
def test_only_a_cue_with_words_of_its_own_is_a_second_one(text, sure, rules):  # row 219
    assert detect(text, rules).confidence == sure


@pytest.mark.parametrize("text", [TRACE, "The tests fail on Windows.", "NACK", "nit: typo", "LGTM"])
def test_the_same_text_is_always_the_same(text, rules):
    assert detect(text, rules) == detect(text, rules)


@pytest.mark.parametrize(
    ("text", "type_", "signal"),
    [  # row 211
        (TRACE, "runtime_error", "stack trace present"),
        (TRACE, "runtime_error", "exception type specified"),
        ("Crashes here: `Segmentation fault (core dumped)`", "runtime_error", "error message included"),
        ("It crashes, exit code 139 every time.", "runtime_error", "exit code mentioned"),
        # row 212
        ("CI:\n```\nFAILED tests/test_a.py::test_b\n```", "verification_failure", "test output"),
        ("Test fails:\n```\nAssertionError: 1 != 2\n```", "verification_failure", "assertion message"),
        ("The test fails: `expected 3 but got 4`", "verification_failure", "expected vs actual values"),
        ("The test `test_parse_date` fails on CI.", "verification_failure", "specific test name"),
        # row 213
        ("I don't think this is a good idea.", "user_rejection", "negative sentiment"),
        ("This is wrong, please rework it and try again.", "user_rejection", "request to redo"),
        ("That's wrong. I meant the reader and not the writer.", "user_rejection", "clarification of intent"),
        # row 214
        (
            "LGTM, just one nit: please rename the variable.",
            "partial_success",
            "positive-negative combination",
        ),
        ("Looks good, could you please add a test?", "partial_success", "specific adjustment requested"),
        ("nit: two dots", "partial_success", "single issue mentioned"),
    ],
)
def test_the_documents_signals_are_listed(text, type_, signal, rules):
    found = detect(text, rules)
    assert (found.type, signal in found.signals) == (type_, True)


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("It hangs.", 0.5),  # row 219: the base
        ("NACK", 0.5),
        ("It crashes, after that it waits forever.", 0.6),  # a second independent cue
        (TRACE, 0.9),  # row 215: 0.5 + 0.3 for the trace + 0.1
        ("`test_date` is failing.", 0.8),  # row 216: 0.5 + 0.2 for the test's name + 0.1
        ("NACK, start over.", 0.8),  # row 217: 0.5 + 0.2 for the wish to have it again + 0.1
        ("Nit: please rename this.", 0.7),  # row 218: 0.5 + 0.1 for a specific change + 0.1
        ("This is out of date, we've moved to another build system.", 0.4),  # single words, and no cue
    ],
)
def test_how_sure_the_detector_is(text, sure, rules):
    assert detect(text, rules).confidence == sure


def test_what_is_less_sure_than_the_threshold_is_not_shown(rules):
    found = detect("NACK", rules)
    assert (found.type, found.confidence, found.is_shown) == (FeedbackType.USER_REJECTION, 0.5, False)


@pytest.mark.parametrize(
    ("text", "state", "type_", "sure"),
    [
        ("LGTM", "changes_requested", "user_rejection", 0.95),  # row 197
        ("LGTM", "CHANGES_REQUESTED", "user_rejection", 0.95),
        ("Only a nit: a typo.", "changes_requested", "user_rejection", 0.95),
        ("The tests fail on Windows.", "changes_requested", "verification_failure", 0.95),
        ("Only a nit: a typo.", "approved", "partial_success", 0.95),  # row 198
        ("Great work!", "approved", None, 0.0),
        ("The tests fail on Windows.", "commented", "verification_failure", 0.6),
    ],
)
def test_a_formal_state_outranks_the_prose(text, state, type_, sure, rules):
    found = detect(text, rules, state)
    assert (found.type, found.confidence) == (type_, sure)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("Looks good to me, except that I don't like the name.", "partial_success"),
        (f"CI fails on this branch.\n\n{TRACE}", "verification_failure"),
        ("> The tests fail on Windows.\n\nFixed, thanks.", None),
        ("`tests fail` is the name of the label.", None),
        ("<!-- the tests fail -->Looks good!", None),
        ("The tests don't fail any more.", None),
        ("Build failure unrelated", None),
        ("Does it crash on Windows?", None),
    ],
)
def test_what_outranks_and_what_cancels(text, type_, rules):
    assert detect(text, rules).type == type_


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


def test_where_no_cue_decides_the_words_that_did_are_shown_as_they_were_said(rules):
    evidence = gather_evidence("This is out of date, we've moved to another build system.", rules)
    told = rules.learnt.telling(evidence.sentences, 2, 5)
    said = " ".join(evidence.sentences[0].words)
    assert (len(told), [words for words in told if words not in said]) == (5, [])


def test_what_is_not_liked_after_except_is_only_what_is_left_to_do(rules):
    found = gather_evidence("Looks good to me, except that I don't like the name.", rules).matches
    assert {match.note for match in found if match.says is CueMeaning.USER_REJECTION} == {"remainder"}


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("The daemon crashes, last week it did not.", {"past"}),  # a time alone does not say that it is over
        ("The daemon used to crash, it crashed daily.", {"settled"}),
        ("I can reproduce the segfaults.", {""}),  # what can be done is to tell of it
        ("This can crash.", {"harmless"}),
        ("When I click it, the app crashes.", {""}),
        ("When it fails we retry.", {"harmless"}),
        ("Does it crash?", {"harmless"}),
    ],
)
def test_what_stands_around_a_failure_can_take_it_away(text, notes, rules):
    found = [
        match
        for match in gather_evidence(text, rules).matches
        if match.name in ("crashes", "something_fails")
    ]
    assert {match.note for match in found} <= notes


@pytest.mark.parametrize(
    ("text", "is_settled"),
    [("It crashed. Fixed in the last push.", True), ("It crashed. It was fine last week.", False)],
)
def test_what_is_over_may_be_said_in_another_sentence(text, is_settled, rules):
    assert gather_evidence(text, rules).is_settled == is_settled


@pytest.mark.parametrize(
    ("text", "is_excused"),
    [
        ("The tests fail. Ignore the red job, the mirror is down.", True),
        ("Why do you ignore the answer? It makes the tests fail.", False),
        ("Why ignore it? It makes the tests fail.", False),
        ("This makes us ignore all errors, and it crashes.", False),
        ("You ignore the message and the server crashes on start.", False),
        ("I reran the new test suite and three tests fail.", False),
        ("Reran your workflow, the build fails with a linker error.", False),
        ("The tests fail. Restarted the job.", True),
        ("The tests fail after restarting the emulator.", False),
        ("The tests fail, it's a flake.", True),
        ("The tests fail, and that's not a flake.", False),
        ("I restarted the flaky job three times, still the same. The failure is real.", False),
        ("A flaky test, but it keeps failing here. Only this branch is red.", False),
    ],
)
def test_a_failure_is_excused_unless_it_is_said_to_be_real(text, is_excused, rules):
    assert gather_evidence(text, rules).is_unrelated == is_excused


@pytest.mark.parametrize(
    ("printed", "by_a_compiler"),
    [
        ("a.c:3:1: error: expected expression", True),
        ("error: cannot find symbol", True),
        ("ld.lld: error: undefined symbol: parse", True),
        ("clang: error: unknown argument: '-x'", True),
        ("javac: error: invalid flag: -x", True),
        ("sqlite error: too many columns", False),
        ("ValueError: cannot convert float NaN to integer", False),
        ("TypeError: Cannot read properties of undefined", False),
        ("panic: runtime error: invalid memory address", False),
        ("ImportError: geo.so: undefined symbol: parse", False),
    ],
)
def test_what_a_compiler_printed_is_told_from_what_a_run_did(printed, by_a_compiler, rules):
    shown = {one.structure.name for one in gather_evidence(f"```\n{printed}\n```", rules).shown}
    assert ("compiler_output" in shown) == by_a_compiler


@pytest.mark.parametrize("text", ["0 failed, 12 passed.", "Had zero crashes.", "Failures: 0"])
def test_none_of_a_kind_is_good_news(text, rules):
    assert detect(text, rules).type is None


def test_a_repository_can_teach_its_own_words(rules):
    own = rules.extended(
        [
            RepositoryCue(FeedbackType.USER_REJECTION, "back to the drawing board"),
            RepositoryCue(FeedbackType.RUNTIME_ERROR, "/kaputt+/"),
        ],
        threshold=0.5,
        rounds=2,
    )
    assert [
        (detect(text, own).type, detect(text, own).confidence, detect(text, own).is_shown)
        for text in ("Back to the drawing board!", "all kaputtt", "`kaputt` is German")
    ] == [("user_rejection", 0.5, True), ("runtime_error", 0.5, True), (None, 0.0, False)]


def test_a_repository_sets_its_threshold(rules):
    own = rules.extended((), threshold=0.9, rounds=3)
    assert detect("The tests fail on Windows.", own).is_shown is False


@pytest.mark.parametrize(
    "text", ["", "   ", "\0", "\ud800 the tests fail", "\u202eabc", "a" * 70000, "🚀" * 500]
)
def test_strange_texts_are_read_to_the_end(text, rules):
    assert detect(text, rules) == detect(text, rules)


@pytest.mark.parametrize("said", ["The tests fail on Windows.", "It crashes on start.", "This is wrong."])
def test_an_approval_with_a_complaint_is_nearly_done(said, rules):  # row 198
    found = detect(said, rules, "approved")
    assert (found.type, found.confidence) == (FeedbackType.PARTIAL_SUCCESS, 0.95)
