from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.feedback.build import decide_outcome
from bot.gates.config import DiffSizeBand, QualityDimension
from bot.gates.model import Aspect
from bot.iterations.model import Iteration, IterationOutcome, list_iterations
from bot.iterations.scoring import (
    DimensionScore,
    Score,
    ScoredIteration,
    distinct_items,
    item_aspect,
    item_severity,
    score_iteration,
)
from bot.pull_request.checks import CheckResult
from bot.values import Location
from tests.builders import RULES
from tests.iterations.iteration_builders import (
    BAND,
    GATES,
    SCORING,
    make_approval,
    make_checks,
    make_diff,
    make_document_item,
    make_item,
    make_iteration,
    make_minor_items,
    make_pull_request,
    make_rejection,
    make_unscored_iteration,
)


def scored(seen: ScoredIteration, band=BAND) -> Score:
    found = score_iteration(seen, GATES, SCORING.weights, band)
    assert found is not None
    return found


def measured(score: Score, dimension: QualityDimension) -> DimensionScore | None:
    return next((measure for measure in score.measures if measure.dimension is dimension), None)


def value(dimension: str, seen: ScoredIteration, band=BAND) -> float | None:
    measure = measured(scored(seen, band), QualityDimension(dimension))
    return None if measure is None else measure.value


# The five dimensions


def test_a_score_with_every_dimension_observed():  # row 16 # row 17 # row 82
    seen = make_unscored_iteration(
        items=[make_item("title_overclaims")], checks=make_checks(4, 1), diff=make_diff(lines=20)
    )
    assert scored(seen) == Score(
        value=0.69,  # 0.30 × 0.8 + 0.25 + 0.25 × 0.6 + 0.10 + 0.10 = 0.84, but a blocking item is open
        measures=(
            DimensionScore(QualityDimension.VALIDATION, 0.8, ("4 of 5 checks passed",)),
            DimensionScore(QualityDimension.COMPLETENESS, 1.0, ("no open item",)),
            DimensionScore(QualityDimension.CORRECTNESS, 0.6, ("title_overclaims is major",)),
            DimensionScore(QualityDimension.READABILITY, 1.0, ("no open item",)),
            DimensionScore(QualityDimension.EFFICIENCY, 1.0, ("20 changed lines, within 1 to 400",)),
        ),
        decided="correctness 0.60, 4 of 5 checks passed",
    )


@pytest.mark.parametrize(
    ("dimension", "weight"),
    [
        ("validation", 0.30),  # row 77
        ("completeness", 0.25),  # row 78
        ("correctness", 0.25),  # row 79
        ("readability", 0.10),  # row 80
        ("efficiency", 0.10),  # row 81
    ],
)
def test_a_dimension_at_nothing_takes_exactly_its_weight(dimension, weight):
    ruined = {
        "validation": make_unscored_iteration(approved=True, checks=make_checks(0, 3), diff=make_diff()),
        "efficiency": make_unscored_iteration(
            items=make_minor_items("efficiency", 10), checks=make_checks(3), diff=make_diff()
        ),
    }
    seen = ruined.get(dimension) or make_unscored_iteration(
        items=make_minor_items({"readability": "clarity"}.get(dimension, dimension), 10),
        checks=make_checks(3),
        diff=make_diff(),
    )
    assert scored(seen).value == round(1 - weight, 4)


@pytest.mark.parametrize(
    ("about", "dimension"),
    [
        ("completeness", "completeness"),
        ("documentation", "completeness"),
        ("testability", "completeness"),
        ("correctness", "correctness"),
        ("security", "correctness"),
        ("consistency", "correctness"),
        ("clarity", "readability"),
        ("style", "readability"),
        ("maintainability", "readability"),
        ("efficiency", "efficiency"),
    ],
)
def test_every_aspect_belongs_to_one_dimension(about, dimension):
    seen = make_unscored_iteration(items=[make_document_item(about, "major")], diff=make_diff())
    lowered = [measure.dimension for measure in scored(seen).measures if measure.value < 1]
    assert lowered == [dimension]
    assert value(dimension, seen) == 0.6


@pytest.mark.parametrize(
    ("how", "left"), [("critical", 0.0), ("major", 0.6), ("minor", 0.9), ("suggestion", 0.95)]
)
def test_what_an_open_item_takes(how, left):
    assert (
        value("correctness", make_unscored_iteration(items=[make_document_item("correctness", how)])) == left
    )


def test_a_dimension_never_falls_below_nothing():
    items = [make_document_item("clarity", "major", n) for n in range(3)]
    assert value("readability", make_unscored_iteration(items=items)) == 0.0


def test_a_word_for_severity_that_nobody_knows_weighs_like_a_warning():
    assert (
        value("correctness", make_unscored_iteration(items=[make_document_item("correctness", "blocker")]))
        == 0.9
    )


def test_a_verdict_nobody_repeated_still_weighs_on_the_next_iteration():
    pull = make_pull_request(
        make_rejection(1, "alice", tags=("title_overclaims",)),
        make_rejection(2, "bob", "b", tags=("body_too_thin",)),
        at_head="b",
    )
    second = ScoredIteration(list_iterations(pull)[1])
    assert (value("correctness", second), value("completeness", second)) == (0.6, 0.6)


# Severity and aspect


@pytest.mark.parametrize(
    ("given_item", "expected"),
    [
        (make_item("date_errors"), "major"),
        (make_item("broken_wiki_links"), "minor"),
        (make_item("opsec_internal_deal_terms"), "critical"),
        (make_item("date_errors", severity="suggestion"), "suggestion"),
        (make_item("date_errors", inferred=0.7), "minor"),
        (make_item("no_such_tag"), "minor"),
        (make_item(None), "major"),
        (make_item(None, blocks=False), "minor"),
    ],
)
def test_the_severity_of_an_item(given_item, expected):
    assert item_severity(given_item, GATES) == expected


@pytest.mark.parametrize(
    ("given_item", "expected"),
    [
        (make_item("body_too_thin"), Aspect.COMPLETENESS),
        (make_item("body_too_thin", aspect="style"), Aspect.STYLE),
        (make_item("body_too_thin", aspect="charm"), Aspect.COMPLETENESS),
        (make_item("no_such_tag"), Aspect.CORRECTNESS),
    ],
)
def test_the_aspect_of_an_item(given_item, expected):
    assert item_aspect(given_item, GATES) == expected


def test_the_same_problem_said_twice_weighs_once():
    there, elsewhere = Location("claims/a.md", 5), Location("claims/a.md", 9)
    items = (
        make_item(place=there, words="month 13"),
        make_item(place=there, words="is this a date?"),
        make_item(),
        make_item(place=elsewhere),
        make_item("scope_error"),
        make_item("scope_error"),
    )
    assert distinct_items(items) == (items[0], items[3], items[4])


def test_items_without_tag_or_place_are_told_apart_by_their_words():
    items = (
        make_document_item("clarity", "minor", 1),
        make_document_item("clarity", "minor", 2),
        make_document_item("clarity", "minor", 1),
    )
    assert distinct_items(items) == items[:2]


# Checks


@pytest.mark.parametrize(
    ("conclusion", "expected"),
    [
        ("success", 1.0),
        ("neutral", 1.0),
        ("failure", 0.5),
        ("error", 0.5),
        ("timed_out", 0.5),
        ("action_required", 0.5),
        ("startup_failure", 0.5),
        ("skipped", 1.0),
        ("cancelled", 1.0),
        ("stale", 1.0),
        (None, 1.0),
    ],
)
def test_validation_is_the_share_of_completed_checks_that_passed(conclusion, expected):  # row 77
    results = (CheckResult("build", "success"), CheckResult("lint", conclusion))
    assert value("validation", make_unscored_iteration(checks=results)) == expected


def test_our_own_check_never_counts():
    results = (CheckResult("build", "success"), CheckResult("whetstone/gates", "failure"))
    assert value("validation", make_unscored_iteration(checks=results)) == 1.0
    assert value("validation", make_unscored_iteration(checks=results[1:])) is None


def test_a_repeated_run_of_a_check_replaces_the_one_before():
    results = (CheckResult("build", "failure"), CheckResult("build", "success"))
    assert scored(make_unscored_iteration(checks=results)).decided == "no open item, 1 of 1 check passed"


def test_checks_of_two_apps_with_one_name_both_count():
    results = (
        CheckResult("test", "failure", app="jenkins", run_id=1),
        CheckResult("test", "success", app="github-actions", run_id=2),
        CheckResult("test", "success", app="jenkins", run_id=3),
        CheckResult("test", "failure", app="github-actions", run_id=4, suite_id=9),
    )
    assert value("validation", make_unscored_iteration(checks=results[:2])) == 0.5
    assert value("validation", make_unscored_iteration(checks=results[:3])) == 1.0
    assert value("validation", make_unscored_iteration(checks=results)) == 0.5


def test_a_repeated_run_that_has_not_ended_takes_the_old_result_away():
    results = (CheckResult("build", "failure"), CheckResult("build", None))
    assert value("validation", make_unscored_iteration(checks=results)) is None


def test_a_failed_test_check_leaves_no_correctness():  # row 79
    seen = make_unscored_iteration(approved=True, checks=make_checks(2, 1, is_test=True))
    found = measured(scored(seen), QualityDimension.CORRECTNESS)
    assert found == DimensionScore(QualityDimension.CORRECTNESS, 0.0, ("the test check bad-0 failed",))


def test_a_failed_check_that_is_no_test_leaves_correctness_alone():
    assert value("correctness", make_unscored_iteration(approved=True, checks=make_checks(2, 1))) == 1.0


def test_a_check_that_ends_late_changes_the_score():  # row 85
    before = make_unscored_iteration(
        approved=True, checks=(CheckResult("build", "success"), CheckResult("test", None))
    )
    after = replace(before, checks=(CheckResult("build", "success"), CheckResult("test", "failure")))
    assert (scored(before).value, scored(after).value) == (1.0, 0.8333)


# The size of the diff


@pytest.mark.parametrize(
    ("lines", "expected"), [(0, 0.0), (5, 0.5), (10, 1.0), (200, 1.0), (400, 0.5), (2000, 0.1)]
)
def test_a_diff_outside_the_band_lowers_efficiency_in_proportion(lines, expected):  # row 81
    assert (
        value("efficiency", make_unscored_iteration(diff=make_diff(lines=lines)), DiffSizeBand(10, 200))
        == expected
    )


def test_items_about_efficiency_and_the_size_both_lower_it():
    seen = make_unscored_iteration(
        items=[make_document_item("efficiency", "major")], diff=make_diff(lines=400)
    )
    assert measured(scored(seen, DiffSizeBand(1, 200)), QualityDimension.EFFICIENCY) == DimensionScore(
        QualityDimension.EFFICIENCY, 0.3, ("efficiency is major", "400 changed lines, outside 1 to 200")
    )


# What nothing observed


def test_without_checks_and_diff_their_dimensions_are_left_out_and_the_rest_renormalised():  # row 82
    found = scored(make_unscored_iteration(items=make_minor_items("correctness", 4)))
    assert found.unobserved == (QualityDimension.VALIDATION, QualityDimension.EFFICIENCY)
    assert found.value == 0.8333  # (0.25 + 0.25 × 0.6 + 0.10) / 0.60
    assert found.decided == "correctness 0.60"


def test_without_a_standing_verdict_only_checks_and_diff_speak():
    withdrawn = ScoredIteration(
        Iteration(1, "a" * 40, make_iteration().reviewed_at, ()), checks=make_checks(1, 1), diff=make_diff()
    )
    found = scored(withdrawn)
    assert found.unobserved == (
        QualityDimension.COMPLETENESS,
        QualityDimension.CORRECTNESS,
        QualityDimension.READABILITY,
    )
    assert found.value == 0.625  # (0.30 × 0.5 + 0.10) / 0.40


def test_a_failed_test_speaks_about_correctness_even_without_a_verdict():
    withdrawn = ScoredIteration(
        Iteration(1, "a" * 40, make_iteration().reviewed_at, ()), checks=make_checks(0, 1, is_test=True)
    )
    assert scored(withdrawn).unobserved == (
        QualityDimension.COMPLETENESS,
        QualityDimension.READABILITY,
        QualityDimension.EFFICIENCY,
    )


def test_where_nothing_was_observed_there_is_no_score():
    nothing = ScoredIteration(Iteration(1, "a" * 40, make_iteration().reviewed_at, ()))
    assert score_iteration(nothing, GATES, SCORING.weights, BAND) is None


# What decided


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (make_unscored_iteration(approved=True), "no open item"),
        (make_unscored_iteration(approved=True, checks=make_checks(5)), "no open item, 5 of 5 checks passed"),
        (
            make_unscored_iteration(
                items=[make_document_item("style", "critical"), make_document_item("security", "minor")]
            ),
            "readability 0.00",
        ),
        (
            make_unscored_iteration(
                items=[make_document_item("style", "major"), make_document_item("security", "major")]
            ),
            "correctness 0.60",
        ),
        (
            ScoredIteration(
                Iteration(1, "a" * 40, make_iteration().reviewed_at, ()),
                checks=make_checks(1),
                diff=make_diff(),
            ),
            "no open item, 1 of 1 check passed",
        ),
    ],
)
def test_what_decided_is_the_dimension_that_cost_most_and_the_checks(seen, words):
    assert scored(seen).decided == words


def test_a_score_from_fewer_than_two_dimensions_is_none():
    withdrawn = Iteration(1, "a" * 40, make_iteration().reviewed_at, ())
    seen = ScoredIteration(withdrawn, checks=make_checks(1))
    assert score_iteration(seen, GATES, SCORING.weights, BAND) is None


# The score overrules nobody


def test_a_score_below_the_threshold_does_not_overrule_an_approval():  # row 83 # row 58
    assert scored(make_unscored_iteration(approved=True, checks=make_checks(0, 4, is_test=True))).value < 0.70
    approved = make_pull_request(make_approval(1))
    (current,) = list_iterations(approved)
    assert decide_outcome(approved, current, (), RULES, is_stuck=False) is IterationOutcome.ACCEPT


ITEMS = st.lists(
    st.builds(
        make_document_item,
        st.sampled_from([aspect.value for aspect in Aspect]),
        st.sampled_from(["critical", "major", "minor", "suggestion"]),
        st.integers(0, 50),
    ),
    max_size=12,
)
SEEN = st.builds(
    lambda items, passed, failed, lines: make_unscored_iteration(
        items=items,
        checks=make_checks(passed, failed),
        diff=None if lines is None else make_diff(lines=lines),
    ),
    ITEMS,
    st.integers(0, 4),
    st.integers(0, 4),
    st.none() | st.integers(0, 5000),
)


@given(SEEN)
def test_every_score_is_between_0_and_1_with_four_places(seen):  # row 17 # row 82
    found = scored(seen).value
    assert 0 <= found <= 1
    assert found == round(found, 4)


@given(SEEN, st.sampled_from([aspect.value for aspect in Aspect]))
def test_one_more_open_item_never_raises_the_score(seen, about):
    verdict_given = seen.iteration.standing[0]
    more = replace(verdict_given, items=(*verdict_given.items, make_document_item(about, "minor", 99)))
    worse = replace(seen, iteration=replace(seen.iteration, standing=(more,)))
    assert scored(worse).value <= scored(seen).value
