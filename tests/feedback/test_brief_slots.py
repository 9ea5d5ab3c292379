"""What of all that was said and printed fills the slots of a brief?"""

import pytest

from bot.feedback.brief import BriefFacts, find_expectation


@pytest.mark.parametrize(
    ("output", "said", "test"),
    [
        (
            "tests/test_a.py::test_one PASSED\ntests/test_a.py::test_two FAILED",
            "",
            "tests/test_a.py::test_two",
        ),
        ("[INFO] Running com.x.AlphaTest\nBetaTest > sums FAILED", "", "BetaTest"),
        ("Running AlphaTest\nFailures: 1 <<< FAILURE! - in com.x.BetaTest", "", "com.x.BetaTest"),
        ("[INFO] AlphaTest\n[ERROR]   BetaTest.sums:12 expected 3", "", "BetaTest.sums"),
        ("wrote test_results.xml\nok: unit_tests\nE501", "", ""),
        ("wrote test_results.xml", "`test_dates` fails", "test_dates"),
        ("", 'CI is failing.\n```json\n{"evidence": {"test_result": "1 failed"}}\n```', ""),
        ("", "> test_months is red\n\nSo is test_years.", "test_years"),
        ("", "test_alpha passes now, but test_beta fails.", "test_beta"),
        ("", "`test_alpha` is fine. The tests fail in `test_beta`.", "test_beta"),
        ("", "The tests fail because you removed the `load_test` helper.", ""),
        ("", "CI is red. Please look at how utils_test does it.", ""),
        ("", "Three tests fail:\n- test_one\n- test_two", "test_one"),
        ("", "Please make test_dates pass.", "test_dates"),
    ],
)
def test_only_a_test_that_is_said_to_fail_is_named(output, said, test):  # row 225
    assert BriefFacts("alice", comment_text=said, output=output).test == test


@pytest.mark.parametrize(
    ("output", "said", "error"),
    [
        ("", "```\nKeyError: 5\n```\nIt should have been a ValueError I think.", "KeyError: 5"),
        ("", "The app crashes on start.\nNo more TypeError: x is not a function, thanks.", ""),
        ("", "> KeyError: 5\n\nI see something else.", ""),
        ("", "It ends with `ValueError: month 13`.", "ValueError: month 13"),
        ("", "Here it is:\n\nKeyError: 'created'", "KeyError: 'created'"),
        ("ValueError: month 13", "```\nKeyError: 5\n```", "ValueError: month 13"),
    ],
)
def test_only_an_error_that_was_met_is_given(output, said, error):  # row 221
    assert BriefFacts("alice", comment_text=said, output=output).error == error


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("I expected this was discussed first.", ""),
        ("Expected three rows, got two.", "Expected three rows, got two."),
        ("expected 3 but was 4", "expected 3 but was 4"),
        ("expected '3' was '4'", "expected '3' was '4'"),
    ],
)
def test_an_opinion_is_no_expected_behaviour(said, wanted):  # row 226
    assert find_expectation(said) == wanted
