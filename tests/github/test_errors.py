from datetime import UTC, datetime, timedelta

import pytest

from bot.github.auth import AppKey
from bot.github.client import connect_github
from bot.github.errors import Forbidden, GitHubUnavailable, NotFound, RateLimited, ValidationFailed

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
async def reviews(client, pull, repository):
    """Reads the reviews; the token is at hand already."""
    await client.reviews(repository, pull.number)

    async def read():
        return await client.reviews(repository, pull.number)

    return read


async def limited(read):
    with pytest.raises(RateLimited) as caught:
        await read()
    return caught.value.until - NOW


@pytest.mark.parametrize("status", [403, 429])
async def test_a_limit_that_says_how_long_is_believed(fake_github, reviews, status):
    fake_github.limit_secondary(17, pattern="*/reviews", status=status)
    assert await limited(reviews) == timedelta(seconds=17)


async def test_a_limit_may_say_until_when_as_a_date(fake_github, reviews):
    fake_github.fail("GET", "*/reviews", status=429, headers={"Retry-After": "Mon, 02 Mar 2026 09:02:00 GMT"})
    assert await limited(reviews) == timedelta(minutes=2)


@pytest.mark.parametrize("status", [403, 429])
async def test_a_used_up_hour_ends_at_its_reset(fake_github, reviews, status):
    fake_github.limit_primary(NOW + timedelta(minutes=40), pattern="*/reviews", status=status)
    assert await limited(reviews) == timedelta(minutes=40)


async def test_a_reset_that_is_over_still_waits_a_moment(fake_github, reviews):
    fake_github.limit_primary(NOW - timedelta(minutes=40), pattern="*/reviews")
    assert await limited(reviews) == timedelta(seconds=1)


@pytest.mark.parametrize("status", [403, 429])
async def test_a_limit_that_says_nothing_waits_longer_each_time(fake_github, reviews, status):
    fake_github.limit_secondary(pattern="*/reviews", status=status, times=9)
    waits = [(await limited(reviews)).total_seconds() for _ in range(8)]
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]


async def test_a_success_ends_the_row_of_limits(fake_github, reviews):
    fake_github.limit_secondary(pattern="*/reviews")
    first = await limited(reviews)
    await reviews()
    fake_github.limit_secondary(pattern="*/reviews")
    assert (first, await limited(reviews)) == (timedelta(seconds=60), timedelta(seconds=60))


@pytest.mark.parametrize("header", ["soon", "-1", ""])
async def test_a_hint_that_makes_no_sense_is_no_hint(fake_github, reviews, header):
    fake_github.fail("GET", "*/reviews", status=429, headers={"Retry-After": header})
    assert await limited(reviews) == timedelta(seconds=60)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520])
async def test_a_broken_github_is_unavailable(fake_github, reviews, status):
    fake_github.fail("GET", "*/reviews", status=status)
    with pytest.raises(GitHubUnavailable, match=str(status)):
        await reviews()


async def test_a_dropped_connection_is_unavailable(fake_github, reviews):
    fake_github.reset("GET", "*/reviews", times=3)
    with pytest.raises(GitHubUnavailable):
        await reviews()


async def test_no_answer_in_time_is_unavailable(keys, clock, fake_github, pull, repository):
    fake_github.hang("GET", "*/reviews")
    key = AppKey(4242, keys.private_pem)
    async with connect_github(
        key, fake_github.api_url, fake_github.graphql_url, now=clock, seconds=0.2
    ) as client:
        with pytest.raises(GitHubUnavailable, match="the request timed out"):
            await client.reviews(repository, pull.number)


async def test_nobody_listening_is_unavailable(keys, clock, fake_github, repository):
    address = fake_github.api_url
    await fake_github.stop()
    async with connect_github(
        AppKey(4242, keys.private_pem), address, f"{address}/graphql", now=clock
    ) as client:
        with pytest.raises(GitHubUnavailable):
            await client.reviews(repository, 1)


@pytest.mark.parametrize("body", ["<html>a proxy speaks</html>", {"message": "no list"}, "", None])
async def test_an_answer_that_is_not_the_list_is_unavailable(fake_github, reviews, body):
    fake_github.fail("GET", "*/reviews", status=200, body=body)
    with pytest.raises(GitHubUnavailable, match="can't be read"):
        await reviews()


async def test_json_that_is_cut_off_is_unavailable(fake_github, reviews):
    headers = {"Content-Type": "application/json"}
    fake_github.fail("GET", "*/reviews", status=200, body='[{"id": 1', headers=headers)
    with pytest.raises(GitHubUnavailable, match="can't be read"):
        await reviews()


async def test_a_comment_without_an_id_is_unavailable(client, fake_github, pull, repository):
    fake_github.fail("POST", "*/comments", status=201, body={"ok": True})
    with pytest.raises(GitHubUnavailable, match="id is not a number"):
        await client.create_comment(repository, pull.number, "words")


async def test_a_list_without_an_end_is_unavailable(fake_github, reviews, pull):
    again = f'<{fake_github.api_url}/repos/acme/kb/pulls/{pull.number}/reviews>; rel="next"'
    fake_github.fail("GET", "*/reviews", status=200, body=[], headers={"Link": again}, times=999)
    with pytest.raises(GitHubUnavailable, match="too many pages"):
        await reviews()


@pytest.mark.parametrize("status", [404, 410])
async def test_what_is_not_there_is_gone(fake_github, reviews, status):
    fake_github.fail("GET", "*/reviews", status=status)
    with pytest.raises(NotFound):
        await reviews()


@pytest.mark.parametrize("status", [400, 409, 422])
async def test_what_github_will_not_is_refused_with_its_words(fake_github, reviews, status):
    body = {"message": "Validation Failed", "errors": ["odd", {"message": "body is too long"}]}
    fake_github.fail("GET", "*/reviews", status=status, body=body)
    with pytest.raises(ValidationFailed, match="Validation Failed: body is too long"):
        await reviews()


@pytest.mark.parametrize("status", [408, 421, 425])
async def test_a_write_that_meets_a_passing_refusal_may_be_tried_again(
    client, fake_github, pull, repository, status
):
    fake_github.fail("POST", "*/comments", status=status)
    with pytest.raises(GitHubUnavailable):
        await client.create_comment(repository, pull.number, "words")


async def test_a_permission_that_was_not_granted_is_named(client, fake_github, pull, repository, place):
    fake_github.installation_of(place).permissions = {"metadata": "read", "pull_requests": "read"}
    with pytest.raises(Forbidden, match="the App needs pull_requests=write") as caught:
        await client.create_comment(repository, pull.number, "words")
    assert caught.value.permission == "pull_requests=write"


async def test_a_permission_that_github_names_itself_is_believed(fake_github, reviews):
    headers = {"X-Accepted-GitHub-Permissions": "contents=read", "X-RateLimit-Remaining": "0"}
    body = {"message": "Resource not accessible by integration"}
    fake_github.fail("GET", "*/reviews", status=403, headers=headers, body=body)
    with pytest.raises(Forbidden) as caught:
        await reviews()
    assert caught.value.permission == "contents=read"


GRAPHQL_ERRORS = {
    "RATE_LIMITED": RateLimited,
    "NOT_FOUND": NotFound,
    "FORBIDDEN": Forbidden,
    "INSUFFICIENT_SCOPES": Forbidden,
    "UNPROCESSABLE": ValidationFailed,
}


@pytest.mark.parametrize(("kind", "error"), GRAPHQL_ERRORS.items())
async def test_an_error_inside_a_graphql_success(client, fake_github, repository, kind, error):
    body = {"data": None, "errors": [{"type": kind, "message": "no"}]}
    fake_github.fail("POST", "/graphql", status=200, body=body)
    with pytest.raises(error):
        await client.minimise(repository, "node")


async def test_a_graphql_limit_ends_at_its_reset(client, fake_github, repository):
    reset = str(int((NOW + timedelta(minutes=9)).timestamp()))
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    body = {"errors": [{"type": "RATE_LIMITED", "message": "no"}]}
    fake_github.fail("POST", "/graphql", status=200, body=body, headers=headers)
    assert await limited(lambda: client.minimise(repository, "node")) == timedelta(minutes=9)


async def test_a_graphql_permission_that_was_not_granted_is_named(client, fake_github, repository):
    body = {"errors": [{"type": "FORBIDDEN", "message": "Resource not accessible by integration"}]}
    fake_github.fail("POST", "/graphql", status=200, body=body)
    with pytest.raises(Forbidden) as caught:
        await client.minimise(repository, "node")
    assert caught.value.permission == "pull_requests=write"


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 200, "body": {"errors": [{"message": "Something went wrong"}]}},
        {"status": 200, "body": {"errors": []}},
        {"status": 200, "body": {"errors": ["odd"]}},
        {"status": 200, "body": {"nothing": True}},
        {"status": 200, "body": "<html>"},
        {"status": 200, "body": ""},
        {"status": 502, "body": "<html>"},
    ],
)
async def test_a_graphql_that_fails_by_itself_is_unavailable(client, fake_github, repository, fault):
    fake_github.fail("POST", "/graphql", **fault)
    with pytest.raises(GitHubUnavailable):
        await client.minimise(repository, "node")


async def test_a_limited_graphql_is_a_limit(client, fake_github, repository):
    fake_github.limit_secondary(17, pattern="/graphql")
    assert await limited(lambda: client.minimise(repository, "node")) == timedelta(seconds=17)
