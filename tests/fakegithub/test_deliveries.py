from __future__ import annotations

import pytest

from bot.fakegithub.pull_actions import InlineDraft
from tests.judges.judge import Judge, description


@pytest.fixture
async def app(caller, app_jwt, standin, hooks):
    standin.webhook_url = hooks.url
    return caller(app_jwt())


async def test_a_lost_delivery_is_found_and_sent_again(app, standin, hooks, pull):
    await standin.delivered()
    hooks.status = 503
    lost = standin.comment(pull, "bob", "Hello")
    await standin.delivered()
    hooks.status = 202
    listed = (await app("GET", "/app/hook/deliveries")).body
    failed = [each for each in listed if each["status"] != "OK"]
    assert [(each["event"], each["status_code"]) for each in failed] == [("issue_comment", 503)]
    found = (await app("GET", f"/app/hook/deliveries/{failed[0]['id']}")).body
    assert found["request"]["payload"]["comment"]["id"] == lost.id
    accepted = await app("POST", f"/app/hook/deliveries/{failed[0]['id']}/attempts")
    await standin.delivered()
    assert accepted.status == 202
    again = (await app("GET", "/app/hook/deliveries?per_page=1")).body[0]
    assert (again["guid"], again["redelivery"], again["status"]) == (failed[0]["guid"], True, "OK")


async def test_what_nobody_answered_is_no_failure_to_github(app, standin, pull):
    await standin.delivered()
    standin.webhook_url = "http://127.0.0.1:1/webhook"
    standin.comment(pull, "bob", "Hello")
    await standin.delivered()
    assert (await app("GET", "/app/hook/deliveries?status=failure")).body == []
    newest = (await app("GET", "/app/hook/deliveries")).body[0]
    assert (newest["event"], newest["status_code"]) == ("issue_comment", 0)


async def test_deliveries_come_in_pages_by_cursor(app, standin, pull):
    for number in range(4):
        standin.comment(pull, "bob", f"{number}")
    await standin.delivered()
    seen, url = [], "/app/hook/deliveries?per_page=2"
    while url:
        answer = await app("GET", url)
        seen += [each["id"] for each in answer.body]
        url = answer.headers.get("Link", "").partition(">")[0].strip("<")
    assert seen == [each.id for each in reversed(standin.deliveries.all)]


async def test_deliveries_are_kept_for_three_days(app, standin, clock, app_jwt, pull):
    standin.comment(pull, "bob", "Hello")
    await standin.delivered()
    assert len((await app("GET", "/app/hook/deliveries")).body) == len(standin.deliveries)
    clock.advance(days=3, seconds=1)
    app.token = app_jwt()
    assert (await app("GET", "/app/hook/deliveries")).body == []


async def test_every_webhook_has_the_form_that_github_describes(standin, repository, pull):
    judge = Judge()
    judge.watch(standin)
    _in_the_pull_request(standin, pull)
    _to_the_pull_request(standin, pull)
    _in_the_repository(standin, repository)
    _to_the_repository(standin, repository)
    assert judge.violations == []
    assert judge.webhooks == set(description()["x-webhooks"])


def _in_the_pull_request(standin, pull):
    inline = [InlineDraft("claims/first.md", "?", 1)]
    review = standin.submit_review(pull, "alice", "CHANGES_REQUESTED", "No", inline)
    first = review.comments[0]
    standin.reply(first, "bob", "Yes")
    standin.edit_review(review, "No, no")
    standin.edit_review_comment(first, "When?")
    standin.resolve_thread(first, by="bob")
    standin.resolve_thread(first, by="bob", resolved=False)
    standin.delete_review_comment(first)
    standin.dismiss_review(review, by="carol")
    comment = standin.comment(pull, "bob", "Hello")
    standin.edit_comment(comment, "Hello again")
    standin.delete_comment(comment)


def _to_the_pull_request(standin, pull):
    head = pull.head_sha
    standin.push(pull, {"claims/first.md": "Other\n"})
    standin.force_push(pull, head)
    standin.edit_pull_request(pull, title="Other", body="Words")
    standin.set_draft(pull, draft=True)
    standin.set_draft(pull, draft=False)
    standin.lock(pull)
    standin.lock(pull, locked=False)
    standin.add_label(pull, "bug", by="alice")
    standin.remove_label(pull, "bug", by="alice")
    standin.close(pull)
    standin.reopen(pull)
    standin.check(pull, "lint", "failure")
    standin.set_status(pull.repository, pull.head_sha, "build", "failure")
    standin.merge(pull, by="alice")


def _in_the_repository(standin, repository):
    standin.open_pull_request(repository, "bob")
    issue = standin.open_issue(repository, "alice", "Weekly")
    standin.edit_issue(issue, "alice", body="Text")
    standin.add_label(issue, "weekly", by="alice")
    standin.remove_label(issue, "weekly", by="alice")
    standin.close(issue)
    standin.reopen(issue)
    standin.commit_to_default_branch(repository, {"README.md": "New\n"}, by="alice")


def _to_the_repository(standin, repository):
    standin.rename_repository(repository, "wiki")
    standin.set_private(repository)
    standin.set_private(repository, private=False)
    standin.archive(repository)
    standin.archive(repository, archived=False)
    standin.suspend("acme")
    standin.suspend("acme", suspended=False)
    standin.remove_from_installation(repository)
    standin.add_to_installation(repository)
    standin.transfer_repository(repository, "other")
    standin.transfer_repository(repository, "acme")
    standin.delete_repository(repository)
    standin.uninstall("acme")
    standin.install("acme")
