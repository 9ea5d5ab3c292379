"""What does the selection report say on close?"""

from dataclasses import replace

from bot.iterations.selection import selection_report_markdown
from bot.pull_request.effects import AnnouncementKind
from bot.pull_request.facts import Facts
from tests.builders import ME, RULES, apply_posted_comment, make_pull_request
from tests.turn.turn_builders import (
    announcements_of,
    close_pull_request,
    decide,
    decide_and_post,
    make_page_diff,
    make_revised_pull_request,
    make_revision,
    make_revision_review,
    make_three_iterations,
)


def test_on_close_the_report_is_folded_into_the_comment():  # row 67 # row 72 # row 89
    decision = decide(close_pull_request(make_three_iterations("date_errors"), merged=True), Facts(ME))
    (effect,) = decision.effects
    folded = effect.body.split("<details>")[1]
    assert folded.startswith(
        "<summary>Quality 0.69 → 0.96 → 0.69: iteration 2 scored higher than the last one</summary>\n\n"
        "## Output Selection Report\n\n**Loop ID**: acme/knowledge#212\n**Total Iterations**: 3\n"
        "**Selected Iteration**: 2\n\n### Quality Scores\n"
    )
    assert (effect.anew, "| 2 | 96% | ✓ SELECTED |" in folded, "| 3 | 69% | (final) |" in folded) == (
        False,
        True,
        True,
    )


def test_one_iteration_has_no_report():
    known = close_pull_request(
        decide_and_post(make_revised_pull_request(make_revision(1)), make_revision_review(1, "date_errors"))
    )
    (effect,) = decide(known, Facts(ME)).effects
    assert "Output Selection Report" not in effect.body


def test_a_best_that_was_left_unmerged_is_reported_in_a_comment_of_its_own_once():  # row 70 # row 71
    decision = decide(close_pull_request(make_three_iterations("date_errors")), Facts(ME))
    (announced,) = announcements_of(decision)
    assert (announced.kind, "**Selected Iteration**: 2" in announced.body) == (
        AnnouncementKind.SELECTION,
        True,
    )
    assert announcements_of(decide(decision.pull_request, Facts(ME))) == []


def test_a_merge_and_a_best_end_are_reported_in_the_fold_only():
    assert (
        announcements_of(
            decide(close_pull_request(make_three_iterations("date_errors"), merged=True), Facts(ME))
        )
        == []
    )
    assert announcements_of(decide(close_pull_request(make_three_iterations()), Facts(ME))) == []


def test_reopened_the_fold_shows_the_way_again():
    known = apply_posted_comment(decide(close_pull_request(make_three_iterations("date_errors")), Facts(ME)))
    (effect,) = decide(replace(known, open=True, closed_at=None), Facts(ME)).effects
    assert "<summary>Progress: " in effect.body
    assert "Output Selection Report" not in effect.body


def test_the_report_says_which_revision_github_no_longer_has():
    known = make_revised_pull_request(
        make_revision(1, files=(make_page_diff("one"),), gone=True), make_revision(2)
    )
    report = selection_report_markdown(
        decide_and_post(known, make_revision_review(1, "date_errors"), make_revision_review(2)), RULES
    )
    assert "iteration 1 `1111111` is gone from GitHub, its hashes are kept" in report


def test_nothing_judged_has_no_report():
    assert selection_report_markdown(make_pull_request(), RULES) is None
