"""Killed at any moment, restarted, and still: every acknowledged delivery has its effect exactly once."""

from __future__ import annotations

import random
import signal

import pytest

from tests.journeys.server_process import run_server

DATE = "<!-- ISSUES: date_errors -->"
COMMENTS = "/repos/acme/knowledge/issues/*/comments"


@pytest.fixture
def store_url(sqlite_url):
    """The embedded store alone: on PostgreSQL a peer takes over, which is another journey."""
    return sqlite_url


@pytest.mark.parametrize("seed", [1, 2])
async def test_kill_9_under_load_loses_nothing_and_posts_nothing_twice(harness, knowledge, seed):
    chance = random.Random(seed)
    github = harness.github
    pulls = [github.open_pull_request(knowledge, "rio-agent[bot]") for _ in range(12)]
    github.lose_answer("POST", COMMENTS, times=2)
    github.reset("POST", COMMENTS, times=1)
    async with run_server(harness) as server:
        await github.until(lambda: github.deliveries.is_idle)
        for pull in pulls:
            github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        for _ in range(3):
            wanted = len(github.requests) + chance.randrange(3, 14)
            await github.until(lambda wanted=wanted: len(github.requests) >= wanted or _done(harness, pulls))
            await server.kill()
            await server.start()
            await github.until(lambda: github.deliveries.is_idle)
            for delivery in [each for each in github.deliveries if not 200 <= (each.status_code or 0) < 300]:
                github.redeliver(delivery)
        await github.until(lambda: _done(harness, pulls))
        assert await server.kill(signal.SIGTERM) == 0
    assert [len(harness.comments(pull)) for pull in pulls] == [1] * len(pulls)
    assert [harness.markers(pull)[0]["issues"] for pull in pulls] == [["date_errors"]] * len(pulls)


def _done(harness, pulls) -> bool:
    return harness.github.deliveries.is_idle and all(harness.comments(pull) for pull in pulls)


@pytest.mark.parametrize("fault", ["lose_answer", "reset", "hang"])
async def test_a_write_whose_answer_was_lost_is_adopted_not_repeated(journey, pull, fault):
    if fault == "hang":
        journey.github.fail("POST", COMMENTS, status=502, times=1, after=True)
    else:
        getattr(journey.github, fault)("POST", COMMENTS, times=1)
    journey.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
    await journey.github.until(lambda: _settled_sticky(journey, pull))
    await journey.wait_until_idle()
    assert [marker["issues"] for marker in journey.markers(pull)] == [["date_errors"]]
    assert len(journey.comments(pull)) == 1


def _settled_sticky(journey, pull) -> bool:
    looked = [
        each for each in journey.github.requests if "since=" in str(each.query) or "since" in str(each.query)
    ]
    return bool(journey.comments(pull)) and bool(looked)


async def test_an_event_that_says_nothing_does_not_turn_an_owed_edit_into_a_second_comment(journey, pull):
    github = journey.github
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: date_errors, scope_error -->")
    await journey.wait_until_idle()
    github.fail("PATCH", "/repos/acme/knowledge/issues/comments/*", status=502, times=1)
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: broken_wiki_links -->")
    await github.until(lambda: not github.faults)
    github.lock(pull, locked=False)  # GitHub tells of it, and it is not read
    await github.until(lambda: _written(github) == 3)
    await journey.wait_until_idle()
    issues = ["date_errors", "scope_error", "broken_wiki_links"]
    assert [marker["issues"] for marker in journey.markers(pull)] == [issues]


async def test_an_old_comment_that_can_not_be_folded_away_holds_up_no_verdict(journey, pull):
    github = journey.github
    github.fail("POST", "/graphql", status=502, times=1000)
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
    await journey.wait_until_idle()
    journey.advance_clock()
    github.push(pull, {"claims/first.md": "# Worse\n"})
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: date_errors, scope_error -->")
    await github.until(lambda: any("graphql" in each.path for each in github.requests))
    journey.advance_clock()
    github.submit_review(pull, "alice", "APPROVED")
    await github.until(lambda: journey.markers(pull)[-1]["verdict"] == "accept")
    assert len(journey.markers(pull)) == 1


def _written(github) -> int:
    """Attempts to post or edit a comment."""
    return sum(each.method in {"POST", "PATCH"} and "/issues/" in each.path for each in github.requests)
