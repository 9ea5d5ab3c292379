"""Asked to stop in the middle of a write, and started again."""

import pytest

from bot.inbox.worker import SHUTDOWN_SECONDS
from bot.web.server import SHUTDOWN_TIMEOUT

DATE = "<!-- ISSUES: date_errors -->"
COMMENTS = "/repos/acme/knowledge/issues/*/comments"


@pytest.fixture
def store_url(sqlite_url):
    return sqlite_url


async def test_a_turn_that_hangs_is_handed_back_at_the_stop_and_finished_after_a_restart(harness, knowledge):
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
    fault = harness.github.hang("POST", COMMENTS, times=1)
    async with harness.run_bot():
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        await harness.github.until(lambda: fault.met)
    async with harness.run_bot():
        await harness.github.until(lambda: harness.comments(pull))
        await harness.wait_until_idle()
    assert [marker["issues"] for marker in harness.markers(pull)] == [["date_errors"]]
    assert len(harness.comments(pull)) == 1


def test_hanging_turns_and_requests_leave_time_to_stop_within_ten_seconds():
    """Docker kills a container ten seconds after SIGTERM; `make bench ARGS=responsiveness` measures a stop."""
    assert SHUTDOWN_SECONDS + SHUTDOWN_TIMEOUT < 10
