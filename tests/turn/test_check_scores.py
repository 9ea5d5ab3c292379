"""What do checks make of an iteration's score?"""

from dataclasses import replace

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
    assert again.revisions[0].checks == (CheckResult("build", "success", app=""),)


def test_a_check_that_version_0_1_recorded_by_its_name_is_replaced_by_its_next_run():
    reviewed = decide_and_post(
        make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors")
    )
    old = replace(reviewed.revisions[0], checks=(CheckResult("build", None, run_id=7),))
    ended = replace(make_check_event("build", "success"), app="ci", run_id=8, suite_id=3)
    after = record_event(replace(reviewed, revisions=(old,)), ended, at_minute(52))
    assert after.revisions[0].checks == (CheckResult("build", "success", app="ci", suite_id=3),)


def test_runs_of_two_apps_and_of_two_suites_are_kept_apart():
    known = decide_and_post(
        make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors")
    )
    for number, (app, suite) in enumerate((("ci", 1), ("jenkins", 2), ("ci", 3), ("ci", 1))):
        event = replace(make_check_event("build", "failure"), app=app, suite_id=suite, run_id=number)
        known = record_event(known, event, at_minute(51))
    assert [(check.app, check.suite_id) for check in known.revisions[0].checks] == [
        ("jenkins", 2),
        ("ci", 3),
        ("ci", 1),
    ]


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
