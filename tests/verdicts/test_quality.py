"""What keeps an item from being acted on, as its writer is told it."""

from dataclasses import replace

import pytest

from bot.verdicts.quality import (
    FeedbackField,
    FeedbackText,
    ProblemLevel,
    QualityProblem,
    QualityRule,
    clarity_score,
    find_problems,
    is_location,
    ungrounded_problems,
)

GOOD = FeedbackText(
    issue="Function lacks input validation for null parameters",
    action="Replace the for loop with Array.map() for better readability",
    rationale="Null parameters crash the worker with a TypeError",
    has_place=True,
    blocking=True,
)


def rules(item):
    return [finding.rule for finding in find_problems(item)]


def test_the_good_strings_of_the_document_have_no_finding():  # rows 30, 38
    assert find_problems(GOOD) == ()


def test_the_bad_issue_of_the_document_is_vague():  # row 30
    assert find_problems(replace(GOOD, issue="Code could be better")) == (
        QualityProblem(
            QualityRule.VAGUE,
            FeedbackField.ISSUE,
            "`could be better` is vague",
            "name what is wrong and what happens because of it",
            5,
            20,
        ),
    )


def test_the_bad_action_of_the_document_is_advice():  # row 38
    assert find_problems(replace(GOOD, action="Consider improving this")) == (
        QualityProblem(
            QualityRule.ADVISORY,
            FeedbackField.ACTION,
            "`Consider` is advice, not an action",
            "say what to change, as an instruction",
            0,
            8,
        ),
    )


@pytest.mark.parametrize(
    ("field", "low", "high"), [("issue", 20, 500), ("action", 20, 1000), ("rationale", 20, 500)]
)  # rows 29, 37, 39
def test_lengths_are_those_of_the_document(field, low, high):
    def lengths_of(size):
        text = ("Replace `x` when it fails. " * 60)[:size]
        return [rule for rule in rules(replace(GOOD, **{field: text})) if rule in {"too-short", "too-long"}]

    assert [lengths_of(size) for size in (low - 1, low, high, high + 1)] == [
        ["too-short"],
        [],
        [],
        ["too-long"],
    ]


def test_a_length_says_how_long_the_text_is_and_may_be():  # row 29
    found = find_problems(replace(GOOD, issue="Too short"))
    assert found == (
        QualityProblem(
            QualityRule.TOO_SHORT,
            FeedbackField.ISSUE,
            "the issue has 9 characters",
            "write 20 to 500 characters",
            0,
            9,
        ),
    )


def test_an_issue_without_a_place_is_an_error():  # row 31
    assert find_problems(replace(GOOD, has_place=False)) == (
        QualityProblem(
            QualityRule.NO_PLACE,
            FeedbackField.PLACE,
            "a blocking issue has no location",
            "name the file and the line, function or heading",
        ),
    )


def test_the_issues_words_are_not_those_forbidden_in_a_suggestion():  # rows 46, 48
    assert rules(replace(GOOD, issue="Function maybe_run() fails when perhaps is passed")) == []


def test_claims_that_nobody_looked_up_are_found_in_every_part():  # row 140
    item = replace(
        GOOD,
        issue="The file probably contains a null parameter",
        action="Replace the loop, it should work because maps are ordered",
        rationale="The error is likely a null parameter",
    )
    assert [(finding.rule, finding.field) for finding in find_problems(item)] == [
        ("ungrounded-wording", "issue"),
        ("ungrounded-wording", "action"),
        ("ungrounded-wording", "rationale"),
    ]


def test_what_is_only_guessed_is_a_note():  # rows 47, 49
    item = replace(
        GOOD,
        issue="This is really not my favourite approach",
        action="Better naming would be nice to see",
        rationale="Better naming would be nice to see!",
    )
    assert [(finding.rule, finding.level) for finding in find_problems(item)] == [
        ("no-specific-problem", "note"),
        ("no-observable-effect", "note"),
        ("no-concrete-action", "note"),
        ("no-expected-outcome", "note"),
    ]


def test_an_outcome_in_the_action_needs_no_second_one():  # row 49
    item = replace(GOOD, rationale=GOOD.action)
    assert rules(item) == []


def test_everything_else_is_an_error():
    guesses = [rule for rule in QualityRule if rule.level is ProblemLevel.NOTE]
    assert guesses == [
        QualityRule.NO_PROBLEM,
        QualityRule.NO_EFFECT,
        QualityRule.NO_ACTION,
        QualityRule.NO_OUTCOME,
    ]


def test_a_summary_is_only_asked_for_ungrounded_claims():  # row 140
    found = ungrounded_problems("Maybe it could be better; the error is likely in the parser")
    assert [finding.message for finding in found] == ["`error is likely` states an assumption as a fact"]


@pytest.mark.parametrize(
    ("per_item", "followed", "score"),
    [  # row 24
        ((0,), False, 1.0),
        ((0,), True, 1.0),
        ((1,), False, 0.75),
        ((1,), True, 0.85),
        ((0, 2), False, 0.75),
        ((0, 1, 3), True, 0.7667),
        ((9,), False, 0.0),
        ((9,), True, 0.0),
        ((), False, 0.0),
        ((), True, 0.0),
    ],
)
def test_clarity_falls_with_the_findings_and_rises_where_followed(per_item, followed, score):
    one = ungrounded_problems("the error is likely in the parser")[0]
    assert clarity_score([(one,) * count for count in per_item], followed=followed) == score


@pytest.mark.parametrize(
    ("kind", "reference", "expected"),
    [  # rows 31 to 33
        ("line", "42", True),
        ("range", "42-48", True),
        ("line", "src/auth.py:42", True),
        ("function", "validateToken()", True),
        ("section", "Title precision", True),
        ("path", "src/auth.py", True),
        ("path", ".", False),
        ("path", "./", False),
        ("path", " ", False),
        ("element", "Everywhere", False),
        ("element", "`n/a`", False),
        ("line", "near the end", False),
    ],
)
def test_a_place_says_where_to_look(kind, reference, expected):
    assert is_location(kind, reference) is expected
