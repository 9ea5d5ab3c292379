"""Which verdict of each validator is in force?"""

from __future__ import annotations

from itertools import permutations

from bot.findings.ledger import build_ledgers, standing_verdicts
from bot.pull_request.model import Stance
from tests.iterations.iteration_builders import (
    at_minute,
    make_approval,
    make_check_validator,
    make_pull_request,
    make_rejection,
    make_verdict,
)


def standing(*verdicts, until=None, at_head="a", pushes=()) -> list[str]:
    """The ids of the verdicts in force."""
    pull_request = make_pull_request(*verdicts, at_head=at_head, pushes=pushes)
    ledger = build_ledgers(pull_request, [(until, pull_request.head)] if until else [])[0]
    return [verdict.id for verdict in standing_verdicts(ledger)]


def test_a_validators_newest_verdict_is_in_force():
    first, second = make_rejection(1), make_rejection(2, tags=("near_duplicate",))
    assert standing(second, first) == [second.id]


def test_somebody_elses_approval_lifts_nothing():
    rejection, approval = make_rejection(1, "alice"), make_approval(2, "bob")
    assert standing(rejection, approval) == [rejection.id, approval.id]


def test_ones_own_later_approval_replaces_the_rejection():
    assert standing(make_rejection(1), make_approval(2)) == [make_approval(2).id]


def test_a_plain_comment_changes_no_stance():
    rejection = make_rejection(1)
    assert standing(rejection, make_verdict(2, "alice", Stance.SILENT)) == [rejection.id]


def test_whoever_is_no_validator_has_no_verdict_in_force():
    assert standing(make_rejection(1, counted=False)) == []


def test_an_older_verdict_does_not_come_back_when_the_newest_is_lifted():
    assert standing(make_rejection(1), make_rejection(2, lifted_at=at_minute(3))) == []


def test_a_verdict_that_was_lifted_later_was_in_force_before():
    dismissed = make_rejection(2, lifted_at=at_minute(5))
    assert standing(dismissed, until=at_minute(4)) == [dismissed.id]
    assert standing(dismissed, until=at_minute(6)) == []


def test_verdicts_are_listed_oldest_first_whatever_the_order_of_arrival():
    verdicts = (make_rejection(1, "alice"), make_rejection(2, "bob"), make_rejection(3, "carol"))
    ids = [verdict.id for verdict in verdicts]
    assert all(standing(*order) == ids for order in permutations(verdicts))


def test_within_one_second_the_higher_review_id_is_the_later():
    ninth, tenth = make_rejection(1, id="review:9"), make_approval(1, id="review:10")
    assert standing(tenth, ninth) == ["review:10"]


def test_a_check_that_finishes_late_on_an_older_head_does_not_replace_the_result_on_this_one():
    passed = make_approval(4, make_check_validator(), "b")
    late = make_rejection(5, make_check_validator(), "a")
    pushes = [(0, "a"), (3, "b")]
    assert standing(passed, late, at_head="b", pushes=pushes) == [passed.id]
