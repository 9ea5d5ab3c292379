from datetime import timedelta

import pytest

from bot.github.errors import Forbidden, GitHubUnavailable, NotFound, ValidationFailed
from bot.github.model import FoundComment, PostedComment

MARKER = '<!-- REJECTION: {"issues":["date_errors"],"id":"one"} -->\nwords'


async def test_a_comment_is_posted(client, fake_github, pull, repository):
    posted = await client.create_comment(repository, pull.number, "words — 語")
    [comment] = fake_github.comments_of(pull)
    assert posted == PostedComment(comment.id, comment.node_id, posted.url)
    assert (comment.body, comment.user) == ("words — 語", fake_github.app.bot)
    assert posted.url.endswith(f"#issuecomment-{comment.id}")


async def test_a_comment_is_edited(client, fake_github, pull, repository):
    posted = await client.create_comment(repository, pull.number, "words")
    assert await client.edit_comment(repository, posted.id, "other words") == posted
    assert [comment.body for comment in fake_github.comments_of(pull)] == ["other words"]


async def test_a_comment_that_somebody_deleted_is_gone(client, fake_github, pull, repository):
    posted = await client.create_comment(repository, pull.number, "words")
    fake_github.delete_comment(fake_github.comments_of(pull)[0], by="alice")
    with pytest.raises(NotFound):
        await client.edit_comment(repository, posted.id, "other words")


async def test_a_comment_is_minimised_as_outdated(client, fake_github, pull, repository):
    posted = await client.create_comment(repository, pull.number, "words")
    await client.minimise(repository, posted.node_id)
    assert [comment.minimized for comment in fake_github.comments_of(pull)] == ["outdated"]


async def test_minimising_what_is_not_there_says_gone(client, repository):
    with pytest.raises(NotFound):
        await client.minimise(repository, "IC_none")


async def test_a_comment_that_is_too_long_is_refused(client, pull, repository):
    with pytest.raises(ValidationFailed, match="too long"):
        await client.create_comment(repository, pull.number, "x" * 70_000)


async def test_a_locked_conversation_is_forbidden(client, fake_github, pull, repository):
    fake_github.lock(pull)
    with pytest.raises(Forbidden) as caught:
        await client.create_comment(repository, pull.number, "words")
    assert caught.value.permission is None


async def test_an_archived_repository_is_forbidden(client, fake_github, place, pull, repository):
    fake_github.archive(place)
    with pytest.raises(Forbidden, match="archived"):
        await client.create_comment(repository, pull.number, "words")


async def test_a_write_follows_a_renamed_repository(client, fake_github, place, pull, repository):
    fake_github.rename_repository(place, "renamed")
    posted = await client.create_comment(repository, pull.number, "words")
    await client.edit_comment(repository, posted.id, "other words")
    assert [comment.body for comment in fake_github.comments_of(pull)] == ["other words"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_write_is_repeated_as_it_is_wherever_it_is_sent(
    client, fake_github, pull, repository, status
):
    there = f"{fake_github.api_url}/repositories/{repository.id}/issues/{pull.number}/comments"
    fake_github.fail("POST", "/repos/*/comments", status=status, headers={"Location": there})
    await client.create_comment(repository, pull.number, "words")
    assert [comment.body for comment in fake_github.comments_of(pull)] == ["words"]


async def test_a_write_is_not_sent_to_another_host(client, fake_github, pull, repository):
    fake_github.fail("POST", "/repos/*/comments", status=307, headers={"Location": "http://other.invalid/"})
    with pytest.raises(GitHubUnavailable, match="another host"):
        await client.create_comment(repository, pull.number, "words")


async def test_no_token_is_shown_to_another_host(client, fake_github, pull, repository):
    elsewhere = fake_github.api_url.replace("127.0.0.1", "localhost")
    there = f"{elsewhere}/repositories/{repository.id}/pulls/{pull.number}/reviews"
    fake_github.fail("GET", "/repos/*/reviews", status=302, headers={"Location": there})
    await client.reviews(repository, pull.number)
    first, second = fake_github.asked("GET", "*/reviews")
    assert ("Authorization" in first.headers, "Authorization" in second.headers) == (True, False)


async def test_our_comment_is_found_by_its_marker(client, clock, pull, repository):
    posted = await client.create_comment(repository, pull.number, MARKER)
    assert await client.find_comment(repository, pull.number, "one", clock()) == posted


async def test_the_oldest_of_two_with_the_same_marker_is_found(client, clock, pull, repository):
    posted = await client.create_comment(repository, pull.number, MARKER)
    clock.advance(seconds=1)
    await client.create_comment(repository, pull.number, MARKER)
    assert await client.find_comment(repository, pull.number, "one", clock() - timedelta(minutes=1)) == posted


@pytest.mark.parametrize(
    "body",
    [
        MARKER.replace("one", "two"),
        "words\n" + MARKER,
        "> " + MARKER,
        '<!-- REJECTION: {"id":"one" -->',
        '<!-- REJECTION: {"note":{"id":"one"}} -->',
        "words",
    ],
)
async def test_a_comment_without_this_marker_is_not_found(client, clock, pull, repository, body):
    await client.create_comment(repository, pull.number, body)
    assert await client.find_comment(repository, pull.number, "one", clock()) is None


async def test_our_own_comments_with_a_mark_are_read_whole(client, fake_github, pull, repository):
    fake_github.comment(pull, "mallory", "the mark of somebody else")
    posted = [
        await client.create_comment(repository, pull.number, body) for body in ("other", "a mark", "mark")
    ]
    found = await client.own_comments(repository, pull.number, "mark")
    assert found == (FoundComment(posted[1], "a mark"), FoundComment(posted[2], "mark"))


async def test_somebody_elses_comment_with_our_marker_is_not_found(
    client, fake_github, clock, pull, repository
):
    fake_github.comment(pull, "mallory", MARKER)
    assert await client.find_comment(repository, pull.number, "one", clock()) is None


async def test_a_comment_from_before_is_not_found(client, clock, pull, repository):
    await client.create_comment(repository, pull.number, MARKER)
    clock.advance(minutes=5)
    assert await client.find_comment(repository, pull.number, "one", clock()) is None


async def test_our_comment_is_found_behind_a_hundred_others(client, fake_github, clock, pull, repository):
    for number in range(150):
        fake_github.comment(pull, "alice", f"{number}")
    posted = await client.create_comment(repository, pull.number, MARKER)
    assert await client.find_comment(repository, pull.number, "one", clock()) == posted


async def test_a_write_whose_answer_was_lost_is_unavailable_but_can_be_found(
    client, fake_github, clock, pull, repository
):
    fake_github.lose_answer("POST", "*/comments")
    with pytest.raises(GitHubUnavailable):
        await client.create_comment(repository, pull.number, MARKER)
    found = await client.find_comment(repository, pull.number, "one", clock())
    assert [found.id] == [comment.id for comment in fake_github.comments_of(pull)]


@pytest.mark.parametrize("enterprise", [True], indirect=True, ids=["enterprise"])
async def test_an_enterprise_server_is_spoken_to_under_its_own_addresses(
    client, fake_github, pull, repository
):
    fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[date_errors]")
    posted = await client.create_comment(repository, pull.number, "words")
    await client.minimise(repository, posted.node_id)
    assert len(await client.reviews(repository, pull.number)) == 1
    assert [comment.minimized for comment in fake_github.comments_of(pull)] == ["outdated"]
