"""From webhooks to the quality of every iteration, the way back and the selection report."""

import json

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
PAGE = "claims/first.md"


def issues(*tags: str) -> str:
    return f"<!-- ISSUES: {', '.join(tags)} -->"


def reject(town, pull, *tags, by="alice"):
    town.github.submit_review(pull, by, REJECT, issues(*tags))


def push(town, pull, text, path=PAGE):
    town.later()
    town.github.push(pull, {path: text})
    town.later()


def fold(body: str) -> str:
    return next((part for part in body.split("<details>") if part.startswith("<summary>Quality")), "")


def document(body: str) -> dict:
    return json.loads(body.split("```json\n")[1].split("\n```")[0])


async def test_from_the_second_iteration_on_the_comment_shows_what_became_of_the_quality(journey, pull):
    first = pull.head_sha
    reject(journey, pull, "date_errors")
    await journey.settled()
    assert fold(journey.comments(pull)[-1]) == ""  # row 59
    push(journey, pull, "# Worse\n")
    reject(journey, pull, "date_errors", "title_overclaims", "factual_discrepancy")
    await journey.settled()
    body = journey.comments(pull)[-1]
    assert (
        fold(body).splitlines()
        == [
            "<summary>Quality 0.86 → 0.64: iteration 1 was the best. How to go back to it</summary>",
            "",
            "| Iteration | Quality | Open | What decided |",
            "|---|---|---|---|",
            f"| 1 [`{first[:7]}`](https://redirect.github.com/acme/knowledge/commit/{first})"
            " | **0.86** | 1 blocking | correctness 0.60 |",
            f"| 2 [`{pull.head_sha[:7]}`](https://redirect.github.com/acme/knowledge/commit/{pull.head_sha})"
            " | 0.64 | 3 blocking | correctness 0.00 |",
            "",
            "Not observed, so left out: validation everywhere.",  # row 82
            "",
            "[What changed from 1 to 2](https://redirect.github.com/acme/knowledge/compare/"
            f"{first[:7]}..{pull.head_sha[:7]}). To take over the files of iteration 1 on your branch, "
            "without rewriting history:",
            "",
            "```sh",
            f"git fetch origin {first}",
            f"git restore --source=FETCH_HEAD --staged --worktree -- {PAGE}",
            "```",
            "",
            "</details>",
            "",
        ]
    )
    assert (
        "**Next**: fix the 3 blocking issues in this order. "
        "Shorter: go back to iteration 1 (below), where only the first of them was open."
    ) in body.splitlines()
    assert document(body)["overall_assessment"]["score"] == 0.6429  # row 17
    assert journey.markers(pull)[0]["best"] == {"iteration": 1, "head": first}


async def test_the_second_iteration_reads_each_judged_head_once_with_three_calls(journey, pull):
    reject(journey, pull, "date_errors")
    await journey.settled()
    push(journey, pull, "# Second\n")
    before = len(journey.github.requests)
    reject(journey, pull, "date_errors")
    await journey.settled()
    calls = [each.path.rpartition("/")[2] for each in journey.github.requests[before:]]
    assert sorted(calls) == sorted(
        ["reviews", "comments", "check-runs", "status", "check-runs", "status", calls[2], calls[5], calls[-1]]
    )
    push(journey, pull, "# Third\n")
    before = len(journey.github.requests)
    reject(journey, pull, "scope_error")
    await journey.settled()
    reads = [each.path for each in journey.github.requests[before:] if each.method == "GET"]
    assert [path.split("/")[4] for path in reads] == ["pulls", "pulls", "compare", "commits", "commits"]
