"""Which revisions are iterations, and what was open in each?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.iterations.model import (
    compare_iterations,
    current_iteration,
    list_iterations,
    previous_iteration,
)
from bot.pull_request.model import Item, Stance
from tests.iterations.iteration_builders import (
    at_minute,
    make_approval,
    make_check_validator,
    make_pull_request,
    make_rejection,
    make_verdict,
)


def in_force(iteration):
    """The verdicts in force, each with the tags that its validator has open."""
    return [
        (verdict.validator.name, verdict.stance.value, tuple(item.tag for item in verdict.items))
        for verdict in iteration.standing
    ]


DATES = ("alice", "rejects", ("date_errors",))


def numbered(pull):
    return [(iteration.number, iteration.head[0]) for iteration in list_iterations(pull)]


def test_a_revision_becomes_an_iteration_when_it_is_judged():  # row 6 # row 7
    assert numbered(make_pull_request()) == []
    assert numbered(make_pull_request(make_rejection(1))) == [(1, "a")]


def test_twelve_pushes_before_the_first_review_are_iteration_1():  # row 7 # row 84
    pushes = [(n, letter) for n, letter in enumerate("abcdef0123456"[:12])]
    assert numbered(make_pull_request(make_rejection(20, where="5"), pushes=pushes, at_head="5")) == [
        (1, "5")
    ]


def test_two_validators_judging_one_head_make_one_iteration():
    assert numbered(make_pull_request(make_rejection(1, "alice"), make_rejection(2, "bob"))) == [(1, "a")]


def test_a_push_between_two_judgements_makes_the_next_iteration():
    assert numbered(make_pull_request(make_rejection(1), make_rejection(2, where="b"), at_head="b")) == [
        (1, "a"),
        (2, "b"),
    ]


def test_a_force_push_back_keeps_the_number():
    pull = make_pull_request(
        make_rejection(1), make_rejection(2, where="b"), make_approval(3, where="a"), at_head="a"
    )
    assert numbered(pull) == [(1, "a"), (2, "b")]


def test_a_late_verdict_about_an_earlier_head_leaves_the_newest_reviewed_one_current():
    late = make_verdict(4, make_check_validator("ci / test"), Stance.REJECTS, "a", tags=("tests_failing",))
    pushes = [(0, "a"), (1, "b"), (3, "c")]
    pull = make_pull_request(make_rejection(2, where="b"), late, pushes=pushes, at_head="c")
    current = current_iteration(pull)
    assert (current.number, current.head[0]) == (1, "b")
    assert {item.tag for item in current.open_items} == {"date_errors", "tests_failing"}


def test_a_verdict_without_a_head_is_about_the_revision_known_then():
    pushes = [(0, "a"), (5, "b")]
    pull = make_pull_request(
        make_rejection(1, where=None),
        make_rejection(6, where=None, tags=("x_y",)),
        pushes=pushes,
        at_head="b",
    )
    assert numbered(pull) == [(1, "a"), (2, "b")]


def test_a_verdict_without_a_head_and_without_known_revisions_is_about_the_present_head():
    assert numbered(make_pull_request(make_rejection(1, where=None), at_head="c")) == [(1, "c")]


def test_an_uncounted_or_silent_verdict_makes_no_iteration():
    pull = make_pull_request(make_rejection(1, counted=False), make_verdict(2, "bob", Stance.SILENT, "b"))
    assert numbered(pull) == []


PUSHES = [(0, "a"), (1.5, "b")]


def test_an_iteration_stays_as_it_was_when_the_next_began():
    pull = make_pull_request(
        make_rejection(1),
        make_rejection(1.2, tags=("scope_error",)),
        make_approval(3, where="b"),
        pushes=PUSHES,
        at_head="b",
    )
    one, two = list_iterations(pull)
    assert in_force(one) == [("alice", "rejects", ("date_errors", "scope_error"))]
    assert in_force(two) == [("alice", "approves", ())]


def test_a_rejection_that_nobody_repeated_is_carried_into_the_next_iteration():
    alice, bob = make_rejection(1, "alice"), make_rejection(3, "bob", "b", tags=("scope_error",))
    second = list_iterations(make_pull_request(alice, bob, pushes=PUSHES, at_head="b"))[1]
    assert in_force(second) == [DATES, ("bob", "rejects", ("scope_error",))]
    assert second.tags == ("date_errors", "scope_error")


def test_a_late_review_of_an_earlier_head_is_in_force_now_and_leaves_its_iteration_as_it_was():
    alice, late = make_approval(4, "alice", "b"), make_rejection(5, "bob", "a")
    pull = make_pull_request(make_rejection(1), alice, late, pushes=PUSHES, at_head="b")
    one, two = list_iterations(pull)
    assert in_force(one) == [DATES]
    assert in_force(two) == [("alice", "approves", ()), ("bob", "rejects", ("date_errors",))]


def test_a_late_approval_of_an_earlier_head_leaves_what_was_reported_later():
    here, late = make_rejection(2, where="b", tags=("scope_error",)), make_approval(3, where="a")
    two = list_iterations(make_pull_request(make_rejection(1), here, late, pushes=PUSHES, at_head="b"))[1]
    assert in_force(two) == [("alice", "rejects", ("scope_error",))]


def test_a_check_that_finishes_late_on_an_earlier_head_does_not_reject_this_one():  # row 85
    review, passed, late = (
        make_rejection(1),
        make_approval(4, make_check_validator(), "b"),
        make_rejection(5, make_check_validator(), "a"),
    )
    two = list_iterations(make_pull_request(review, passed, late, pushes=PUSHES, at_head="b"))[1]
    assert in_force(two) == [DATES, ("validate", "approves", ())]


def test_a_force_push_back_changes_no_iterations_record():
    worse = make_rejection(2, where="b", tags=("scope_error",))
    before = list_iterations(make_pull_request(make_rejection(1), worse, pushes=PUSHES, at_head="b"))
    back = make_pull_request(make_rejection(1), worse, pushes=PUSHES, at_head="a")
    assert [in_force(iteration) for iteration in list_iterations(back)] == [
        in_force(iteration) for iteration in before
    ]


def test_a_dismissal_before_the_next_push_empties_the_iteration():
    dismissed, bob = make_rejection(1, lifted_at=at_minute(2)), make_approval(9, "bob", "b")
    pull = make_pull_request(dismissed, bob, pushes=[(0, "a"), (5, "b")], at_head="b")
    assert list_iterations(pull)[0].standing == ()


def test_a_dismissal_after_the_next_push_does_not_make_the_earlier_head_look_clean():
    dismissed, bob = make_rejection(1, lifted_at=at_minute(6)), make_approval(9, "bob", "b")
    one, two = list_iterations(make_pull_request(dismissed, bob, pushes=[(0, "a"), (5, "b")], at_head="b"))
    assert [verdict.id for verdict in two.standing] == [bob.id]
    assert all(verdict.id == dismissed.id for verdict in one.standing)


def test_tags_are_united_oldest_verdict_first_without_repeats():
    alice = make_rejection(1, "alice", tags=("near_duplicate", "date_errors"))
    bob = make_rejection(
        2, "bob", items=(Item("date_errors"), Item(None, words="unclear"), Item("scope_error"))
    )
    only = list_iterations(make_pull_request(alice, bob, make_approval(3, "carol", items=(Item("x_y"),))))[0]
    assert only.tags == ("near_duplicate", "date_errors", "scope_error")
    assert [item.words for item in only.open_items if item.tag is None] == ["unclear"]
    assert only.is_rejected


def test_an_approved_iteration_has_nothing_open():
    only = list_iterations(make_pull_request(make_approval(1, items=(Item("date_errors"),))))[0]
    assert (only.is_rejected, only.open_items, only.tags) == (False, (), ())


@pytest.mark.parametrize(
    ("at_head", "told", "number"),
    [
        ("a", (), None),
        ("a", (make_rejection(1),), 1),
        ("b", (make_rejection(1), make_rejection(2, where="b")), 2),
        ("a", (make_rejection(1), make_rejection(2, where="b")), 1),  # forced back
        (
            "b",
            (make_rejection(1), make_rejection(2, where="b"), make_rejection(3, "bob", "a")),
            2,
        ),  # a late review
        ("c", (make_rejection(1), make_rejection(2, where="b")), 2),  # not judged yet
    ],
)
def test_the_current_iteration(at_head, told, number):
    found = current_iteration(make_pull_request(*told, at_head=at_head))
    assert (found.number if found else None) == number


def test_iterations_are_compared_with_the_latest_of_the_others():
    known = list_iterations(
        make_pull_request(
            make_rejection(1), make_rejection(2, where="b"), make_rejection(3, where="c"), at_head="c"
        )
    )
    assert [previous_iteration(known, iteration).number for iteration in known] == [3, 3, 2]
    assert previous_iteration(known[:1], known[0]) is None


def changes(before, after):
    return {word: entries for word, entries in compare_iterations(before, after).items() if entries}


def test_fixed_still_open_and_new():
    before = make_rejection(1, tags=("title_overclaims", "broken_wiki_links", "scope_error"))
    after = make_rejection(2, where="b", tags=("date_errors", "title_overclaims", "broken_wiki_links"))
    one, two = list_iterations(make_pull_request(before, after, pushes=PUSHES, at_head="b"))
    assert changes(one, two) == {
        "fixed": ["scope_error"],
        "still open": ["title_overclaims", "broken_wiki_links"],
        "new": ["date_errors"],
    }


def test_in_the_first_iteration_all_is_new():
    one = list_iterations(make_pull_request(make_rejection(1)))[0]
    assert changes(None, one) == {"new": ["date_errors"]}


EVENT = st.tuples(st.sampled_from("abcd"), st.sampled_from(["alice", "bob"]), st.booleans())


def told(events):
    return [
        make_approval(at, who, where) if yes else make_rejection(at, who, where)
        for at, (where, who, yes) in enumerate(events, 1)
    ]


@given(st.lists(EVENT, max_size=8), st.lists(EVENT, max_size=4))
def test_a_number_once_given_stays_also_over_force_pushes_back(first, more):  # row 7
    before = numbered(make_pull_request(*told(first)))
    after = numbered(make_pull_request(*told([*first, *more])))
    assert after[: len(before)] == before
    assert [number for number, _ in after] == list(range(1, len(after) + 1))


@given(st.lists(EVENT, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(events, random):
    shuffled = told(events)
    random.shuffle(shuffled)
    last = events[-1][0]
    assert list_iterations(make_pull_request(*shuffled, at_head=last)) == list_iterations(
        make_pull_request(*told(events), at_head=last)
    )
