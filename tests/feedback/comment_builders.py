"""What the comment says of one review, in a test's few words."""

from bot.feedback.build import build_feedback
from bot.verdicts.reviews import merge_reviews
from tests.builders import RULES, SITE, at, facts, moment, pull_request, rendered, review


def feedback(body="", comments=(), **changes):
    known = merge_reviews(pull_request(), facts(review(3, body, **changes), comments=comments), RULES, at(4))
    found = build_feedback(known, RULES, moment())
    assert found
    return found


def text(body="", comments=(), **changes) -> str:
    return rendered(feedback(body, comments, **changes), SITE)
