"""What counts as new feedback, and how long is its summary?"""

from dataclasses import replace

import pytest

from bot.feedback.build import build_feedback
from bot.feedback.document import summarize_feedback
from bot.pull_request.effects import ShowComment
from bot.pull_request.facts import Facts
from bot.pull_request.record import record_event
from tests.builders import BOB, ID, ME, REPOSITORY, RULES, at, facts, issues, moment, review
from tests.turn.iteration_story import after, closed, decided, ended, head, judged, said


def identity(decision) -> str:
    return next(effect.marker_id for effect in decision.effects if isinstance(effect, ShowComment))


def test_another_score_alone_is_no_new_feedback():
    known = after(judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors"))
    late = record_event(known, ended("build", "failure", 2), at(51))
    assert identity(decided(late, Facts(ME), identity="another")) == ID
    assert identity(decided(closed(known), Facts(ME), identity="another")) == ID


def test_another_verdict_is_new_feedback():
    known = after(judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors"))
    more = facts(
        said(1, "date_errors"), said(2, "date_errors"), review(60, issues("scope_error"), author=BOB)
    )
    assert identity(decided(known, more, identity="another")) == "another"


@pytest.mark.parametrize(
    "tags", [("near_duplicate",), ("date_errors",), tuple(f"no_gate_{n}" for n in range(40))]
)
def test_the_summary_of_a_document_has_50_to_500_characters(tags):  # row 19
    small = replace(REPOSITORY, owner="a", name="b")
    first = after(judged(head(1), repository=small, number=1), said(1, *tags))
    second = after(judged(head(1), head(2), repository=small, number=1), said(1, *tags), said(2, *tags))
    summaries = [summarize_feedback(build_feedback(known, RULES, moment())) for known in (first, second)]
    assert all(50 <= len(text) <= 500 for text in summaries)
