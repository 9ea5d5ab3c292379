from __future__ import annotations

from datetime import timedelta

import aiohttp
import pytest

COMMENTS = "/repos/acme/kb/issues/1/comments"


@pytest.mark.usefixtures("pull")
async def test_a_request_fails_as_often_as_ordered(bot, fake_github):
    fake_github.fail("GET", "/repos/*/pulls/1", status=502, times=2)
    assert [(await bot("GET", "/repos/acme/kb/pulls/1")).status for _ in range(3)] == [502, 502, 200]


@pytest.mark.usefixtures("pull")
async def test_trouble_can_wait_for_a_later_request(bot, fake_github):
    fake_github.fail("*", "/repos/*", status=500, skip=1)
    assert [(await bot("GET", "/repos/acme/kb/pulls/1")).status for _ in range(3)] == [200, 500, 200]


async def test_the_answer_is_lost_but_the_comment_is_there(bot, fake_github, pull):
    fake_github.lose_answer("POST", COMMENTS)
    with pytest.raises(aiohttp.ClientError):
        await bot("POST", COMMENTS, json={"body": "Rejected"})
    assert [each.body for each in fake_github.comments_of(pull)] == ["Rejected"]
    assert fake_github.requests[-1].status == 0


async def test_a_write_can_be_done_and_still_be_answered_with_an_error(bot, fake_github, pull):
    fake_github.fail("POST", COMMENTS, status=502, after=True)
    assert (await bot("POST", COMMENTS, json={"body": "Rejected"})).status == 502
    assert len(fake_github.comments_of(pull)) == 1


async def test_a_reset_does_nothing(bot, fake_github, pull):
    fake_github.reset("POST", COMMENTS)
    with pytest.raises(aiohttp.ClientError):
        await bot("POST", COMMENTS, json={"body": "Rejected"})
    assert fake_github.comments_of(pull) == []


@pytest.mark.usefixtures("pull")
async def test_a_request_hangs_until_the_caller_gives_up(bot, fake_github):
    fake_github.hang("GET", "/repos/*")
    with pytest.raises(TimeoutError):
        await bot("GET", "/repos/acme/kb", timeout=aiohttp.ClientTimeout(total=0.05))


@pytest.mark.usefixtures("pull")
async def test_the_secondary_limit_comes_with_and_without_a_hint(bot, fake_github):
    fake_github.limit_secondary(7)
    limited = await bot("GET", "/repos/acme/kb")
    assert (limited.status, limited.headers["Retry-After"]) == (403, "7")
    fake_github.limit_secondary(status=429)
    limited = await bot("GET", "/repos/acme/kb")
    assert (limited.status, limited.headers.get("Retry-After")) == (429, None)
    assert "secondary rate limit" in limited.body["message"]


@pytest.mark.usefixtures("pull")
async def test_the_primary_limit_says_when_it_ends(bot, fake_github, clock):
    fake_github.limit_primary(clock() + timedelta(minutes=5))
    limited = await bot("GET", "/repos/acme/kb")
    assert limited.status == 403
    assert limited.headers["X-RateLimit-Remaining"] == "0"
    assert int(limited.headers["X-RateLimit-Reset"]) == clock().timestamp() + 300


@pytest.mark.usefixtures("repository")
async def test_an_hours_budget_runs_out(bot, fake_github):
    fake_github.requests_per_hour = 2
    statuses = [(await bot("GET", "/repos/acme/kb/pulls")).status for _ in range(3)]
    assert statuses == [200, 200, 403]


async def test_what_is_known_already_costs_nothing(bot, fake_github, pull):
    first = await bot("GET", "/repos/acme/kb/pulls/1")
    again = await bot("GET", "/repos/acme/kb/pulls/1", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["X-RateLimit-Remaining"] == first.headers["X-RateLimit-Remaining"]
    fake_github.edit_pull_request(pull, title="Another")
    fresh = await bot("GET", "/repos/acme/kb/pulls/1", headers={"If-None-Match": first.headers["ETag"]})
    assert fresh.status == 200
    assert [each.status for each in fake_github.asked("GET", "*/pulls/1")] == [200, 304, 200]


async def test_too_many_writes_in_a_minute_are_refused_for_a_minute(bot, fake_github, clock, pull):
    fake_github.writes_per_minute = 2
    path = f"/repos/acme/kb/issues/{pull.number}/comments"
    statuses = [(await bot("POST", path, json={"body": "Again"})).status for _ in range(3)]
    assert statuses == [201, 201, 403]
    assert (await bot("GET", path)).status == 200
    clock.advance(minutes=1)
    assert (await bot("POST", path, json={"body": "Again"})).status == 201


@pytest.mark.parametrize(
    ("data", "says"), [("{", "Problems parsing JSON"), ("[1]", "Body should be a JSON object")]
)
async def test_what_is_no_json_object_is_refused(bot, fake_github, pull, data, says):
    fake_github.observers.clear()  # the request is wrong on purpose
    refused = await bot("POST", f"/repos/acme/kb/issues/{pull.number}/comments", data=data)
    assert (refused.status, refused.body["message"]) == (400, says)


async def test_waiting_in_vain_tells_what_happened_last(bot, fake_github, pull):
    await bot("GET", f"/repos/acme/kb/pulls/{pull.number}")
    with pytest.raises(
        TimeoutError, match=r"last requests: GET /repos/acme/kb/pulls/1 200; last webhooks: pull_"
    ):
        await fake_github.until(lambda: False, timeout=0.01)
