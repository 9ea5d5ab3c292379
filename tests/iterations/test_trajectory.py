from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.feedback.progress_text import count_open_entries
from bot.iterations.model import current_iteration, list_iterations
from bot.iterations.scoring import (
    ScoredIteration,
    Trajectory,
    best_iteration,
    build_trajectory,
    format_percents,
    format_scores,
    quality_delta,
)
from bot.pull_request.checks import CheckResult
from tests.iterations.iteration_builders import (
    BAND,
    EXAMPLE_ITERATIONS,
    GATES,
    SCORING,
    head,
    make_approval,
    make_checks,
    make_diff,
    make_item,
    make_iteration,
    make_pull_request,
    make_rejection,
    make_scored_iteration,
    make_unscored_iteration,
)


def of(*snapshots, present=None) -> Trajectory:
    return build_trajectory(snapshots, present or len(snapshots), GATES, SCORING.weights, BAND)


def numbers(*qualities):
    return [make_scored_iteration(number, quality) for number, quality in enumerate(qualities, 1)]


def best_of(*qualities) -> int | None:
    found = best_iteration(numbers(*qualities))
    return None if found is None else found.number


# The best


def test_the_documents_own_trajectory():  # row 60 # row 62 # row 86
    found = of(*EXAMPLE_ITERATIONS)
    assert [each.quality for each in found.scored] == [0.72, 0.85, 0.83]
    assert found.best.number == 2
    assert found.trail == (1, 2, 2)


@pytest.mark.parametrize(
    ("qualities", "expected"),
    [
        ((), None),
        ((0.5,), 1),
        ((0.5, 0.6), 2),
        ((0.6, 0.5), 1),
        ((0.6, 0.6), 1),
        ((0.5, 0.6, 0.6), 2),
        ((0.6, 0.5, 0.6, 0.61), 4),
        ((0.0, 0.0), 1),
        ((None, 0.0), 2),
        ((0.4, None), 1),
        ((None, None), None),
    ],
)
def test_only_a_strictly_greater_score_replaces_the_best(qualities, expected):  # row 66 # row 68 # row 69
    assert best_of(*qualities) == expected


QUALITY = st.integers(0, 10_000).map(lambda number: number / 10_000)


@given(st.lists(QUALITY, min_size=1, max_size=9))
def test_the_best_is_the_highest_of_all_and_the_earliest_of_equals(qualities):  # row 69 # row 70
    assert best_of(*qualities) == qualities.index(max(qualities)) + 1


@given(st.lists(QUALITY, min_size=1, max_size=9))
def test_the_best_is_never_overwritten_by_a_lower_one(qualities):  # row 86 # row 99
    trail = Trajectory(tuple(numbers(*qualities)), len(qualities)).trail
    held = [qualities[number - 1] for number in trail]
    assert held == sorted(held)


@given(st.lists(st.sampled_from([(4, 1), (8, 2), (12, 3)]), min_size=2, max_size=6))
def test_the_same_share_reached_another_way_is_a_tie(passed_and_failed):
    told = [
        make_unscored_iteration(n, checks=make_checks(*pair)) for n, pair in enumerate(passed_and_failed, 1)
    ]
    assert of(*told).best.number == 1


# Recomputed


def test_a_check_that_ends_late_can_change_which_was_best():  # row 85
    first = make_unscored_iteration(1, "a", approved=True, checks=(CheckResult("test", None),))
    second = make_unscored_iteration(2, "b", approved=True, checks=make_checks(4, 1))
    assert of(first, second).best.number == 1
    late = replace(first, checks=(CheckResult("test", "failure", is_test=True),))
    assert of(late, second).best.number == 2


def test_a_rebase_without_change_ties_and_keeps_the_earlier():
    told = (make_rejection(1), make_rejection(2, where="b"))
    seen = [
        ScoredIteration(each, checks=make_checks(3))
        for each in list_iterations(make_pull_request(*told, at_head="b"))
    ]
    found = of(*seen)
    assert (quality_delta(*found.scored), found.best.head) == (0.0, head("a"))


def test_after_a_force_push_back_the_final_iteration_is_the_one_the_branch_shows():
    pull = make_pull_request(make_approval(1), make_rejection(2, where="b"), make_approval(3), at_head="a")
    known = list_iterations(pull)
    found = of(*map(ScoredIteration, known), present=current_iteration(pull).number)
    assert (found.final.number, found.best.number) == (1, 1)


def test_the_delta_is_rounded_to_four_places():
    first, second = numbers(0.85, 0.83)
    assert quality_delta(first, second) == -0.02
    assert quality_delta(None, first) is None
    assert quality_delta(make_scored_iteration(1, None), first) is None


# In words


@pytest.mark.parametrize(
    ("qualities", "expected"),
    [
        ((0.65, 0.9, 0.68), ("0.65", "0.90", "0.68")),
        ((0.65, 0.65), ("0.65", "0.65")),
        ((0.8504, 0.8496), ("0.8504", "0.8496")),
        ((0.5, None), ("0.50", "–")),
    ],
)
def test_scores_are_told_apart_where_they_differ(qualities, expected):
    assert format_scores(numbers(*qualities)) == expected


@pytest.mark.parametrize(
    ("qualities", "expected"),
    [
        ((0.72, 0.85, 0.83), ("72%", "85%", "83%")),
        ((0.851, 0.849), ("85.10%", "84.90%")),
        ((None,), ("–",)),
    ],
)
def test_scores_in_percent(qualities, expected):
    assert format_percents(numbers(*qualities)) == expected


def test_an_iteration_knows_its_failed_checks():
    assert of(ScoredIteration(make_iteration(), checks=make_checks(2, 3))).final.failed_checks == 3


def test_a_revision_that_is_rejected_without_a_reason_is_not_scored_and_never_the_best():
    unnamed = replace(make_iteration(1), standing=(make_rejection(1, tags=()),))
    seen = (
        ScoredIteration(unnamed, checks=make_checks(3), diff=make_diff()),
        make_unscored_iteration(2, "b", (make_item(),)),
    )
    found = build_trajectory(seen, 2, GATES, SCORING.weights, BAND)
    assert ([each.quality is None for each in found.scored], found.best) == ([True, False], found.scored[1])
    assert count_open_entries(unnamed, GATES) == "rejected, no issue named"
