"""The feedback on one review, and the text of its comment."""

from bot.feedback.build import build_feedback
from bot.verdicts.reviews import merge_reviews
from tests.builders import (
    RULES,
    SITE,
    at_minute,
    make_decision_time,
    make_facts,
    make_pull_request,
    make_review,
    render_feedback,
)


def make_feedback(body="", comments=(), **changes):
    known = merge_reviews(
        make_pull_request(),
        make_facts(make_review(3, body, **changes), comments=comments),
        RULES,
        at_minute(4),
    )
    found = build_feedback(known, RULES, make_decision_time())
    assert found
    return found


def comment_text(body="", comments=(), **changes) -> str:
    return render_feedback(make_feedback(body, comments, **changes), SITE)
