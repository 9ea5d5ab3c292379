"""What training and judging are told of a text besides its words."""

from __future__ import annotations

import pytest

from bot.detection.evidence import gather_evidence
from bot.detection.scores import fact_features

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: 3\n'
PLAIN = {"#bias", "#approves:False:asks:False"}
CRASH = {"#t:runtime_error", "#alone:runtime_error"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("> a", PLAIN | {"#nothing"}),  # who only quotes asks nothing
        ("Why?", PLAIN | {"#nothing", "#only asks"}),
        ("LGTM", {"#bias", "#approves:True:asks:False", "#nothing"}),
        (
            "ok, please rename",
            {"#bias", "#approves:False:asks:True", "#not strong", "#weak:partial_success"},
        ),
        ("It crashes. There is an error.", PLAIN | CRASH),
        (
            "LGTM. It crashes.",
            {"#bias", "#approves:True:asks:False", "#t:runtime_error", "#approved:runtime_error"},
        ),
        (
            "> FAILED tests/test_a.py::test_b\n\nhm",
            PLAIN
            | {
                "#not strong",
                "#weak:verification_failure",
                "#s:test_name!quoted",
                "#s:test_output!quoted",
            },
        ),
        (
            f"```\n{TRACE}```\nAssertionError: 1 != 2",
            PLAIN
            | CRASH
            | {"#weak:verification_failure", "#s:stack_trace", "#s:exception_type", "#s:assertion!said"},
        ),
        (
            f"```\n{TRACE}AssertionError: 1 != 2\n```",
            PLAIN
            | CRASH
            | {
                "#t:verification_failure",
                "#alone:verification_failure",
                "#s:assertion",
                "#s:of a failed check",
            },
        ),
        ("It crashed. Fixed in the last push.", PLAIN | CRASH | {"#settled", "#settled:runtime_error"}),
        (
            "It crashes. Ignore the red job, the mirror is down.",
            PLAIN | CRASH | {"#unrelated", "#unrelated:runtime_error"},
        ),
    ],
)
def test_how_things_go_together_is_named(text, named, rules):
    assert {
        name for name in fact_features(gather_evidence(text, rules)) if not name.startswith("#c:")
    } == named


def test_a_word_of_thanks_is_no_consent(rules):
    assert "#approves:False:asks:False" in fact_features(gather_evidence("Thank you so much.", rules))
