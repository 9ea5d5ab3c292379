"""From webhooks to the quality of every iteration, and the way back."""

from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from bot.feedback.marker import parse_document
from bot.store.pull_requests import load_pull_request
from tests.journeys.review_rounds import (
    REJECT,
    progress_section,
    progress_summary,
    push,
    review_and_wait,
    sticky_comment,
)
from tests.journeys.submitted_documents import PAGE

GITHUB = "https://redirect.github.com/acme/knowledge"


def reads(harness, since: int) -> list[str]:
    """Which lists were read: `pulls`, `compare`, `commits`."""
    found = [each.path.split("/") for each in harness.github.requests[since:] if each.method == "GET"]
    return [path[4] for path in found if len(path) > 4 and path[4] in {"pulls", "compare", "commits"}]


def table(harness, pull) -> list[list[str]]:
    """The rows of the progress table: number, quality, open, what decided."""
    lines = progress_section(sticky_comment(harness, pull)).splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")][1:]
    return [[number.split()[0], *others] for number, *others in rows]


async def test_from_the_second_iteration_on_the_comment_shows_what_became_of_the_quality(journey, pull):
    first = pull.head_sha
    await review_and_wait(journey, pull, "date_errors")
    assert progress_section(journey.comments(pull)[-1]) == ""  # row 59
    push(journey, pull, "# Worse\n")
    await review_and_wait(journey, pull, "date_errors", "title_overclaims", "factual_discrepancy")
    body = journey.comments(pull)[-1]
    was, now = (f"[`{sha[:7]}`]({GITHUB}/commit/{sha})" for sha in (first, pull.head_sha))
    assert (
        progress_section(body)
        == (
            "<summary>Progress: 1 → 3 blocking. Restoring iteration 1 would leave 1</summary>\n\n"
            "| Iteration | Quality | Open | Decided by |\n|---|---|---|---|\n"
            f"| 1 {was} | **0.69** | 1 blocking | correctness 0.60 |\n"  # at most, while something blocks
            f"| 2 {now} | 0.64 | 3 blocking | correctness 0.00 |\n\n"
            "Not observed, so left out: validation everywhere.\n\n"  # row 82
            f"[Changes from 1 to 2]({GITHUB}/compare/{first[:7]}..{pull.head_sha[:7]}). "
            "To restore the files of iteration 1 on your branch without rewriting history:\n\n"
            f"```sh\ngit fetch origin {first}\n"
            f"git restore --source=FETCH_HEAD --staged --worktree -- {PAGE}\n```\n\n</details>\n\n"
        )
    )
    assert (
        "**Next** (author): fix the 3 blocking issues below in this order and push once."
    ) in body.splitlines()
    assert parse_document(body)["overall_assessment"]["score"] == 0.64  # row 17
    assert journey.markers(pull)[0]["best"] == {"iteration": 1, "head": first}


async def test_each_head_is_read_once_when_it_is_pushed(journey, pull):
    before = len(journey.github.requests)
    await review_and_wait(journey, pull, "date_errors")
    assert {"compare", "commits"} & set(reads(journey, before)) == set()
    before = len(journey.github.requests)
    push(journey, pull, "# Second\n")
    await journey.wait_until_idle()
    assert reads(journey, before) == ["compare", "commits", "commits"] * 2  # the first head as well
    before = len(journey.github.requests)
    await review_and_wait(journey, pull, "date_errors")
    assert reads(journey, before) == ["pulls", "pulls"]
    before = len(journey.github.requests)
    push(journey, pull, "# Third\n")
    await journey.wait_until_idle()
    assert reads(journey, before) == ["compare", "commits", "commits"]
    before = len(journey.github.requests)
    await review_and_wait(journey, pull, "scope_error")
    assert reads(journey, before) == ["pulls", "pulls"]


async def test_checks_that_finish_late_change_the_score_until_the_next_iteration_starts(journey, pull):
    await review_and_wait(journey, pull, "date_errors")
    push(journey, pull, "# Second\n\nIt holds.\n")
    second = pull.head_sha
    run = journey.github.start_check_run(pull.repository, second, "build")
    later = journey.github.start_check_run(pull.repository, second, "docs")
    await review_and_wait(journey, pull, "date_errors")
    assert table(journey, pull) == [
        ["1", "**0.69**", "1 blocking", "correctness 0.60"],
        ["2", "0.69", "1 blocking", "correctness 0.60"],
    ]
    before = len(journey.github.requests)
    journey.github.complete_check_run(run, "failure")
    await journey.wait_until_idle()
    lowered = ["2", "0.60", "1 blocking", "correctness 0.60, 0 of 1 check passed"]  # row 85
    assert table(journey, pull)[1] == lowered
    assert [each.method for each in journey.github.requests[before:]] == ["PATCH"]
    push(journey, pull, "# Third\n\nIt holds.\n")
    await review_and_wait(journey, pull, "date_errors")
    journey.github.complete_check_run(later, "success")
    await journey.wait_until_idle()
    await review_and_wait(journey, pull, "date_errors", "scope_error")
    assert [row[2] for row in table(journey, pull)] == ["1 blocking", "1 blocking", "2 blocking"]
    assert table(journey, pull)[1] == lowered


async def test_a_force_push_back_keeps_the_number_of_the_iteration(journey, pull):
    first = pull.head_sha
    await review_and_wait(journey, pull, "date_errors")
    push(journey, pull, "# Second\n")
    await review_and_wait(journey, pull, "date_errors", "title_overclaims")
    journey.advance_clock()
    journey.github.force_push(pull, first)
    await review_and_wait(journey, pull, "date_errors")
    assert progress_summary(journey, pull) == "Progress: 1 → 2 blocking"
    assert table(journey, pull) == [
        ["1", "**0.69**", "1 blocking", "correctness 0.60"],
        ["2", "0.69", "2 blocking", "correctness 0.20"],
    ]
    (marker,) = journey.markers(pull)
    assert (marker["iteration"], marker["head"]) == (1, first)


async def test_a_rebase_without_change_offers_no_way_back(journey, knowledge, pull):
    await review_and_wait(journey, pull, "date_errors")
    onto = knowledge.objects.commit(
        {"other.md": "x\n"}, parents=(pull.base_sha,), message="m", login="bob", at=journey.clock()
    )
    knowledge.branches["main"] = onto.sha
    text = knowledge.objects.content(pull.head_sha, PAGE).decode()
    again = knowledge.objects.commit(
        {PAGE: text}, parents=(onto.sha,), message="m", login="rio-agent[bot]", at=journey.clock()
    )
    journey.advance_clock()
    journey.github.force_push(pull, again.sha)
    await review_and_wait(journey, pull, "date_errors", "title_overclaims")
    assert progress_summary(journey, pull) == "Progress: 1 → 2 blocking"
    assert "git restore" not in journey.comments(pull)[-1]


async def test_feedback_that_was_followed_is_kept_with_the_pull_request(journey, pull):
    journey.advance_clock()
    places = [
        InlineDraft(PAGE, "[date_errors] wrong", line=1),
        InlineDraft(PAGE, "[scope_error] too wide", line=3),
    ]
    journey.github.submit_review(pull, "alice", REJECT, "", places)
    await journey.wait_until_idle()
    push(journey, pull, "# Another claim\n\nIt holds.\n")
    await review_and_wait(journey, pull, "scope_error")
    known = await journey.bot.store.read(load_pull_request, f"pr:{pull.repository.id}:{pull.number}")
    kept = {each.tag: each.followed for each in known.tracked[0].observations}
    assert kept == {"date_errors": True, "scope_error": False}  # row 21
    journey.advance_clock()
    journey.github.comment(pull, "alice", "/feedback-history")
    await journey.wait_until_idle()
    assert "Findings fixed: 1 of 2 with a location. Quality rose after " in journey.comments(pull)[-1]


async def test_without_the_permission_to_read_contents_the_verdicts_alone_are_scored(journey, pull):
    refusal = {"message": "Resource not accessible by integration"}
    journey.github.fail("GET", "*/compare/*", status=403, body=refusal, times=100)
    await review_and_wait(journey, pull, "date_errors")
    push(journey, pull, "# Second\n")
    await review_and_wait(journey, pull, "date_errors", "title_overclaims")
    assert [row[1] for row in table(journey, pull)] == ["**0.69**", "0.67"]
    assert progress_summary(journey, pull) == "Progress: 1 → 2 blocking"  # nothing known to restore
    assert "left out: validation everywhere; efficiency everywhere." in progress_section(
        sticky_comment(journey, pull)
    )


async def test_an_iteration_is_scored_from_two_observed_dimensions_on(journey, knowledge, pull):
    checked = journey.github.open_pull_request(
        knowledge, "rio-agent[bot]", PullRequestOptions(files={PAGE: "# Checked\n"})
    )
    journey.github.check(checked, "build", "success")
    for each in (pull, checked):
        await review_and_wait(journey, each, "date_errors")
        (review,) = each.reviews.values()
        journey.advance_clock()
        # Without a verdict that stands, only the size of the diff is known, and what the checks say.
        journey.github.dismiss_review(review, by="bob")
        await journey.wait_until_idle()
        push(journey, each, "# Second\n\nIt holds.\n")
        await review_and_wait(journey, each, "date_errors")
    assert table(journey, pull) == [
        ["1", "–", "nothing", "too little was observed"],
        ["2", "**0.69**", "1 blocking", "correctness 0.60"],
    ]
    assert table(journey, checked)[0] == ["1", "**1.00**", "nothing", "no open item, 1 of 1 check passed"]


async def test_a_head_that_the_api_does_not_show_yet_is_read_with_a_later_event(journey, pull):
    await review_and_wait(journey, pull, "date_errors")
    second = push(journey, pull, "# Second\n\nIt holds.\n")
    journey.github.fail("GET", f"*/compare/*{second}", status=404, times=2)
    await journey.wait_until_idle()
    await review_and_wait(journey, pull, "date_errors")
    assert "Not observed, so left out: validation everywhere; efficiency in 2." in progress_section(
        sticky_comment(journey, pull)
    )
    await review_and_wait(journey, pull, "date_errors", "near_duplicate")
    assert "Not observed, so left out: validation everywhere." in progress_section(
        sticky_comment(journey, pull)
    )


async def test_what_is_read_once_the_next_iteration_started_leaves_a_score_as_it_was(journey, pull):
    refusal = {"message": "Resource not accessible by integration"}
    journey.github.fail("GET", "*/compare/*", status=403, body=refusal, times=4)  # each head twice
    await review_and_wait(journey, pull, "date_errors")
    push(journey, pull, "# Second\n\nIt holds.\n")
    await journey.wait_until_idle()
    await review_and_wait(journey, pull, "date_errors")
    push(journey, pull, "# Third\n\nIt holds.\n")
    await journey.wait_until_idle()
    await review_and_wait(journey, pull, "date_errors")
    assert "left out: validation everywhere; efficiency in 1.\n" in progress_section(
        sticky_comment(journey, pull)
    )
