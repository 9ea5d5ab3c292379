"""What the next revision is told, from the validator's own words."""

from dataclasses import replace

import pytest

from bot.adapters import schemas
from bot.adapters.detection_rules import shipped
from bot.decisions.briefing import feedback_log, with_brief
from bot.decisions.pull_request import feedback_on
from bot.decisions.verdicts import with_reviews
from bot.domain.document import document
from bot.domain.events import ReviewState
from bot.domain.model import Revision
from tests.builders import HEADS, RULES, at, facts, inline, moment, pull_request, review

UNDERSTANDING = replace(RULES, understanding=shipped())


def briefed(*reviews, comments=(), known=None, rules=UNDERSTANDING):
    seen = with_reviews(known or pull_request(), facts(*reviews, comments=comments), rules, at(30))
    return with_brief(feedback_on(seen, rules, moment()), rules)


FAILING = "The tests fail: `test_dates` expected 2026-11-15 but got 2026-13-01.\n<!-- ISSUES: date_errors -->"
REFUSED = "This is not what we want, please do it differently.\n<!-- ISSUES: scope_error -->"


def test_failing_tests_lead_with_what_must_pass():  # row 228
    brief = briefed(review(3, FAILING)).brief
    assert brief.feedback_type == "verification_failure"
    assert [line.action for line in brief.lines] == [
        "add_test_context",
        "specify_behavior",
        "request_validation",
    ]


def test_a_refusal_is_a_rejection_with_the_confidence_of_a_formal_state():  # row 197
    brief = briefed(review(3, REFUSED)).brief
    assert (brief.feedback_type, brief.confidence) == ("user_rejection", 0.95)


def test_the_brief_stands_in_the_document_and_fits_its_schema():
    place = inline(71, 3, "[date_errors] month 13 is out of range")
    whole = document(briefed(review(3, FAILING), comments=(place,)))
    assert whole["brief"]["lines"][0]["action"] == "add_test_context"
    assert schemas.violations("actionable-feedback", whole) == ()


def test_a_brief_that_names_no_place_says_whom_to_ask():
    last = briefed(review(3, "<!-- ISSUES: scope_error -->")).brief.lines[-1].text
    assert last == "Ask `alice`: which place?"


@pytest.mark.parametrize(
    "rules", [RULES, replace(UNDERSTANDING, detection=replace(RULES.detection, enabled=False))]
)
def test_without_the_detector_there_is_no_brief(rules):
    assert briefed(review(3, FAILING), rules=rules).brief is None


def told(*rounds):
    known = pull_request()
    for number, reviews in enumerate(rounds):
        head = HEADS[number]
        known = replace(known, head=head, revisions=(*known.revisions, Revision(head, at(number * 10))))
        known = briefed(*reviews, known=known).pull_request
    return known


def test_success_is_filled_in_when_the_next_verdict_comes():  # row 242
    first = review(3, FAILING, head=HEADS[0])
    second = review(13, REFUSED, head=HEADS[1])
    third = review(23, state=ReviewState.APPROVED, head=HEADS[2])
    log = feedback_log(told((first,), (first, second), (first, second, third)))
    assert [(entry.iteration, entry.success) for entry in log] == [(1, False), (2, True)]
    assert log[0].original_prompt == "Futarchy resists manipulation"
    assert log[1].original_prompt == log[0].refined_prompt


def test_the_same_verdict_twice_is_one_entry():
    first = review(3, FAILING)
    known = briefed(first).pull_request
    assert len(briefed(first, known=known).pull_request.briefs) == 1
