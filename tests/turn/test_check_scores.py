"""What do checks make of an iteration's score?"""

from bot.feedback.build import build_feedback
from bot.pull_request.checks import CheckResult
from bot.pull_request.record import record_event
from tests.builders import RULES, at, moment
from tests.turn.iteration_story import after, ended, head, judged, said


def progress(known, rules=RULES):
    return build_feedback(known, rules, moment()).progress


def test_a_check_that_ends_changes_the_score_of_its_own_iteration():  # row 85
    known = after(judged(head(1), head(2)), said(1, "date_errors"), said(2, "date_errors"))
    before = [each.quality for each in progress(known).trajectory.scored]
    late = record_event(
        record_event(known, ended("build", "success"), at(51)), ended("lint", "failure"), at(51)
    )
    assert before == [0.8333, 0.8333]
    assert [each.quality for each in progress(late).trajectory.scored] == [0.7222, 0.8333]


def test_a_check_that_is_run_again_replaces_its_first_result():
    known = record_event(after(judged(head(1)), said(1, "date_errors")), ended("build", "failure"), at(51))
    again = record_event(known, ended("build", "success"), at(52))
    assert again.revisions[0].checks == (CheckResult("build", "success"),)


def test_a_check_of_a_foreign_head_is_not_kept():
    known = after(judged(head(1)), said(1, "date_errors"))
    assert record_event(known, ended("build", "failure", 7), at(51)) == known


def test_a_failed_test_check_makes_it_incorrect():  # row 79
    known = record_event(after(judged(head(1)), said(1)), ended("unit-tests", "failure"), at(51))
    assert build_feedback(known, RULES, moment()).score == 0.3889


def test_our_own_check_never_counts():
    known = record_event(after(judged(head(1)), said(1)), ended("whetstone/gates", "failure"), at(51))
    assert build_feedback(known, RULES, moment()).score == 1.0


def test_nothing_observed_is_left_out_of_the_score():  # row 82
    known = after(judged(head(1)), said(1, "date_errors"))
    score = progress(known).trajectory.final.score
    assert [dimension.value for dimension in score.unobserved] == ["validation", "efficiency"]
