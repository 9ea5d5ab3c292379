"""A rejection in a repository that the bot knows costs one write and two reads."""

from __future__ import annotations

import pytest

from bot.fakegithub.reviews import InlineDraft

REJECT = "CHANGES_REQUESTED"
DATE = "<!-- ISSUES: date_errors -->"
PAGE = "claims/first.md"


@pytest.fixture
async def other(journey, knowledge, pull):
    """A second pull request, after the first one has warmed every cache."""
    journey.github.submit_review(pull, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    opened = journey.github.open_pull_request(knowledge, "rio-agent[bot]")
    await journey.wait_until_idle()
    return opened


async def requests_of(journey, *review) -> list[str]:
    before = len(journey.github.requests)
    journey.github.submit_review(*review)
    await journey.wait_until_idle()
    return [f"{each.method} {each.path.rpartition('/')[2]}" for each in journey.github.requests[before:]]


async def test_a_tagged_rejection_costs_one_write_and_two_reads(journey, other):
    requests = await requests_of(journey, other, "alice", REJECT, DATE)
    assert sorted(requests) == ["GET comments", "GET reviews", "POST comments"]


async def test_an_inline_comment_that_came_with_its_review_is_not_read_again(journey, other):
    remark = InlineDraft(PAGE, "[scope_error] too wide for one experiment", line=1)
    requests = await requests_of(journey, other, "alice", REJECT, DATE, [remark])
    assert [requests.count(f"GET {what}") for what in ("reviews", "comments")] == [1, 1]
    assert [each for each in requests if not each.startswith("GET")] == ["POST comments"]
