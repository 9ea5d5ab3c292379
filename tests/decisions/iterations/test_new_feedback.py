"""What counts as new feedback, and how long is its summary?"""

from dataclasses import replace

import pytest

from bot.decisions.pull_request import feedback_on
from bot.decisions.record import record
from bot.domain.document import summary
from bot.domain.effects import ShowComment
from bot.domain.facts import Facts
from tests.builders import BOB, ID, ME, REPOSITORY, RULES, at, facts, issues, moment, review
from tests.decisions.iterations.story import after, closed, decided, ended, head, judged, said


def identity(decision) -> str:
    return next(effect.marker_id for effect in decision.effects if isinstance(effect, ShowComment))


def test_another_score_alone_is_no_new_feedback():
    known = after(judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors"))
    late = record(known, ended("build", "failure", 2), at(51))
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
    summaries = [summary(feedback_on(known, RULES, moment())) for known in (first, second)]
    assert all(50 <= len(text) <= 500 for text in summaries)
