"""What do checks make of an iteration's score?"""

import pytest

from bot.feedback.build import build_feedback
from bot.pull_request.checks import CheckResult
from bot.pull_request.record import record_event
from tests.builders import RULES, at_minute, make_decision_time
from tests.turn.turn_builders import (
    decide_and_post,
    make_check_event,
    make_revised_pull_request,
    make_revision,
    make_revision_review,
)


def progress(known, rules=RULES):
    return build_feedback(known, rules, make_decision_time()).progress


@pytest.mark.parametrize(("number", "after"), [(1, [0.69, 0.69]), (2, [0.69, 0.3889])])
def test_a_check_that_ends_late_changes_the_score_of_the_present_iteration_only(number, after):  # row 85
    known = decide_and_post(
        make_revised_pull_request(make_revision(1), make_revision(2)),
        make_revision_review(1, "date_errors"),
        make_revision_review(2, "date_errors"),
    )
    late = record_event(known, make_check_event("unit-tests", "failure", number), at_minute(51))
    assert [each.quality for each in progress(known).trajectory.scored] == [0.69, 0.69]
    assert [each.quality for each in progress(late).trajectory.scored] == after


def test_a_check_that_is_run_again_replaces_its_first_result():
    known = record_event(
        decide_and_post(make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors")),
        make_check_event("build", "failure"),
        at_minute(51),
    )
    again = record_event(known, make_check_event("build", "success"), at_minute(52))
    assert again.revisions[0].checks == (CheckResult("build", "success"),)


def test_a_check_of_a_foreign_head_is_not_kept():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors")
    )
    assert record_event(known, make_check_event("build", "failure", 7), at_minute(51)) == known


def test_a_failed_test_check_makes_it_incorrect():  # row 79
    known = record_event(
        decide_and_post(make_revised_pull_request(make_revision(1)), make_revision_review(1)),
        make_check_event("unit-tests", "failure"),
        at_minute(51),
    )
    assert build_feedback(known, RULES, make_decision_time()).score == 0.3889


def test_our_own_check_never_counts():
    known = record_event(
        decide_and_post(make_revised_pull_request(make_revision(1)), make_revision_review(1)),
        make_check_event("whetstone/gates", "failure"),
        at_minute(51),
    )
    assert build_feedback(known, RULES, make_decision_time()).score == 1.0


def test_nothing_observed_is_left_out_of_the_score():  # row 82
    known = decide_and_post(
        make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors")
    )
    score = progress(known).trajectory.final.score
    assert [dimension.value for dimension in score.unobserved] == ["validation", "efficiency"]
