"""Asked to stop in the middle of a write, and started again."""

import asyncio

import pytest

DATE = "<!-- ISSUES: date_errors -->"
COMMENTS = "/repos/acme/knowledge/issues/*/comments"


@pytest.fixture
def store_url(sqlite_url):
    return sqlite_url


async def test_a_turn_that_hangs_is_handed_back_within_ten_seconds_and_finished_after_a_restart(
    town, knowledge
):
    pull = town.github.open_pull_request(knowledge, "rio-agent[bot]")
    fault = town.github.hang("POST", COMMENTS, times=1)
    loop = asyncio.get_running_loop()
    async with town.running():
        town.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        await town.github.until(lambda: fault.met)
        asked = loop.time()
    assert loop.time() - asked < 11
    async with town.running():
        await town.github.until(lambda: town.comments(pull))
        await town.settled()
    assert [marker["issues"] for marker in town.markers(pull)] == [["date_errors"]]
    assert len(town.comments(pull)) == 1
