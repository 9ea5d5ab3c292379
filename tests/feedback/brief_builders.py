"""Builders of feedback with a brief, and common review texts."""

from dataclasses import replace

from bot.feedback.brief_inputs import add_brief, detect_feedback_type
from bot.feedback.build import build_feedback
from bot.gates.config import CheckRule, DetectionConfig, ValidatorRules
from bot.pull_request.events import CheckEvent
from bot.verdicts.reviews import merge_reviews
from tests.builders import (
    HEADS,
    REPOSITORY,
    RULES,
    at_minute,
    make_decision_time,
    make_facts,
    make_pull_request,
)

UNDERSTANDING = replace(RULES, detection=DetectionConfig())
MAPPED = replace(UNDERSTANDING, validators=ValidatorRules(checks=(CheckRule("validate", ("date_errors",)),)))
CHECK = CheckEvent(
    REPOSITORY, HEADS[0], "validate", "failure", at_minute(5), "https://ci/1", run_id=9, annotations=1
)
FAILING = "The tests fail: `test_dates` expected 2026-11-15 but got 2026-13-01.\n<!-- ISSUES: date_errors -->"
REFUSED = "This is not what we want, please do it differently.\n<!-- ISSUES: scope_error -->"


def add_fresh_brief(feedback, rules):
    """The feedback with the brief that its own words lead to."""
    return add_brief(feedback, detect_feedback_type(feedback, rules), rules)


def make_feedback_with_brief(*reviews, comments=(), known=None, rules=UNDERSTANDING):
    seen = merge_reviews(
        known or make_pull_request(), make_facts(*reviews, comments=comments), rules, at_minute(30)
    )
    return add_fresh_brief(build_feedback(seen, rules, make_decision_time()), rules)
