from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.iterations.progress import (
    Cause,
    Degradation,
    DegradationSign,
    Trigger,
    detect_degradation,
    render_degradation,
)
from bot.iterations.scoring import build_trajectory
from bot.pull_request.diff import Diff, FileDiff
from tests.iterations.iteration_builders import (
    BAND,
    EXAMPLE_ITERATIONS,
    GATES,
    SCORING,
    make_checks,
    make_diff,
    make_document_item,
    make_item,
    make_iteration,
    make_scored_iteration,
)

MAX = 5


def seen(*history, maximum=MAX) -> Degradation:
    return detect_degradation(history, GATES, SCORING.limits, maximum)


def fell(*qualities) -> Degradation:
    return seen(*(make_scored_iteration(number, quality) for number, quality in enumerate(qualities, 1)))


def causes(*history, maximum=MAX) -> list[DegradationSign]:
    return list(seen(*history, maximum=maximum).signs)


# The three triggers


@pytest.mark.parametrize(
    ("qualities", "triggers"),
    [
        ((0.9,), ()),
        ((0.8, 0.9), ()),
        ((0.9, 0.9), ()),
        ((0.9, 0.89), ()),
        ((0.9, 0.85), ()),  # exactly 0.05 is not more than 0.05
        ((0.9, 0.8499), (Trigger.QUALITY_DELTA,)),
        ((0.9, 0.6), (Trigger.QUALITY_DELTA,)),
        ((0.9, 0.88, 0.86), (Trigger.CONSECUTIVE_DECREASES,)),
        ((0.9, 0.88, 0.88, 0.86), ()),
        ((0.9, 0.88, 0.89, 0.86), ()),
        ((0.9, 0.88, 0.8), (Trigger.QUALITY_DELTA, Trigger.CONSECUTIVE_DECREASES)),
        ((0.9, None, 0.6), ()),
        ((0.9, 0.88, None), ()),
    ],
)
def test_a_drop_is_flagged_by_its_size_or_when_it_is_the_second(qualities, triggers):  # row 94 # row 95
    assert fell(*qualities).triggers == triggers


@given(st.integers(0, 9_500).map(lambda number: number / 10_000))
def test_a_drop_of_exactly_0_05_is_never_flagged_wherever_it_happens(low):  # row 94
    found = fell(round(low + 0.05, 4), low)
    assert (found.delta, found.is_flagged, found.is_degraded) == (-0.05, False, True)


@given(st.integers(0, 9_400).map(lambda number: number / 10_000))
def test_a_drop_of_0_0501_is_always_flagged(low):  # row 94
    assert fell(round(low + 0.0501, 4), low).triggers == (Trigger.QUALITY_DELTA,)


@given(st.lists(st.integers(1, 500), min_size=2, max_size=4))
def test_two_drops_in_a_row_however_small_are_flagged(drops):  # row 95
    qualities = [1.0]
    for drop in drops:
        qualities.append(round(qualities[-1] - drop / 10_000, 4))
    assert Trigger.CONSECUTIVE_DECREASES in fell(*qualities).triggers


@pytest.mark.parametrize(
    ("before", "after", "flagged"),
    [
        (make_checks(4, 1), make_checks(3, 2), True),
        (make_checks(4, 1), make_checks(4, 1), False),
        (make_checks(4, 1), make_checks(5), False),
        (make_checks(5), make_checks(9, 1), True),
        ((), make_checks(3, 2), False),  # none seen is not none failed
        (make_checks(5), (), False),
    ],
)
def test_more_failed_checks_than_before(before, after, flagged):  # row 96
    found = seen(make_scored_iteration(1, 0.5, checks=before), make_scored_iteration(2, 0.5, checks=after))
    assert found.triggers == ((Trigger.VALIDATION_FAILURES_INCREASED,) if flagged else ())


def test_any_drop_is_degraded_and_a_rise_is_not():
    assert (fell(0.9, 0.89).is_degraded, fell(0.9, 0.9).is_degraded, fell(0.8, 0.9).is_degraded) == (
        True,
        False,
        False,
    )


def test_the_documents_own_third_iteration_is_degraded_and_flagged_by_its_check():  # row 62
    scored = build_trajectory(EXAMPLE_ITERATIONS, 3, GATES, SCORING.weights, BAND).scored
    assert seen(*scored) == Degradation(3, -0.02, (Trigger.VALIDATION_FAILURES_INCREASED,))
    assert [seen(*scored[:count]).is_degraded for count in (1, 2)] == [False, False]


# Over-refinement


def test_over_refinement_is_named_when_two_iterations_brought_nothing_better():  # row 90
    history = [make_scored_iteration(1, 0.9), make_scored_iteration(2, 0.8), make_scored_iteration(3, 0.7)]
    assert causes(*history) == [
        DegradationSign(Cause.OVER_REFINEMENT, "2 iterations since the best, none of them better")
    ]


def test_over_refinement_is_named_beyond_the_budget():  # row 90
    history = [make_scored_iteration(1, 0.5), make_scored_iteration(2, 0.9), make_scored_iteration(3, 0.8)]
    assert causes(*history, maximum=2) == [
        DegradationSign(Cause.OVER_REFINEMENT, "iteration 3 of a budget of 2")
    ]


def test_over_refinement_is_not_named_right_after_the_best():  # row 90
    assert (
        causes(make_scored_iteration(1, 0.5), make_scored_iteration(2, 0.9), make_scored_iteration(3, 0.6))
        == []
    )


# Scope creep


def grown(number, quality, lines, files=1):
    written = tuple(FileDiff(f"claims/{n}.md", added=lines // files, patch="") for n in range(files))
    return make_scored_iteration(number, quality, diff=Diff(written))


def test_scope_creep_is_named_with_the_growth_in_lines():  # row 91
    assert causes(grown(1, 0.9, 40), grown(2, 0.8, 120)) == [
        DegradationSign(Cause.SCOPE_CREEP, "the diff grew from 40 to 120 lines since iteration 1")
    ]


def test_scope_creep_is_named_with_the_growth_in_files():  # row 91
    assert causes(grown(1, 0.9, 40, 1), grown(2, 0.8, 42, 3)) == [
        DegradationSign(Cause.SCOPE_CREEP, "the diff grew from 1 to 3 files since iteration 1")
    ]


@pytest.mark.parametrize(
    "history",
    [
        (grown(1, 0.9, 40), grown(2, 0.8, 70)),  # not twice
        (grown(1, 0.9, 5), grown(2, 0.8, 15)),  # three times, but only ten lines
        (grown(1, 0.9, 40), grown(2, 0.95, 120), grown(3, 0.8, 120)),  # grew before, not now
        (grown(1, 0.8, 40), grown(2, 0.9, 120)),  # grew, and got better
        (make_scored_iteration(1, 0.9), grown(2, 0.8, 120)),  # nobody knows how large it was
        (grown(1, 0.9, 40), make_scored_iteration(2, 0.8)),
    ],
)
def test_scope_creep_is_silent_without_growth_of_its_own(history):  # row 91
    assert causes(*history) == []


# Information loss


def written(number, quality, *lines, path="claims/a.md"):
    patch = f"@@ -0,0 +1,{len(lines)} @@\n" + "\n".join(f"+{line}" for line in lines)
    return make_scored_iteration(number, quality, diff=Diff((FileDiff(path, added=len(lines), patch=patch),)))


TEN = tuple(f"finding {n}" for n in range(10))


def test_information_loss_is_named_with_the_lines_that_are_gone():  # row 93
    assert causes(written(1, 0.9, *TEN), written(2, 0.8, *TEN[:3], "summary")) == [
        DegradationSign(Cause.INFORMATION_LOSS, "7 of the 10 lines added before are gone")
    ]


@pytest.mark.parametrize(
    "history",
    [
        (written(1, 0.9, *TEN), written(2, 0.8, *TEN[:7])),  # less than half
        (written(1, 0.9, *TEN[:6]), written(2, 0.8, *TEN[:2])),  # four lines
        (written(1, 0.9, *TEN), written(2, 0.8, *(f"better {n}" for n in range(10)))),  # written anew
        (written(1, 0.9, *TEN), written(2, 0.8, *TEN, path="claims/b.md")),  # moved
        (
            written(1, 0.9, *TEN),
            make_scored_iteration(2, 0.8, diff=Diff((FileDiff("claims/a.md"),))),
        ),  # no patch shown
        (written(1, 0.7, *TEN), written(2, 0.8, *TEN[:2])),  # shorter, and better
        (written(1, 0.9, *TEN), written(2, 0.8, *reversed(TEN))),  # another order
    ],
)
def test_information_loss_is_silent_where_the_lines_are_not_lost(history):  # row 93
    assert causes(*history) == []


# Style drift


def styled(written_so, *items):
    iteration = make_iteration(written_so.number, "a", items)
    return replace(written_so, iteration=iteration)


BETTER = tuple(f"better {n}" for n in range(10))
STYLE, CONSISTENCY = make_document_item("style", "minor"), make_document_item("consistency", "minor")


def test_style_drift_is_named_with_the_lines_written_anew_and_the_items_that_rose():  # row 92
    before = styled(written(1, 0.9, *TEN), make_document_item("correctness", "major"))
    after = styled(written(2, 0.8, *TEN[:3], *BETTER[:7]), STYLE, CONSISTENCY)
    rose = "open items about style and consistency rose from 0 to 2"
    assert causes(before, after) == [
        DegradationSign(Cause.STYLE_DRIFT, f"7 of the 10 lines added before were rewritten, and {rose}")
    ]


@pytest.mark.parametrize(
    ("after", "items"),
    [
        (
            written(2, 0.8, *TEN),
            (make_item("near_duplicate"),),
        ),  # a duplicate was seen, nothing was rewritten
        (written(2, 0.8, *TEN, *BETTER), (STYLE,)),  # only added to
        (written(2, 0.8, *TEN[:6], *BETTER[:4]), (STYLE,)),  # less than half
        (make_scored_iteration(2, 0.8), (STYLE,)),  # nobody knows what was written
        (
            written(2, 0.8, *BETTER),
            (make_document_item("correctness", "major"),),
        ),  # written anew, in the same style
    ],
)
def test_style_drift_is_silent_where_the_diff_does_not_show_it(after, items):  # row 92
    assert causes(written(1, 0.9, *TEN), styled(after, *items)) == []


def test_style_drift_is_silent_where_such_items_do_not_rise():  # row 92
    before = styled(written(1, 0.9, *TEN), STYLE)
    after = styled(
        written(2, 0.8, *BETTER),
        STYLE,
        make_document_item("correctness", "major"),
        make_document_item("security", "major"),
    )
    assert causes(before, after) == []


# In words


def test_the_note_names_triggers_causes_and_what_to_do():  # row 97 # row 98
    found = seen(
        make_scored_iteration(1, 0.9, checks=make_checks(5), diff=make_diff(lines=30)),
        make_scored_iteration(2, 0.6, checks=make_checks(4, 1), diff=make_diff(lines=90)),
    )
    assert render_degradation(found) == (
        "Iteration 2 degraded: quality -0.30, more checks failed than before. "
        "Scope creep: the diff grew from 30 to 90 lines since iteration 1; "
        "keep to what the pull request is for."
    )


def test_after_the_third_iteration_the_note_advises_to_stop():  # row 61 # row 90 # row 98
    assert render_degradation(fell(0.7, 0.8, 0.9, 0.8)) == (
        "Iteration 4 degraded: quality -0.10. "
        "Quality often peaks at iteration 2 or 3: consider stopping at the best one."
    )


def test_two_small_drops_are_said_to_be_two():
    assert render_degradation(fell(0.9, 0.89, 0.88)).startswith(
        "Iteration 3 degraded: it fell twice in a row."
    )


def test_a_drop_that_is_not_flagged_has_no_note():
    assert render_degradation(fell(0.9, 0.88)) == ""
