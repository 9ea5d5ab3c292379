from bot.fakegithub.reviews import InlineDraft
from bot.values import Account
from tests.judges.judge import Judge

MARKER = '<!-- REJECTION: {"issues":["date_errors"],"id":"one"} -->\nwords'


async def test_githubs_own_description_finds_nothing_wrong_with_what_we_ask(
    client, fake_github, clock, pull, repository
):
    judge = Judge()
    judge.watch(fake_github)
    fake_github.submit_review(
        pull, "alice", "CHANGES_REQUESTED", "", [InlineDraft("claims/first.md", "no", line=3)]
    )
    await client.me()
    await client.reviews(repository, pull.number)
    await client.inline_comments(repository, pull.number)
    await client.role(repository, Account(fake_github.find_account("alice").id, "alice"))
    posted = await client.create_comment(repository, pull.number, MARKER)
    await client.find_comment(repository, pull.number, "one", clock())
    await client.edit_comment(repository, posted.id, "words")
    await client.minimise(repository, posted.node_id)
    assert judge.violations == []
    assert judge.operations == {
        "GET /app 200",
        "GET /app/installations 200",
        "POST /app/installations/{installation_id}/access_tokens 201",
        "GET /users/{username} 200",
        "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews 200",
        "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments 200",
        "GET /repos/{owner}/{repo}/collaborators/{username}/permission 200",
        "POST /repos/{owner}/{repo}/issues/{issue_number}/comments 201",
        "GET /repos/{owner}/{repo}/issues/{issue_number}/comments 200",
        "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id} 200",
        "POST /graphql 200",
    }


async def test_a_rejection_in_a_warm_repository_is_two_reads_and_one_write(
    client, fake_github, pull, repository
):
    alice = Account(fake_github.find_account("alice").id, "alice")
    for _ in range(2):
        before = len(fake_github.requests)
        await client.me()
        await client.reviews(repository, pull.number)
        await client.inline_comments(repository, pull.number)
        await client.role(repository, alice)
        await client.create_comment(repository, pull.number, "words")
    assert [exchange.method for exchange in fake_github.requests[before:]] == ["GET", "GET", "POST"]
