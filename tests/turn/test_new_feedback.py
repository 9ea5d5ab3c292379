"""What counts as new feedback, and how long is its summary?"""

from dataclasses import replace

import pytest

from bot.feedback.build import build_feedback
from bot.feedback.document import summarize_feedback
from bot.markdown.escape import parse_marker
from bot.pull_request.effects import ShowComment
from bot.pull_request.facts import Facts
from bot.pull_request.record import record_event
from tests.builders import (
    BOB,
    FEEDBACK_ID,
    ME,
    REPOSITORY,
    RULES,
    at_minute,
    issues_marker,
    make_decision_time,
    make_facts,
    make_review,
)
from tests.turn.turn_builders import (
    close_pull_request,
    decide,
    decide_and_post,
    make_check_event,
    make_revised_pull_request,
    make_revision,
    make_revision_review,
)


def identity(decision) -> str:
    return next(effect.marker_id for effect in decision.effects if isinstance(effect, ShowComment))


def test_another_score_alone_is_no_new_feedback():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2)),
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors"),
    )
    late = record_event(known, make_check_event("build", "failure", 2), at_minute(51))
    assert identity(decide(late, Facts(ME), identity="another")) == FEEDBACK_ID


def test_closing_what_is_rejected_is_another_verdict_but_no_new_feedback():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors")
    )
    closed = decide(close_pull_request(known), Facts(ME), identity="another")
    (effect,) = closed.effects
    marker = parse_marker("REJECTION", effect.body)
    assert (marker["id"], marker["verdict"]) == (FEEDBACK_ID, "reject")


def test_another_verdict_is_new_feedback():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2)),
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors"),
    )
    more = make_facts(
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors"),
        make_review(60, issues_marker("scope_error"), author=BOB),
    )
    assert identity(decide(known, more, identity="another")) == "another"


@pytest.mark.parametrize(
    "tags", [("near_duplicate",), ("date_errors",), tuple(f"no_gate_{n}" for n in range(40))]
)
def test_the_summary_of_a_document_has_50_to_500_characters(tags):  # row 19
    small = replace(REPOSITORY, owner="a", name="b")
    first = decide_and_post(
        make_revised_pull_request(make_revision(1), repository=small, number=1),
        make_revision_review(1, *tags),
    )
    second = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2), repository=small, number=1),
        make_revision_review(1, *tags),
        make_revision_review(2, *tags),
    )
    summaries = [
        summarize_feedback(build_feedback(known, RULES, make_decision_time())) for known in (first, second)
    ]
    assert all(50 <= len(text) <= 500 for text in summaries)
