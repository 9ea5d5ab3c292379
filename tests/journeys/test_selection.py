"""From closing or a command to the selection report, and what is exported of it."""

import asyncio
import json
from pathlib import Path

from tests import forks
from tests.journeys.review_rounds import (
    APPROVE,
    REJECT,
    progress_summary,
    push,
    review_and_wait,
    sticky_comment,
)
from tests.journeys.submitted_documents import PAGE, make_document


def checks(harness, pull, passed: int, failed: int = 0):
    for number in range(passed):
        harness.github.check(pull, f"good-{number}", "success")
    for number in range(failed):
        harness.github.check(pull, f"bad-{number}", "failure")


def minor_items(aspect: str, *tags: str) -> list[dict]:
    """Items of a validator's own document that do not block, so that the score is not capped."""
    return [
        {
            "tag": tag,
            "aspect": aspect,
            "severity": "minor",
            "issue": f"The page lacks what its reader needs: {tag} in {aspect}",
            "location": {"type": "line", "reference": f"{PAGE}:1"},
            "suggestion": {
                "action": "Rewrite line 1 so that it names its source",
                "rationale": "A reader has to be able to check every sentence",
                "priority": 3,
            },
        }
        for tag in tags
    ]


FIRST_FAULTS = ("date_errors", "factual_discrepancy", "title_overclaims", "scope_error")
OTHER_FAULTS = ("near_duplicate", "broken_wiki_links", "frontmatter_schema", "confidence_miscalibration")
GAPS = ("body_too_thin", "opsec_internal_deal_terms", "weak_evidence", "tests_missing")


async def reject_with(harness, pull, *items):
    """A review that carries an actionable-feedback document of its own."""
    harness.advance_clock()
    whole = make_document(feedback_items=list(items))
    harness.github.submit_review(pull, "alice", REJECT, f"```json\n{json.dumps(whole)}\n```")
    await harness.wait_until_idle()


async def the_documents_own(harness, pull):
    """72 %, 85 %, 83 %: rejections without a blocking issue, and five checks."""
    checks(harness, pull, 4, 1)
    await reject_with(
        harness,
        pull,
        *minor_items("correctness", *FIRST_FAULTS),
        *minor_items("completeness", *GAPS),
        *minor_items("clarity", "naming_unclear", "error_handling_missing"),
    )
    push(harness, pull, "# Second\n\nIt holds.\n")
    checks(harness, pull, 5)
    await reject_with(
        harness, pull, *minor_items("correctness", *FIRST_FAULTS), *minor_items("completeness", *GAPS[:2])
    )
    push(harness, pull, "# Third\n\nIt holds.\n")
    checks(harness, pull, 4, 1)
    await reject_with(
        harness, pull, *minor_items("correctness", *OTHER_FAULTS), *minor_items("clarity", "naming_unclear")
    )


EXPORTED = (
    "best-tracker.json",
    "final-output/manifest.json",
    "iterations/iteration-1/metrics.json",
    "iterations/iteration-2/metrics.json",
    "iterations/iteration-3/metrics.json",
    "selection-report.md",
)


async def exported(harness, pull, directory) -> tuple[int, str]:
    """What `whetstone export` says beside the running server."""
    command = [*forks.python(), "-m", "bot", "export", "acme/knowledge", str(pull.number), str(directory)]
    environment = {"DATABASE_URL": harness.database_url, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, cwd=directory, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return process.returncode, said.decode()


async def test_the_documents_own_trajectory_selects_the_second_of_three(journey, pull, tmp_path):
    await the_documents_own(journey, pull)  # row 62
    assert progress_summary(journey, pull) == "Progress: 0 → 0 → 0 blocking"
    journey.advance_clock()
    journey.github.close(pull)
    await journey.wait_until_idle()
    assert progress_summary(journey, pull) == (
        "Quality 0.72 → 0.85 → 0.83: iteration 2 scored higher than the last one"
    )
    (own,) = [body for body in journey.comments(pull) if not body.startswith("<!-- REJECTION: ")]
    report = own.partition("\n\n")[2]
    figures = "- best_iteration: 2 (85%), final_iteration: 3 (83%), delta: -2 points, decision: use_best\n"
    folded, _, _ = report.replace(figures, "").partition("\n### Validation Checklist\n")
    assert f"\n\n{folded}\n</details>" in sticky_comment(journey, pull)  # row 72
    assert own.startswith("<!-- SELECTION-REPORT: ")
    assert report.startswith(  # row 60 # row 67 # row 70 # row 87
        "## Output Selection Report\n\n**Loop ID**: acme/knowledge#1\n**Total Iterations**: 3\n"
        "**Selected Iteration**: 2\n\n### Quality Scores\n\n"
        "| Iteration | Quality | Status |\n|-----------|---------|--------|\n"
        "| 1 | 72% | |\n| 2 | 85% | ✓ SELECTED |\n| 3 | 83% | (final) |\n\n"
        "### Selection Rationale\n\nIteration 2 selected because:\n"
        "- Highest quality score (85% vs 83% final)\n- Quality degraded in iteration 3\n"
        f"- All validation checks passed\n{figures}\n"
        "### Artifacts Applied\n\n"
    )
    assert report.count("- [x] ") == 7  # row 103
    code, said = await exported(journey, pull, tmp_path)
    assert (code, said.splitlines()) == (0, [f"{tmp_path}/{name}" for name in EXPORTED])
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in EXPORTED} == {0o600}
    assert (tmp_path / "selection-report.md").read_text("utf-8") == report  # row 101
    metrics = json.loads((tmp_path / "iterations/iteration-2/metrics.json").read_text("utf-8"))
    assert (metrics["quality_score"], metrics["checks"]) == (0.85, {"passed": 5, "failed": 0})  # row 100
    assert metrics["artifacts"] == [{"path": PAGE, "content_hash": metrics["artifacts"][0]["content_hash"]}]
    assert metrics["quality_tracking"] == {  # row 21 # row 22 # row 23 # row 24
        "feedback_followed": True,
        "improvement_observed": False,
        "improvement_delta": -0.02,
        "feedback_clarity_score": metrics["quality_tracking"]["feedback_clarity_score"],
    }
    tracker = json.loads((tmp_path / "best-tracker.json").read_text("utf-8"))
    assert (tracker["current_best"]["iteration"], tracker["trail"]) == (2, [1, 2, 2])  # row 65


async def test_a_revision_that_is_gone_from_github_is_named_in_the_report(journey, knowledge, pull):
    first = pull.head_sha
    await review_and_wait(journey, pull, "date_errors")
    fresh = knowledge.objects.commit(
        {PAGE: "# New\n"}, parents=(pull.base_sha,), message="m", login="rio-agent[bot]", at=journey.clock()
    )
    journey.advance_clock()
    journey.github.force_push(pull, fresh.sha)
    del knowledge.objects.commits[first]
    await review_and_wait(journey, pull, "date_errors", "title_overclaims", "scope_error")
    assert progress_summary(journey, pull) == "Progress: 1 → 3 blocking"  # and no iteration to restore
    journey.advance_clock()
    journey.github.close(pull)
    await journey.wait_until_idle()
    assert "- the files are not known" in sticky_comment(journey, pull)
    report = journey.comments(pull)[-1]
    assert f"All iteration outputs preserved: the files of iteration 1 `{first[:7]}` are not known" in report


async def test_a_maintainer_selects_and_the_report_follows(journey, pull):
    await review_and_wait(journey, pull, "date_errors")
    push(journey, pull, "# Second\n")
    await review_and_wait(journey, pull, "date_errors", "title_overclaims")
    journey.advance_clock()
    journey.github.comment(pull, "bob", "/feedback-select final reason: the first misses the point")
    await journey.wait_until_idle()
    reply = journey.comments(pull)[-1]
    said = f"`bob` selects iteration 2 instead of 1, at `{pull.head_sha[:7]}`: `the first misses the point`"
    assert reply.startswith(f"{said}\n\n## Output Selection Report\n")  # row 73 # row 75
    journey.advance_clock()
    journey.github.comment(pull, "carol", "/feedback-select best reason: I read only")
    journey.github.comment(pull, "bob", "/feedback-select best")
    await journey.wait_until_idle()
    assert "a reason is missing" in journey.comments(pull)[-1]  # row 76
    journey.advance_clock()
    journey.github.close(pull)
    await journey.wait_until_idle()
    assert "**Selected Iteration**: 2" in sticky_comment(journey, pull)
    assert not any(body.startswith("<!-- SELECTION-REPORT") for body in journey.comments(pull))


async def test_a_selection_after_the_close_is_shown_in_the_reports_own_comment_too(journey, pull):
    await the_documents_own(journey, pull)
    journey.advance_clock()
    journey.github.close(pull)
    await journey.wait_until_idle()
    assert "**Selected Iteration**: 2" in own_report(journey, pull)
    for choice, selected in (("final", 3), ("best", 2)):
        journey.advance_clock()
        journey.github.comment(pull, "bob", f"/feedback-select {choice} reason: I read both of them")
        await journey.wait_until_idle()
        for shown in (own_report(journey, pull), sticky_comment(journey, pull)):
            assert f"**Selected Iteration**: {selected}" in shown
            assert "`I read both of them`" in shown


def own_report(journey, pull) -> str:
    """The one comment of its own that the report has."""
    (own,) = [body for body in journey.comments(pull) if body.startswith("<!-- SELECTION-REPORT")]
    return own


async def test_what_was_merged_after_one_iteration_has_no_report(journey, pull):
    await review_and_wait(journey, pull, "date_errors")
    journey.advance_clock()
    journey.github.merge(pull, by="bob")
    await journey.wait_until_idle()
    assert [body for body in journey.comments(pull) if "Output Selection Report" in body] == []


async def test_what_was_merged_before_it_could_be_read_is_read_all_the_same(journey, pull):
    await review_and_wait(journey, pull, "date_errors")
    push(journey, pull, "# Second\n\nIt holds.\n")
    journey.advance_clock()
    journey.github.hold()
    journey.github.submit_review(pull, "alice", APPROVE)
    journey.advance_clock()
    journey.github.merge(pull, by="bob")
    journey.github.release()
    await journey.wait_until_idle()
    report = sticky_comment(journey, pull)
    assert f"- `{PAGE}` (from iteration 2, as merged)" in report
