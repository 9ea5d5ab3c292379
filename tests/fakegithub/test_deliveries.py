from __future__ import annotations

import pytest

from bot.fakegithub.reviews import InlineDraft
from tests.judges.judge import Judge, description


@pytest.fixture
async def app(caller, app_jwt, fake_github, hooks):
    fake_github.webhook_url = hooks.url
    return caller(app_jwt())


async def test_a_lost_delivery_is_found_and_sent_again(app, fake_github, hooks, pull):
    await fake_github.delivered()
    hooks.status = 503
    fake_github.comment(pull, "bob", "Hello")
    await fake_github.delivered()
    hooks.status = 202
    listed = (await app("GET", "/app/hook/deliveries")).body
    failed = [each for each in listed if each["status"] != "OK"]
    assert [(each["event"], each["status_code"]) for each in failed] == [("issue_comment", 503)]
    accepted = await app("POST", f"/app/hook/deliveries/{failed[0]['id']}/attempts")
    await fake_github.delivered()
    assert accepted.status == 202
    again = (await app("GET", "/app/hook/deliveries?per_page=1")).body[0]
    assert (again["guid"], again["redelivery"], again["status"]) == (failed[0]["guid"], True, "OK")


async def test_what_nobody_answered_has_no_status(app, fake_github, pull):
    await fake_github.delivered()
    fake_github.webhook_url = "http://127.0.0.1:1/webhook"
    fake_github.comment(pull, "bob", "Hello")
    await fake_github.delivered()
    newest = (await app("GET", "/app/hook/deliveries")).body[0]
    assert (newest["event"], newest["status_code"]) == ("issue_comment", 0)


async def test_deliveries_come_in_pages_by_cursor(app, fake_github, pull):
    for number in range(4):
        fake_github.comment(pull, "bob", f"{number}")
    await fake_github.delivered()
    seen, url = [], "/app/hook/deliveries?per_page=2"
    while url:
        answer = await app("GET", url)
        seen += [each["id"] for each in answer.body]
        url = answer.headers.get("Link", "").partition(">")[0].strip("<")
    assert seen == [each.id for each in reversed(fake_github.deliveries.all)]


async def test_deliveries_are_kept_for_three_days(app, fake_github, clock, app_jwt, pull):
    fake_github.comment(pull, "bob", "Hello")
    await fake_github.delivered()
    assert len((await app("GET", "/app/hook/deliveries")).body) == len(fake_github.deliveries)
    clock.advance(days=3, seconds=1)
    app.token = app_jwt()
    assert (await app("GET", "/app/hook/deliveries")).body == []


async def test_every_webhook_has_the_form_that_github_describes(fake_github, repository, pull):
    judge = Judge()
    judge.watch(fake_github)
    _in_the_pull_request(fake_github, pull)
    _to_the_pull_request(fake_github, pull)
    _in_the_repository(fake_github, repository)
    _to_the_repository(fake_github, repository)
    assert judge.violations == []
    assert judge.webhooks == set(description()["x-webhooks"])


def _in_the_pull_request(fake_github, pull):
    inline = [InlineDraft("claims/first.md", "?", 1)]
    review = fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "No", inline)
    first = review.comments[0]
    fake_github.reply(first, "bob", "Yes")
    fake_github.edit_review(review, "No, no")
    fake_github.edit_review_comment(first, "When?")
    fake_github.resolve_thread(first, by="bob")
    fake_github.resolve_thread(first, by="bob", resolved=False)
    fake_github.delete_review_comment(first)
    fake_github.dismiss_review(review, by="carol")
    comment = fake_github.comment(pull, "bob", "Hello")
    fake_github.edit_comment(comment, "Hello again")
    fake_github.delete_comment(comment)


def _to_the_pull_request(fake_github, pull):
    head = pull.head_sha
    fake_github.push(pull, {"claims/first.md": "Other\n"})
    fake_github.force_push(pull, head)
    fake_github.edit_pull_request(pull, title="Other", body="Words")
    fake_github.set_draft(pull, draft=True)
    fake_github.set_draft(pull, draft=False)
    fake_github.request_review(pull, "alice")
    fake_github.remove_review_request(pull, "alice", by="carol")
    fake_github.lock(pull)
    fake_github.lock(pull, locked=False)
    fake_github.add_label(pull, "bug", by="alice")
    fake_github.remove_label(pull, "bug", by="alice")
    fake_github.close(pull)
    fake_github.reopen(pull)
    fake_github.check(pull, "lint", "failure")
    fake_github.set_status(pull.repository, pull.head_sha, "build", "failure")
    fake_github.merge(pull, by="alice")


def _in_the_repository(fake_github, repository):
    fake_github.open_pull_request(repository, "bob")
    issue = fake_github.open_issue(repository, "alice", "Weekly")
    fake_github.edit_issue(issue, "alice", "Text")
    fake_github.add_label(issue, "weekly", by="alice")
    fake_github.remove_label(issue, "weekly", by="alice")
    fake_github.close(issue)
    fake_github.reopen(issue)
    fake_github.commit_to_default_branch(repository, {"README.md": "New\n"}, by="alice")


def _to_the_repository(fake_github, repository):
    fake_github.rename_repository(repository, "wiki")
    fake_github.set_private(repository)
    fake_github.set_private(repository, private=False)
    fake_github.archive(repository)
    fake_github.archive(repository, archived=False)
    fake_github.suspend("acme")
    fake_github.suspend("acme", suspended=False)
    fake_github.remove_from_installation(repository)
    fake_github.add_to_installation(repository)
    fake_github.transfer_repository(repository, "other")
    fake_github.transfer_repository(repository, "acme")
    fake_github.delete_repository(repository)
    fake_github.uninstall("acme")
    fake_github.install("acme")
    fake_github.grant_permissions("acme", {"actions": "read"})
