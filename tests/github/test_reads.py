import asyncio
import time
from dataclasses import replace

import pytest

from bot.fakegithub.reviews import InlineDraft
from bot.github.app_api import convert_manifest_code
from bot.github.errors import GitHubUnavailable, NotFound
from bot.github.user_api import open_user_api
from bot.pull_request.events import InlineCommentSnapshot, PullRequestSnapshot, ReviewSnapshot, ReviewState
from bot.values import GHOST, Account, Repository


def account(who):
    return Account(who.id, who.login, bot=who.type == "Bot")


async def test_the_app_knows_its_own_account_and_asks_once(client, fake_github, place):
    assert await client.me() == account(fake_github.app.bot)
    await client.me()
    assert [exchange.path for exchange in fake_github.requests] == [
        "/app",
        "/app/installations",
        f"/app/installations/{fake_github.installation_of(place).id}/access_tokens",
        "/users/whetstone[bot]",
    ]


async def test_the_app_knows_itself_before_anybody_installed_it(client, fake_github):
    assert await client.me() == account(fake_github.app.bot)


async def test_a_suspended_installation_is_not_used_to_ask_who_we_are(client, fake_github):
    fake_github.repository("aaa/first")
    fake_github.suspend("aaa")
    assert await client.me() == account(fake_github.app.bot)


async def test_a_pull_request_is_read_as_it_is_now(client, fake_github, clock, pull, repository):
    opened = clock()
    clock.advance(minutes=5)
    fake_github.push(pull, {"claims/first.md": "# Another\n"})
    assert await client.pull_request(repository, pull.number) == PullRequestSnapshot(
        repository=repository,
        number=pull.number,
        author=account(fake_github.find_account("bob")),
        title="Add a claim",
        base="main",
        head=pull.head_sha,
        created_at=opened,
        updated_at=clock(),
        open=True,
        merged=False,
        draft=False,
        closed_at=None,
    )


async def test_a_pull_request_that_can_not_be_read_is_unavailable(client, fake_github, pull, repository):
    fake_github.fail("GET", "*/pulls/*", status=200, body={"number": "three"})
    with pytest.raises(GitHubUnavailable, match="created_at is not a time"):
        await client.pull_request(repository, pull.number)


async def test_reviews_come_oldest_first_without_pending_ones(client, fake_github, clock, pull, repository):
    first = fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[date_errors]")
    at = clock()
    clock.advance(minutes=1)
    fake_github.submit_review(pull, "alice", "PENDING", "not yet")
    second = fake_github.submit_review(pull, "carol", "APPROVED")
    reviews = await client.reviews(repository, pull.number)
    assert [(review.id, review.state) for review in reviews] == [
        (first.id, ReviewState.CHANGES_REQUESTED),
        (second.id, ReviewState.APPROVED),
    ]
    assert reviews[0] == ReviewSnapshot(
        id=first.id,
        author=account(fake_github.find_account("alice")),
        state=ReviewState.CHANGES_REQUESTED,
        body="[date_errors]",
        submitted_at=at,
        head=pull.head_sha,
        url=reviews[0].url,
        node_id=reviews[0].node_id,
    )
    assert reviews[0].url.endswith(f"#pullrequestreview-{first.id}")


async def test_a_review_of_a_deleted_account_is_the_ghosts(client, fake_github, pull, repository):
    fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[date_errors]")
    fake_github.delete_account("alice")
    [review] = await client.reviews(repository, pull.number)
    assert review.author.login == GHOST.login


async def test_all_pages_of_reviews_are_read(client, fake_github, pull, repository):
    written = [fake_github.submit_review(pull, "alice", "COMMENTED", f"{n}").id for n in range(250)]
    reviews = await client.reviews(repository, pull.number)
    assert [review.id for review in reviews] == written
    assert len(fake_github.asked("GET", "*/reviews")) == 3


async def test_an_inline_comment_comes_with_its_place(client, fake_github, clock, pull, repository):
    inline = InlineDraft("claims/first.md", "wrong year", line=3)
    review = fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "", [inline])
    [comment] = await client.inline_comments(repository, pull.number)
    assert comment == InlineCommentSnapshot(
        id=comment.id,
        review_id=review.id,
        author=account(fake_github.find_account("alice")),
        body="wrong year",
        path="claims/first.md",
        line=3,
        start_line=None,
        diff_hunk=comment.diff_hunk,
        created_at=clock(),
        url=comment.url,
    )


async def test_hostile_comments_do_not_hold_up_everybody_else(client, fake_github, pull, repository):
    document = '```json\n{"feedback_items": [' + "1," * 30_000 + "1]}\n```"
    fake_github.submit_review(
        pull, "alice", "COMMENTED", "", [InlineDraft("claims/first.md", document, line=1) for _ in range(8)]
    )
    gaps = [0.0]

    async def look():
        while True:
            before = time.thread_time()  # unlike the time of day, no other process adds to it
            await asyncio.sleep(0)
            gaps.append(time.thread_time() - before)

    looking = asyncio.create_task(look())
    begun = time.thread_time()
    found = await client.inline_comments(repository, pull.number)
    await asyncio.sleep(0)
    looking.cancel()
    assert (len(found), max(gaps) < (time.thread_time() - begun) / 2) == (8, True)


async def test_of_many_inline_comments_the_newest_500_come_oldest_first(
    client, fake_github, clock, pull, repository
):
    for number in range(60):
        clock.advance(seconds=1)
        comments = [InlineDraft("claims/first.md", f"{number}.{each}", line=3) for each in range(10)]
        fake_github.submit_review(pull, "alice", "COMMENTED", "", comments)
    found = await client.inline_comments(repository, pull.number)
    assert (len(found), found[0].body.split(".")[0], found[-1].body.split(".")[0]) == (500, "10", "59")
    assert sorted(comment.created_at for comment in found) == [comment.created_at for comment in found]
    assert len(fake_github.asked("GET", "*/comments")) == 5


@pytest.mark.parametrize("role", ["read", "triage", "write", "maintain", "admin"])
async def test_a_role_is_told_by_its_full_name(client, fake_github, place, repository, role):
    fake_github.set_role(place, "dora", role)
    assert await client.role(repository, account(fake_github.find_account("dora"))) == role


async def test_a_stranger_to_a_private_repository_has_no_role(client, fake_github):
    place = fake_github.repository("acme/secret", private=True)
    stranger = account(fake_github.account("stranger"))
    repository = Repository(place.id, "acme", "secret", fake_github.installation_of(place).id)
    assert await client.role(repository, stranger) is None


async def test_a_bot_has_no_role(client, fake_github, repository):
    assert await client.role(repository, account(fake_github.account("robo[bot]"))) is None


async def test_the_ghost_has_no_role_and_is_not_asked_about(client, fake_github, repository):
    assert await client.role(repository, GHOST) is None
    assert fake_github.requests == []


async def test_a_login_that_is_somebody_elses_by_now_has_no_role(client, repository):
    assert await client.role(repository, Account(1, "alice")) is None


async def test_a_role_is_remembered_for_a_minute(client, fake_github, clock, place, repository):
    alice = account(fake_github.find_account("alice"))
    first = await client.role(repository, alice)
    fake_github.set_role(place, "alice", "read")
    clock.advance(seconds=59)
    second = await client.role(repository, alice)
    clock.advance(seconds=2)
    third = await client.role(repository, alice)
    assert (first, second, third) == ("write", "write", "read")
    assert len(fake_github.asked("GET", "*/permission")) == 2


async def test_a_fresh_role_is_asked_for_and_remembered(client, fake_github, place, repository):
    alice = account(fake_github.find_account("alice"))
    await client.role(repository, alice)
    fake_github.set_role(place, "alice", "read")
    fresh = await client.role(repository, alice, fresh=True)
    assert (fresh, await client.role(repository, alice)) == ("read", "read")


async def test_what_did_not_change_costs_nothing(client, fake_github, pull, repository):
    fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[date_errors]")
    first = await client.reviews(repository, pull.number)
    second = await client.reviews(repository, pull.number)
    assert first == second
    assert [exchange.status for exchange in fake_github.asked("GET", "*/reviews")] == [200, 304]


async def test_what_changed_is_read_anew(client, fake_github, pull, repository):
    await client.reviews(repository, pull.number)
    review = fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[date_errors]")
    assert [found.id for found in await client.reviews(repository, pull.number)] == [review.id]


async def test_two_installations_do_not_share_what_they_know(client, fake_github, pull, repository):
    await client.reviews(repository, pull.number)
    elsewhere = fake_github.installation_of(fake_github.repository("other/kb"))
    await client.reviews(replace(repository, id=0, installation_id=elsewhere.id), pull.number)
    assert [exchange.status for exchange in fake_github.asked("GET", "*/reviews")] == [200, 200]


async def test_a_renamed_repository_is_followed_also_page_by_page(
    client, fake_github, place, pull, repository
):
    for number in range(150):
        fake_github.submit_review(pull, "alice", "COMMENTED", f"{number}")
    fake_github.rename_repository(place, "renamed")
    assert len(await client.reviews(repository, pull.number)) == 150


async def test_a_redirect_without_an_end_is_given_up(client, fake_github, pull, repository):
    where = {"Location": f"{fake_github.api_url}/repos/acme/kb/pulls/{pull.number}/reviews"}
    fake_github.fail("GET", "*/reviews", status=302, headers=where, times=99)
    with pytest.raises(GitHubUnavailable, match="too many redirects"):
        await client.reviews(repository, pull.number)


async def test_a_name_of_dots_leads_to_no_other_endpoint(client, fake_github, repository):
    await client.role(repository, Account(8, "alice"))
    before = len(fake_github.asked())
    elsewhere = replace(repository, name="..")
    with pytest.raises(NotFound):
        await client.reviews(elsewhere, 1)
    assert await client.role(repository, Account(7, "..")) is None
    assert await client.file(repository, "../../../user") is None
    assert await client.file(repository, "docs/./a.md") is None
    assert await client.covers("..", "app") is False
    with pytest.raises(NotFound):
        await convert_manifest_code(fake_github.api_url, "..")
    assert len(fake_github.asked()) == before


async def test_a_visitor_is_not_asked_about_under_a_name_of_dots(fake_github):
    token = fake_github.tokens.for_user(fake_github.account("carol")).token
    async with open_user_api(fake_github.api_url, fake_github.graphql_url) as asking:
        found = [
            await asking.visit(token, *names) for names in (("..", "user"), ("a/..", "b"), ("acme", "."))
        ]
    assert (found, fake_github.asked()) == ([None, None, None], [])
