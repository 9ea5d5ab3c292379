"""A brief on what was said, and what is often said for one."""

from dataclasses import replace

from bot.adapters.detection_rules import shipped
from bot.decisions.briefing import detected, with_brief
from bot.decisions.pull_request import feedback_on
from bot.decisions.verdicts import with_reviews
from bot.domain.events import CheckSeen
from bot.domain.rules import CheckRule, Validators
from tests.builders import HEADS, REPOSITORY, RULES, at, facts, moment, pull_request

UNDERSTANDING = replace(RULES, understanding=shipped())
MAPPED = replace(UNDERSTANDING, validators=Validators(checks=(CheckRule("validate", ("date_errors",)),)))
CHECK = CheckSeen(REPOSITORY, HEADS[0], "validate", "failure", at(5), "https://ci/1", run_id=9, annotations=1)
FAILING = "The tests fail: `test_dates` expected 2026-11-15 but got 2026-13-01.\n<!-- ISSUES: date_errors -->"
REFUSED = "This is not what we want, please do it differently.\n<!-- ISSUES: scope_error -->"


def with_fresh_brief(feedback, rules):
    """The feedback with the brief that its own words lead to."""
    return with_brief(feedback, detected(feedback, rules), rules)


def briefed(*reviews, comments=(), known=None, rules=UNDERSTANDING):
    seen = with_reviews(known or pull_request(), facts(*reviews, comments=comments), rules, at(30))
    return with_fresh_brief(feedback_on(seen, rules, moment()), rules)
