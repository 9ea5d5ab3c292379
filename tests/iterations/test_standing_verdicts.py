"""Which verdict of each validator stands?"""

from __future__ import annotations

from itertools import permutations

from bot.iterations.model import standing_verdicts
from bot.pull_request.model import Stance
from tests.iterations.iteration_builders import (
    at_minute,
    head,
    make_approval,
    make_check_validator,
    make_rejection,
    make_verdict,
)


def test_a_validators_newest_verdict_replaces_all_it_said_before():
    first, second = make_rejection(1, tags=("date_errors",)), make_rejection(2, tags=("near_duplicate",))
    assert standing_verdicts((second, first)) == (second,)


def test_somebody_elses_approval_lifts_nothing():
    no, yes = make_rejection(1, "alice"), make_approval(2, "bob")
    assert standing_verdicts((no, yes)) == (no, yes)


def test_ones_own_later_approval_replaces_the_rejection():
    assert standing_verdicts((make_rejection(1), make_approval(2))) == (make_approval(2),)


def test_a_plain_comment_changes_nothing_about_where_one_stands():
    no = make_rejection(1)
    assert standing_verdicts((no, make_verdict(2, "alice", Stance.SILENT, tags=("scope_error",)))) == (no,)


def test_who_is_no_validator_has_no_standing_verdict():
    assert standing_verdicts((make_rejection(1, counted=False),)) == ()


def test_an_older_verdict_does_not_come_back_when_the_newest_is_lifted():
    assert standing_verdicts((make_rejection(1), make_rejection(2, lifted_at=at_minute(3)))) == ()


def test_a_verdict_lifted_later_still_stood_before():
    dismissed = make_rejection(2, lifted_at=at_minute(5))
    assert standing_verdicts((dismissed,), at=at_minute(4)) == (dismissed,)
    assert standing_verdicts((dismissed,), at=at_minute(5)) == ()


def test_what_was_said_after_that_time_is_not_yet_there():
    no = make_rejection(1)
    assert standing_verdicts((no, make_approval(2)), at=at_minute(1)) == (no,)


def test_verdicts_stand_oldest_first_whatever_the_order_of_arrival():
    told = (make_rejection(1, "alice"), make_rejection(2, "bob"), make_rejection(3, "carol"))
    assert {standing_verdicts(order) for order in permutations(told)} == {told}


def test_within_one_second_the_higher_review_id_is_the_later():
    ninth, tenth = make_rejection(1, id="review:9"), make_approval(1, id="review:10")
    assert standing_verdicts((tenth, ninth)) == (tenth,)


def test_a_check_that_finishes_late_on_an_older_head_does_not_replace_the_result_on_this_one():
    passed, late = (
        make_approval(4, make_check_validator(), "b"),
        make_rejection(5, make_check_validator(), "a"),
    )
    assert standing_verdicts((passed, late), head=head("b")) == (passed,)
    assert standing_verdicts((passed, late), head=head("a")) == (late,)
