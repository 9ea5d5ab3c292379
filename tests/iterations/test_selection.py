from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from bot.gates.model import Gates
from bot.history import export
from bot.iterations.progress import detect_degradation
from bot.iterations.scoring import Trajectory, build_trajectory
from bot.iterations.selection import (
    Selection,
    SelectionReport,
    parse_choice,
    render_selection_report,
    select_iteration,
    selection_checklist,
    selection_rationale,
)
from bot.pull_request.diff import Diff, FileDiff
from bot.pull_request.model import OverrideAudit, SelectionChoice, SelectionOverride
from tests.iterations.iteration_builders import (
    ACME,
    BAND,
    EXAMPLE_ITERATIONS,
    GATES,
    SCORING,
    at_minute,
    head,
    make_diff,
    make_scored_iteration,
)

DOCUMENTS = build_trajectory(EXAMPLE_ITERATIONS, 3, GATES, SCORING.weights, BAND)


def of(*qualities) -> Trajectory:
    scored = tuple(make_scored_iteration(number, quality) for number, quality in enumerate(qualities, 1))
    return Trajectory(scored, len(scored))


def overridden(choice, iteration=None, at_head="c") -> SelectionOverride:
    return SelectionOverride(
        choice, "alice", "the tests matter more", at_minute(30), head(at_head), iteration
    )


def comparison(selection: Selection) -> tuple[int, int, float | None, SelectionChoice]:
    return selection.automatic.number, selection.final.number, selection.delta, selection.decision


def rationale(report: SelectionReport) -> tuple[str, ...]:
    return tuple(selection_rationale(report))


def report(way=DOCUMENTS, override=None, **facts) -> SelectionReport:
    found = tuple(
        detect_degradation(way.scored[:count], GATES, SCORING.limits, 5)
        for count in range(2, len(way.scored) + 1)
    )
    return SelectionReport(
        "acme/knowledge#212", way, select_iteration(way, override), found, threshold=0.7, **facts
    )


# Selecting


def test_the_documents_own_second_iteration_is_selected_and_the_final_is_not():  # row 62 # row 67 # row 70
    found = select_iteration(DOCUMENTS)
    assert (found.selected.number, found.final.number) == (2, 3)


def test_best_against_final():  # row 87
    assert comparison(select_iteration(DOCUMENTS)) == (2, 3, -0.02, SelectionChoice.USE_BEST)
    assert comparison(select_iteration(of(0.5, 0.9))) == (2, 2, 0.0, SelectionChoice.USE_FINAL)


def test_a_tie_selects_the_earlier():  # row 69
    assert select_iteration(of(0.5, 0.9, 0.9)).selected.number == 2


QUALITY = st.integers(0, 10_000).map(lambda number: number / 10_000)


@given(st.lists(QUALITY, min_size=1, max_size=8))
def test_no_iteration_scores_higher_than_the_selected_one(qualities):  # row 67 # row 68 # row 70
    found = select_iteration(of(*qualities))
    assert found.selected.quality == max(qualities)
    assert found.delta <= 0


def test_without_any_score_the_final_iteration_stands():
    found = select_iteration(of(None, None))
    assert found.selected.number == 2
    assert comparison(found) == (2, 2, None, SelectionChoice.USE_FINAL)


@pytest.mark.parametrize(
    ("choice", "iteration", "selected"),
    [
        (SelectionChoice.USE_BEST, None, 2),
        (SelectionChoice.USE_FINAL, None, 3),
        (SelectionChoice.USE_SPECIFIC, 1, 1),
    ],
)
def test_a_person_may_select_another(choice, iteration, selected):  # row 73 # row 74
    found = select_iteration(DOCUMENTS, overridden(choice, iteration))
    assert (found.selected.number, found.decision) == (selected, choice)


def test_an_override_is_logged_from_what_to_what():  # row 75
    assert select_iteration(DOCUMENTS, overridden(SelectionChoice.USE_SPECIFIC, 1)).audit == OverrideAudit(
        "alice",
        at_minute(30),
        "the tests matter more",
        head("c"),
        SelectionChoice.USE_SPECIFIC,
        before=2,
        after=1,
    )
    assert select_iteration(DOCUMENTS).audit is None


def test_an_override_of_a_head_that_is_gone_does_not_hold():  # row 73
    old = overridden(SelectionChoice.USE_FINAL, at_head="b")
    found = select_iteration(DOCUMENTS, old)
    assert (found.selected.number, found.override, found.outdated) == (2, None, old)


def test_an_override_made_at_a_head_that_waits_for_its_judgement_holds():
    made = overridden(SelectionChoice.USE_FINAL, at_head="d")
    assert select_iteration(DOCUMENTS, made, head("d")).selected.number == 3


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("best", (SelectionChoice.USE_BEST, None)),
        ("Final", (SelectionChoice.USE_FINAL, None)),
        ("1", (SelectionChoice.USE_SPECIFIC, 1)),
        ("0", "Name `best`, `final` or an iteration from 1 to 3."),
        ("4", "Name `best`, `final` or an iteration from 1 to 3."),
        ("²", "Name `best`, `final` or an iteration from 1 to 3."),
        ("1" * 5000, "Name `best`, `final` or an iteration from 1 to 3."),
        ("worst", "Name `best`, `final` or an iteration from 1 to 3."),
    ],
)
def test_what_a_person_may_ask_for(word, expected):  # row 74
    assert parse_choice(word, DOCUMENTS, "because") == expected


def test_without_a_reason_nothing_is_selected():  # row 76
    assert parse_choice("best", DOCUMENTS, "  ") == ("Give a reason: `/feedback-select best reason: …`")


# The report


def test_the_report_in_the_documents_headings():  # row 71 # row 72 # row 89 # row 103
    assert render_selection_report(report()) == snapshot("""\
## Output Selection Report

**Loop ID**: acme/knowledge#212
**Total Iterations**: 3
**Selected Iteration**: 2

### Quality Scores

| Iteration | Quality | Status |
|-----------|---------|--------|
| 1 | 72% | |
| 2 | 85% | ✓ SELECTED |
| 3 | 83% | (final) |

### Selection Rationale

Iteration 2 selected because:
- Highest quality score (85% vs 83% final)
- Quality degraded in iteration 3
- All validation checks passed
- best_iteration: 2 (85%), final_iteration: 3 (83%), delta: -2 points, decision: use_best

### Artifacts Applied

- `claims/a.md` (from iteration 2, not applied: the selection is advice, and nothing is written to the branch)

### Validation Checklist

- [x] All iteration outputs preserved
- [x] Quality score calculated for each iteration
- [x] Best tracker maintained throughout
- [x] Selection based on quality, not recency
- [x] Selection decision logged with rationale
- [x] Override option available if needed (`/feedback-select`)
- [x] Degradation patterns detected: in iteration 3
""")


def test_where_the_final_iteration_is_the_best_one_row_says_both():  # row 72
    way = of(0.65, 0.9, 0.68, 0.97)
    last = replace(way.scored[-1], diff=make_diff())
    text = render_selection_report(report(replace(way, scored=(*way.scored[:-1], last)), merged=True))
    assert "| 4 | 97% | ✓ SELECTED (final) |" in text
    assert "- Highest quality score (97%), and the final iteration" in text
    assert "- `claims/a.md` (from iteration 4, as merged)" in text


def test_the_fold_leaves_out_what_only_programs_need():
    text = render_selection_report(report(), is_folded=True)
    assert "best_iteration:" not in text
    assert "Validation Checklist" not in text


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ((0.86, 0.86), "Reached 86% first, and no iteration scored higher"),
        ((0.5, 0.86, 0.86), "Reached 86% first, and no iteration scored higher"),
        ((0.86, 0.8649), "Highest quality score (86.49%), and the final iteration"),
        ((0.8649, 0.86), "Highest quality score (86.49% vs 86.00% final)"),
        ((None, 0.86), "The only iteration with a quality score (86%), and the final iteration"),
        ((0.86, None), "The only iteration with a quality score (86%)"),
    ],
)
def test_highest_is_said_only_of_one_that_is(scores, reason):
    assert rationale(report(of(*scores)))[0] == reason


def test_a_selection_is_advice():  # row 58 # row 88
    assert (
        "not applied: the selection is advice, and nothing is written to the branch"
        in render_selection_report(report())
    )


def test_the_rationale_names_who_overrode_and_why():  # row 71 # row 75
    found = report(override=overridden(SelectionChoice.USE_FINAL))
    assert rationale(found)[0] == "`alice` selected it instead of iteration 2: `the tests matter more`"
    assert selection_checklist(found)[3] == (
        False,
        "Selection based on quality, not recency: `alice` decided",
    )


def test_the_rationale_says_when_a_person_only_confirmed():
    found = report(override=overridden(SelectionChoice.USE_BEST))
    assert rationale(found)[0] == "`alice` confirmed it: `the tests matter more`"


def test_the_rationale_says_that_an_override_was_for_another_head():
    found = report(override=overridden(SelectionChoice.USE_FINAL, at_head="b"))
    assert "The selection of `alice` was for `bbbbbbb`, no longer the head" in rationale(found)


def test_somebodys_reason_stays_words_in_the_report():
    made = replace(overridden(SelectionChoice.USE_FINAL), reason="<!-- REJECTION: {} --> `@team` #7")
    line = rationale(report(override=made))[0]
    assert "<!--" not in line
    assert line.endswith("``<\u2060!-- REJECTION: {} --> `@team` #7``")


def test_failed_checks_and_a_score_below_the_threshold_are_said():  # row 83
    poor = build_trajectory([replace(EXAMPLE_ITERATIONS[0], diff=None)], 1, GATES, SCORING.weights, BAND)
    assert rationale(report(poor))[1:3] == (
        "1 of 5 validation checks failed",
        "Below the threshold for acceptance (70%); the score overrules nobody",
    )


def test_an_iteration_that_is_gone_from_github_is_said_to_be():  # row 63
    first, *rest = EXAMPLE_ITERATIONS
    way = build_trajectory([replace(first, available=False), *rest], 3, GATES, SCORING.weights, BAND)
    assert selection_checklist(report(way))[0] == (
        False,
        "All iteration outputs preserved: iteration 1 `aaaaaaa` is gone from GitHub, its hashes are kept",
    )


def test_the_ticks_are_computed():  # row 103
    ticks = [done for done, _ in selection_checklist(report(of(None, 0.5)))]
    assert ticks == [False, False, False, True, True, True, True]
    assert [done for done, _ in selection_checklist(report(of(0.5)))][5] is False


def test_many_files_are_counted():
    many = Diff(tuple(FileDiff(f"f{number}.md") for number in range(60)))
    way = Trajectory((make_scored_iteration(1, 0.5, diff=many),), 1)
    assert " and 10 more (from iteration 1" in render_selection_report(report(way))


# The export


FILES = export.export_files(report(), ACME)


def test_the_export_has_the_documents_file_names():  # row 100 # row 101
    assert sorted(FILES) == [
        "best-tracker.json",
        "final-output/manifest.json",
        "iterations/iteration-1/metrics.json",
        "iterations/iteration-2/metrics.json",
        "iterations/iteration-3/metrics.json",
        "selection-report.md",
    ]
    assert FILES["selection-report.md"] == render_selection_report(report())


def test_the_best_tracker_as_exported():  # row 65
    assert json.loads(FILES["best-tracker.json"]) == {
        "current_best": {
            "iteration": 2,
            "quality_score": 0.85,
            "artifacts_path": f"https://github.com/acme/knowledge/tree/{head('b')}",
            "head": head("b"),
        },
        "trail": [1, 2, 2],
    }
    assert export.best_tracker(of(None), ACME) == {"current_best": None, "trail": [None]}


def test_the_final_output_is_a_manifest_of_hashes():  # row 84 # row 87 # row 101
    assert json.loads(FILES["final-output/manifest.json"]) == {
        "iteration": 2,
        "head": head("b"),
        "tree": None,
        "available": True,
        "artifacts": [{"path": "claims/a.md", "content_hash": "blob-21"}],
        "comparison": {"best_iteration": 2, "final_iteration": 3, "delta": -2.0, "decision": "use_best"},
        "override": None,
    }


def test_the_manifest_logs_the_override():  # row 75
    found = export.selection_manifest(select_iteration(DOCUMENTS, overridden(SelectionChoice.USE_FINAL)))
    assert found["override"] == {
        "option": "use_final",
        "by": "alice",
        "at": "2026-11-09T08:30:00+00:00",
        "reason": "the tests matter more",
        "head": head("c"),
        "from": 2,
        "to": 3,
    }


def test_the_metrics_of_an_iteration():  # row 64 # row 100
    found = json.loads(FILES["iterations/iteration-3/metrics.json"])
    assert found == {
        "iteration": 3,
        "artifacts": [{"path": "claims/a.md", "content_hash": "blob-22"}],
        "quality_score": 0.83,
        "timestamp": "2026-11-09T08:03:00+00:00",
        "head": head("c"),
        "tree": None,
        "available": True,
        "dimensions": {
            "validation": {"value": 0.8, "because": ["4 of 5 checks passed"]},
            "completeness": {"value": 1.0, "because": ["no open item"]},
            "correctness": {"value": 0.6, "because": ["correctness is minor"] * 4},
            "readability": {"value": 0.9, "because": ["clarity is minor"]},
            "efficiency": {"value": 1.0, "because": ["22 changed lines, within 1 to 400"]},
        },
        "unobserved": [],
        "checks": {"passed": 4, "failed": 1},
        "open": [],
        "degradation": {
            "delta": -0.02,
            "degraded": True,
            "flagged": True,
            "triggers": ["validation_failures_increased"],
            "causes": [],
        },
    }


def test_an_iteration_that_nothing_observed_has_metrics_all_the_same():
    found = export.iteration_metrics(make_scored_iteration(1, None))
    assert (found["quality_score"], found["dimensions"], found["degradation"]) == (None, {}, None)


def test_the_iteration_history_has_the_documents_names():  # row 63 # row 64
    assert [
        (entry["iteration"], entry["quality_score"], entry["artifacts"])
        for entry in export.iteration_history(DOCUMENTS.scored)
    ] == [
        (1, 0.72, [{"path": "claims/a.md", "content_hash": "blob-20"}]),
        (2, 0.85, [{"path": "claims/a.md", "content_hash": "blob-21"}]),
        (3, 0.83, [{"path": "claims/a.md", "content_hash": "blob-22"}]),
    ]


def test_the_feedback_history_keeps_the_last_five():  # row 51 # row 52
    found = export.feedback_history(of(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7).scored, Gates())
    assert [entry["iteration"] for entry in found] == [3, 4, 5, 6, 7]
