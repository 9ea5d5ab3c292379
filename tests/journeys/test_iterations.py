"""From webhooks to the quality of every iteration, the way back and the selection report."""

import asyncio
import json
import sys
from pathlib import Path

from bot.standin import Inline

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
PAGE = "claims/first.md"
GITHUB = "https://redirect.github.com/acme/knowledge"


def issues(*tags: str) -> str:
    return f"<!-- ISSUES: {', '.join(tags)} -->"


async def judge(town, pull, *tags, by="alice"):
    """A review of the present head, and all that follows from it."""
    town.later()
    town.github.submit_review(pull, by, REJECT if tags else APPROVE, issues(*tags) if tags else "")
    await town.settled()


def push(town, pull, text, path=PAGE) -> str:
    town.later()
    return town.github.push(pull, {path: text}).sha


def checks(town, pull, passed: int, failed: int = 0):
    for number in range(passed):
        town.github.check(pull, f"good-{number}", "success")
    for number in range(failed):
        town.github.check(pull, f"bad-{number}", "failure")


def fold(body: str) -> str:
    return next((part for part in body.split("<details>") if part.startswith("<summary>Quality")), "")


def sticky(town, pull) -> str:
    """The one comment with the marker."""
    return next(body for body in town.comments(pull) if body.startswith("<!-- REJECTION: "))


def summary(town, pull) -> str:
    """The result that the comment's fold tells in its one line."""
    return fold(sticky(town, pull)).partition("</summary>")[0].removeprefix("<summary>")


def document(body: str) -> dict:
    return json.loads(body.partition("```json\n")[2].partition("\n```")[0])


def reads(town, since: int) -> list[str]:
    """Which lists were read: `pulls`, `compare`, `commits`."""
    found = [each.path.split("/") for each in town.github.requests[since:] if each.method == "GET"]
    return [path[4] for path in found if len(path) > 4 and path[4] in {"pulls", "compare", "commits"}]


async def test_from_the_second_iteration_on_the_comment_shows_what_became_of_the_quality(journey, pull):
    first = pull.head_sha
    await judge(journey, pull, "date_errors")
    assert fold(journey.comments(pull)[-1]) == ""  # row 59
    push(journey, pull, "# Worse\n")
    await judge(journey, pull, "date_errors", "title_overclaims", "factual_discrepancy")
    body = journey.comments(pull)[-1]
    was, now = (f"[`{sha[:7]}`]({GITHUB}/commit/{sha})" for sha in (first, pull.head_sha))
    assert (
        fold(body)
        == (
            "<summary>Quality 0.86 → 0.64: iteration 1 was the best. How to go back to it</summary>\n\n"
            "| Iteration | Quality | Open | What decided |\n|---|---|---|---|\n"
            f"| 1 {was} | **0.86** | 1 blocking | correctness 0.60 |\n"
            f"| 2 {now} | 0.64 | 3 blocking | correctness 0.00 |\n\n"
            "Not observed, so left out: validation everywhere.\n\n"  # row 82
            f"[What changed from 1 to 2]({GITHUB}/compare/{first[:7]}..{pull.head_sha[:7]}). "
            "To take over the files of iteration 1 on your branch, without rewriting history:\n\n"
            f"```sh\ngit fetch origin {first}\n"
            f"git restore --source=FETCH_HEAD --staged --worktree -- {PAGE}\n```\n\n</details>\n\n"
        )
    )
    assert (
        "**Next**: fix the 3 blocking issues in this order. "
        "Shorter: go back to iteration 1 (below), where only the first of them was open."
    ) in body.splitlines()
    assert document(body)["overall_assessment"]["score"] == 0.64  # row 17
    assert journey.markers(pull)[0]["best"] == {"iteration": 1, "head": first}


async def test_each_judged_head_is_read_once_from_the_second_iteration_on(journey, pull):
    before = len(journey.github.requests)
    await judge(journey, pull, "date_errors")
    assert {"compare", "commits"} & set(reads(journey, before)) == set()
    push(journey, pull, "# Second\n")
    before = len(journey.github.requests)
    await judge(journey, pull, "date_errors")
    assert reads(journey, before) == ["pulls", "pulls", *["compare", "commits", "commits"] * 2]
    push(journey, pull, "# Third\n")
    before = len(journey.github.requests)
    await judge(journey, pull, "scope_error")
    assert reads(journey, before) == ["pulls", "pulls", "compare", "commits", "commits"]


def said(aspect: str, severity: str, number: int = 1) -> dict:
    """One item of a validator's own document."""
    return {
        "aspect": aspect,
        "severity": severity,
        "issue": f"The page lacks what its reader needs, case {number} of {aspect}",
        "location": {"type": "line", "reference": f"{PAGE}:{number}"},
        "suggestion": {
            "action": f"Rewrite line {number} so that it names its source",
            "rationale": "A reader has to be able to check every sentence",
            "priority": 3,
        },
    }


async def reject_with(town, pull, *items):
    """A review that carries an actionable-feedback document of its own."""
    town.later()
    whole = {
        "id": "0d9b3f5e-1c7a-4b52-8f0e-6a2d4c9e7b31",
        "timestamp": "2026-11-15T10:00:00Z",
        "iteration": {"number": 1, "max": 5, "phase": "initial"},
        "target": {"type": "document", "path": PAGE},
        "overall_assessment": {
            "score": 0.5,
            "verdict": "refine",
            "summary": "The page can't go in like this: see the items, each with its place and what to do.",
        },
        "feedback_items": list(items),
    }
    town.github.submit_review(pull, "alice", REJECT, f"```json\n{json.dumps(whole)}\n```")
    await town.settled()


async def the_documents_own(town, pull):
    """72 %, 85 %, 83 %: reviews with items of every weight, and five checks."""
    checks(town, pull, 4, 1)
    await reject_with(
        town,
        pull,
        said("correctness", "major"),
        said("completeness", "major"),
        said("clarity", "minor", 1),
        said("clarity", "minor", 2),
    )
    push(town, pull, "# Second\n\nIt holds.\n")
    checks(town, pull, 5)
    await reject_with(
        town,
        pull,
        said("correctness", "major"),
        said("completeness", "minor", 1),
        said("completeness", "minor", 2),
    )
    push(town, pull, "# Third\n\nIt holds.\n")
    checks(town, pull, 4, 1)
    await reject_with(town, pull, said("correctness", "major"), said("clarity", "minor"))


EXPORTED = (
    "best-tracker.json",
    "final-output/manifest.json",
    "iterations/iteration-1/metrics.json",
    "iterations/iteration-2/metrics.json",
    "iterations/iteration-3/metrics.json",
    "selection-report.md",
)


async def exported(town, pull, directory) -> tuple[int, str]:
    """What `whetstone export` says beside the running server."""
    command = [sys.executable, "-m", "bot", "export", "acme/knowledge", str(pull.number), str(directory)]
    environment = {"DATABASE_URL": town.database_url, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, cwd=directory, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return process.returncode, said.decode()


async def test_the_documents_own_trajectory_selects_the_second_of_three(journey, pull, tmp_path):
    await the_documents_own(journey, pull)  # row 62
    assert summary(journey, pull) == (
        "Quality 0.72 → 0.85 → 0.83: iteration 2 was the best. How to go back to it"
    )
    journey.later()
    journey.github.close(pull)
    await journey.settled()
    _, own = journey.comments(pull)
    report = own.partition("\n\n")[2]
    assert report in sticky(journey, pull)  # row 72
    assert own.startswith("<!-- SELECTION-REPORT: ")
    assert report.startswith(  # row 60 # row 67 # row 70 # row 87
        "## Output Selection Report\n\n**Loop ID**: acme/knowledge#1\n**Total Iterations**: 3\n"
        "**Selected Iteration**: 2\n\n### Quality Scores\n\n"
        "| Iteration | Quality | Status |\n|-----------|---------|--------|\n"
        "| 1 | 72% | |\n| 2 | 85% | ✓ SELECTED |\n| 3 | 83% | (final) |\n\n"
        "### Selection Rationale\n\nIteration 2 selected because:\n"
        "- Highest quality score (85% vs 83% final)\n- Quality degraded in iteration 3\n"
        "- All validation checks passed\n"
        "- best_iteration: 2 (85%), final_iteration: 3 (83%), delta: -2 points, decision: use_best\n\n"
        "### Artifacts Applied\n\n"
    )
    assert report.count("- [x] ") == 7  # row 103
    code, said = await exported(journey, pull, tmp_path)
    assert (code, said.splitlines()) == (0, [f"{tmp_path}/{name}" for name in EXPORTED])
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


async def test_checks_that_finish_late_change_the_score_of_what_was_judged(journey, pull):
    await judge(journey, pull, "date_errors")
    push(journey, pull, "# Second\n\nIt holds.\n")
    run = journey.github.start_check_run(pull.repository, pull.head_sha, "build")
    await judge(journey, pull, "date_errors")
    assert summary(journey, pull) == "Quality 0.86 → 0.86: as good as iteration 1, none was better"
    before = len(journey.github.requests)
    journey.github.complete_check_run(run, "failure")
    await journey.settled()
    assert summary(journey, pull) == (  # row 85
        "Quality 0.86 → 0.60: iteration 1 was the best. How to go back to it"
    )
    assert [each.method for each in journey.github.requests[before:]] == ["PATCH"]


async def test_a_force_push_back_keeps_the_number_of_the_iteration(journey, pull):
    first = pull.head_sha
    await judge(journey, pull, "date_errors")
    push(journey, pull, "# Second\n")
    await judge(journey, pull, "date_errors", "title_overclaims")
    journey.later()
    journey.github.force_push(pull, first)
    await judge(journey, pull, "date_errors")
    assert summary(journey, pull) == "Quality 0.86 → 0.71: iteration 1, the present one, is the best"
    (marker,) = journey.markers(pull)
    assert (marker["iteration"], marker["head"]) == (1, first)


async def test_a_rebase_without_change_offers_no_way_back(journey, knowledge, pull):
    await judge(journey, pull, "date_errors")
    onto = knowledge.objects.commit(
        {"other.md": "x\n"}, parents=(pull.base_sha,), message="m", login="bob", at=journey.clock()
    )
    knowledge.branches["main"] = onto.sha
    text = knowledge.objects.content(pull.head_sha, PAGE).decode()
    again = knowledge.objects.commit(
        {PAGE: text}, parents=(onto.sha,), message="m", login="rio-agent[bot]", at=journey.clock()
    )
    journey.later()
    journey.github.force_push(pull, again.sha)
    await judge(journey, pull, "date_errors", "title_overclaims")
    assert summary(journey, pull) == "Quality 0.86 → 0.71: iteration 1 scored higher with the same files"
    assert "git restore" not in journey.comments(pull)[-1]


async def test_a_revision_that_is_gone_from_github_is_named_in_the_report(journey, knowledge, pull):
    first = pull.head_sha
    await judge(journey, pull, "date_errors")
    fresh = knowledge.objects.commit(
        {PAGE: "# New\n"}, parents=(pull.base_sha,), message="m", login="rio-agent[bot]", at=journey.clock()
    )
    journey.later()
    journey.github.force_push(pull, fresh.sha)
    del knowledge.objects.commits[first]
    await judge(journey, pull, "date_errors", "title_overclaims")
    assert summary(journey, pull).endswith("iteration 1 was the best, but GitHub no longer has it")
    journey.later()
    journey.github.close(pull)
    await journey.settled()
    assert f"the files of iteration 1 `{first[:7]}` are not known" in sticky(journey, pull)


async def test_the_third_time_a_person_is_asked_to_decide_once(journey, pull):
    for text in ("# Second\n", "# Third\n", "# Fourth\n"):
        await judge(journey, pull, "date_errors")
        push(journey, pull, text)
    escalations = [body for body in journey.comments(pull) if body.startswith("<!-- ESCALATION: ")]
    assert len(escalations) == 1  # row 56
    assert "**Stop, a person decides** — `date_errors` keeps coming back, " in escalations[0]
    assert journey.markers(pull)[0]["verdict"] == "escalate"
    await judge(journey, pull, "date_errors")
    assert len([body for body in journey.comments(pull) if "ESCALATION" in body]) == 1


async def test_a_maintainer_selects_and_the_report_follows(journey, pull):
    await judge(journey, pull, "date_errors")
    push(journey, pull, "# Second\n")
    await judge(journey, pull, "date_errors", "title_overclaims")
    journey.later()
    journey.github.comment(pull, "bob", "/feedback-select final reason: the first misses the point")
    await journey.settled()
    reply = journey.comments(pull)[-1]
    said = f"`bob` selects iteration 2 instead of 1, at `{pull.head_sha[:7]}`: `the first misses the point`"
    assert reply.startswith(f"{said}\n\n## Output Selection Report\n")  # row 73 # row 75
    journey.later()
    journey.github.comment(pull, "carol", "/feedback-select best reason: I read only")
    journey.github.comment(pull, "bob", "/feedback-select best")
    await journey.settled()
    assert "a reason is missing" in journey.comments(pull)[-1]  # row 76
    journey.later()
    journey.github.close(pull)
    await journey.settled()
    assert "**Selected Iteration**: 2" in sticky(journey, pull)
    assert not any(body.startswith("<!-- SELECTION-REPORT") for body in journey.comments(pull))


async def test_what_was_merged_after_one_iteration_has_no_report(journey, pull):
    await judge(journey, pull, "date_errors")
    journey.later()
    journey.github.merge(pull, by="bob")
    await journey.settled()
    assert [body for body in journey.comments(pull) if "Output Selection Report" in body] == []


async def test_feedback_that_was_followed_is_kept_with_the_pull_request(journey, pull):
    journey.later()
    places = [Inline(PAGE, "[date_errors] wrong", line=1), Inline(PAGE, "[scope_error] too wide", line=3)]
    journey.github.submit_review(pull, "alice", REJECT, "", places)
    await journey.settled()
    push(journey, pull, "# Another claim\n\nIt holds.\n")
    await judge(journey, pull, "date_errors", "scope_error")
    known = await journey.bot.store.load(f"pr:{pull.repository.id}:{pull.number}")
    kept = {each.tag: each.followed for each in known.tracked[0].observations}
    assert kept == {"date_errors": True, "scope_error": False}  # row 21
    journey.later()
    journey.github.comment(pull, "alice", "/feedback-history")
    await journey.settled()
    assert (
        "\n\nOf 2 items of feedback, 1 was followed: 1 of 2 with a place. Quality rose after "
        in (journey.comments(pull)[-1])
    )


async def test_what_was_merged_before_it_could_be_read_is_read_all_the_same(journey, pull):
    await judge(journey, pull, "date_errors")
    push(journey, pull, "# Second\n\nIt holds.\n")
    journey.later()
    journey.github.hold()
    journey.github.submit_review(pull, "alice", APPROVE)
    journey.later()
    journey.github.merge(pull, by="bob")
    journey.github.release()
    await journey.settled()
    report = sticky(journey, pull)
    assert f"- `{PAGE}` (from iteration 2)\n\nThey are what was merged." in report
    assert "- [x] All iteration outputs preserved" in report


async def test_without_the_permission_to_read_contents_the_verdicts_alone_are_scored(journey, pull):
    refusal = {"message": "Resource not accessible by integration"}
    journey.github.fail("GET", "*/compare/*", status=403, body=refusal, times=2)
    await judge(journey, pull, "date_errors")
    push(journey, pull, "# Second\n")
    await judge(journey, pull, "date_errors", "title_overclaims")
    assert summary(journey, pull).startswith("Quality 0.83 → 0.67: iteration 1 was the best")
    assert "left out: validation everywhere; efficiency everywhere." in fold(sticky(journey, pull))


async def test_a_head_that_the_api_does_not_show_yet_is_read_with_the_next_event(journey, pull):
    await judge(journey, pull, "date_errors")
    second = push(journey, pull, "# Second\n\nIt holds.\n")
    journey.github.fail("GET", f"*/compare/*{second}", status=404, times=1)
    await judge(journey, pull, "date_errors")
    assert "Not observed, so left out: validation everywhere; efficiency in 2." in fold(sticky(journey, pull))
    await judge(journey, pull, "date_errors", "near_duplicate")
    assert "Not observed, so left out: validation everywhere." in fold(sticky(journey, pull))


async def test_an_escalation_whose_answer_was_lost_is_not_posted_twice(journey, pull):
    for text in ("# Second\n", "# Third\n"):
        await judge(journey, pull, "date_errors")
        push(journey, pull, text)
    journey.github.lose_answer("POST", "*/comments")
    await judge(journey, pull, "date_errors")
    await journey.github.until(lambda: journey.github.asked("GET", "*/issues/*/comments"))
    await journey.settled()
    assert len([body for body in journey.comments(pull) if body.startswith("<!-- ESCALATION: ")]) == 1
