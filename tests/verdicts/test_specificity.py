"""Guesses about what a text says: they make notes, so they must stay quiet about good feedback."""

import pytest

from bot.verdicts.quality import names_a_change, names_a_thing, states_an_effect, states_an_outcome


@pytest.mark.parametrize(
    "issue",
    [
        "Function lacks input validation for null parameters",
        "Missing validation for token expiration timestamp",
        "`retry` never stops when the server answers 503",
        "src/auth.py:42 returns None although the caller expects a user",
        "43 % should be 34 %",
        "[[thin-markets]]: there is no such file",
        "parseToken() throws on an empty header",
        "The title claims more than the source says",
    ],
)  # row 47
def test_a_good_issue_names_a_thing_and_an_effect(issue):
    assert (names_a_thing(issue), states_an_effect(issue)) == (True, True)


@pytest.mark.parametrize(
    "issue", ["Code could be better", "This is bad", "Not my favourite approach overall"]
)
def test_an_empty_issue_does_neither(issue):  # row 47
    assert (names_a_thing(issue), states_an_effect(issue)) == (False, False)


@pytest.mark.parametrize(
    "action",
    [
        "Replace the for loop with Array.map() for better readability",
        "Add exp claim validation with configurable clock skew tolerance",
        "In `auth.py`, rename the flag to `strict`",
        "Only link to files listed in the index",
        "Don’t catch Exception here",
        "1. Move the call into the transaction",
        "The title must contain a verb",
        "created = extraction date (today)",
        "The lock is too coarse: split it by account",
        "Please also delete the old migration",
    ],
)  # row 49
def test_a_good_suggestion_orders_a_change(action):
    assert names_a_change(action)


@pytest.mark.parametrize(
    "action",
    ["Consider improving this", "Better names would be nice in here", "This is not good enough", "Add"],
)  # row 49
def test_advice_orders_nothing(action):
    assert not names_a_change(action)


def test_an_outcome_is_what_will_be_better():  # row 49
    told = [
        states_an_outcome("Cap the input, so that the regex can't run away"),
        states_an_outcome("Replace the loop for better readability"),
        states_an_outcome("Replace the loop"),
    ]
    assert told == [True, True, False]


def test_half_a_surrogate_pair_is_no_stumbling_block():
    assert (names_a_thing("\ud800 x"), names_a_change("\udfff x")) == (False, False)
