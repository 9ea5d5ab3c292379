"""Every endpoint is called once and answers in the form that GitHub describes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.fakegithub.checks import Annotation, CheckOutput
from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from tests.judges.judge import Judge, description
from tests.scripted_github import ScriptedGitHub

REPO = "/repos/acme/kb"


@pytest.fixture
async def lived_in(fake_github, repository, hooks):
    """A repository in which everything has happened once."""
    fake_github.webhook_url = hooks.url
    files = {"claims/first.md": "# A claim\n\nIt holds.\n", "docs/notes.md": "Notes\n"}
    pull = fake_github.open_pull_request(repository, "bob", PullRequestOptions(files=files))
    inline = [InlineDraft("claims/first.md", "Which year?", 3), InlineDraft("docs/notes.md", "Too thin")]
    review = fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[date_errors]", inline)
    comment = fake_github.comment(pull, "alice", "See above.")
    found = (Annotation("claims/first.md", 3, 3, "failure", "No such date"),)
    run = fake_github.check(
        pull, "lint", "failure", CheckOutput("1 finding", "One date is wrong", None, found)
    )
    workflow = fake_github.start_workflow(pull)
    job = fake_github.check(pull, "tests", "failure", workflow=workflow, log="1 failed\n")
    fake_github.grant_permissions("acme", {"actions": "read"})
    fake_github.set_status(repository, pull.head_sha, "build", "success")
    issue = fake_github.open_issue(repository, "alice", "Weekly summary", "Nothing yet")
    fake_github.react(comment, "bob", "eyes")
    fake_github.add_label(pull, "needs work", by="alice")
    fake_github.manifest_codes["fresh"] = "-----BEGIN PRIVATE KEY-----"
    await fake_github.delivered()
    return {
        "username": "alice",
        "pull_number": pull.number,
        "issue_number": issue.number,
        "comment_id": comment.id,
        "check_run_id": run.id,
        "job_id": job.id,
        "run_id": workflow.id,
        "installation_id": fake_github.installation_of(repository).id,
        "delivery_id": fake_github.deliveries.all[0].id,
        "code": "fresh",
        "name": "needs work",
        "ref": pull.head_sha,
        "commit_sha": pull.head_sha,
        "tree_sha": pull.head_sha,
        "file_sha": repository.objects.commits[pull.head_sha].files["docs/notes.md"].sha,
        "basehead": f"main...{pull.head_ref}",
        "path": "README.md",
        "inline_id": review.comments[0].id,
    }


# What each write sends, in the order in which the writes are made.
WRITES = {
    "POST /app/installations/{installation_id}/access_tokens": {},
    "POST /app/hook/deliveries/{delivery_id}/attempts": None,
    "POST /app-manifests/{code}/conversions": None,
    "POST {repo}/labels": {"name": "weekly", "color": "00ff00", "description": "Summaries"},
    "POST {repo}/pulls/comments/{comment_id}/reactions": {"content": "+1"},
    "POST {repo}/pulls/{pull_number}/reviews": {"event": "COMMENT", "body": "Hm."},
    "POST {repo}/pulls/{pull_number}/comments/{comment_id}/replies": {"body": "The first one."},
    "POST {repo}/issues": {"title": "Another", "body": "More", "labels": ["weekly"]},
    "PATCH {repo}/issues/{issue_number}": {"body": "Summary"},
    "POST {repo}/issues/{issue_number}/comments": {"body": "Noted."},
    "POST {repo}/issues/{issue_number}/labels": {"labels": ["needs work"]},
    "DELETE {repo}/issues/{issue_number}/labels/{name}": None,
    "PATCH {repo}/issues/comments/{comment_id}": {"body": "See above, please."},
    "POST {repo}/issues/comments/{comment_id}/reactions": {"content": "rocket"},
    "POST {repo}/check-runs": {
        "name": "whetstone/gates",
        "head_sha": "",  # filled in by the test
        "status": "completed",
        "conclusion": "failure",
        "output": {"title": "Rejected", "summary": "One gate failed", "annotations": []},
    },
    "PATCH {repo}/check-runs/{check_run_id}": {"conclusion": "success"},
}


def _filled(template: str, facts: dict) -> str:
    if "/pulls/" in template and "comment_id" in template:
        facts = facts | {"comment_id": facts["inline_id"]}
    for name, value in facts.items():
        template = template.replace(f"{{{name}}}", str(value))
    return template.replace("/repos/{owner}/{repo}", REPO).replace("{repo}", REPO)


async def test_every_endpoint_answers_as_github_describes_it(fake_github, lived_in, caller, app_jwt, bot):
    judge = Judge()
    judge.watch(fake_github)
    app, alice = caller(app_jwt()), caller(fake_github.user_token("alice"))
    reads = [route for route in ScriptedGitHub.routes if route.method == "GET"]
    for route in reads:
        by = app if route.needs.app else alice if route.path == "/user" else bot
        answer = await by("GET", _filled(route.path, lived_in))
        expected = 302 if route.path.endswith("/logs") else 200
        assert (route.path, answer.status) == (route.path, expected)
    WRITES["POST {repo}/check-runs"]["head_sha"] = lived_in["ref"]
    for operation, body in WRITES.items():
        method, template = operation.split()
        by = app if template.startswith("/app/") else bot
        answer = await by(method, _filled(template, lived_in), json=body)
        assert (operation, answer.status < 300) == (operation, True)
        if template == "{repo}/check-runs":
            lived_in["check_run_id"] = answer.body["id"]
    assert judge.violations == []
    called = {each.rpartition(" ")[0] for each in judge.operations}
    assert called == {f"{route.method} {route.path}" for route in ScriptedGitHub.routes}


def test_the_judge_knows_exactly_what_the_stand_in_serves():
    described = {
        f"{method.upper()} {path}" for path, methods in description()["paths"].items() for method in methods
    }
    assert described == {f"{route.method} {route.path}" for route in ScriptedGitHub.routes}


async def test_an_unknown_path_is_not_found_and_the_judge_says_so(caller, fake_github):
    judge = Judge()
    fake_github.observers[:] = [judge.exchange]
    assert (await caller()("GET", "/nowhere")).status == 404
    assert judge.violations == ["GET /nowhere: no operation that the judge knows"]


async def test_the_judge_sees_a_wrong_request(bot, fake_github, pull):
    judge = Judge()
    fake_github.observers[:] = [judge.exchange]
    await bot("POST", f"{REPO}/issues/{pull.number}/comments", json={"boddy": "Hello"})
    await bot("GET", f"{REPO}/pulls?sate=all")
    assert judge.violations == [
        "POST /repos/{owner}/{repo}/issues/{issue_number}/comments: unknown field boddy",
        "POST /repos/{owner}/{repo}/issues/{issue_number}/comments: : 'body' is a required property",
        "GET /repos/{owner}/{repo}/pulls: unknown query parameter sate",
    ]


async def test_the_judge_sees_a_wrong_answer(bot, fake_github, pull):
    judge = Judge()
    await bot("GET", f"{REPO}/pulls/{pull.number}")
    seen = fake_github.requests[-1]
    headless = {name: value for name, value in seen.answer.items() if name != "head"}
    judge.exchange(replace(seen, answer=headless))
    assert judge.violations == [
        "GET /repos/{owner}/{repo}/pulls/{pull_number} 200: : 'head' is a required property"
    ]


async def test_the_judge_sees_a_wrong_query_and_a_wrong_answer_to_it(bot, fake_github):
    judge = Judge()
    fake_github.observers[:] = [judge.exchange]
    await bot("POST", fake_github.graphql_url, json={"query": "query { viewer { login zen } }"})
    await bot("POST", fake_github.graphql_url, json={"query": "query { viewer { login } }"})
    seen = fake_github.requests[-1]
    judge.exchange(replace(seen, answer={"data": {"viewer": {"login": "whetstone[bot]", "databaseId": 1}}}))
    assert judge.violations == [
        "POST /graphql: Cannot query field 'zen' on type 'User'.",
        "POST /graphql: more than was asked for",
    ]


async def test_an_enterprise_server_answers_below_its_own_prefix(fake_github_server, session):
    from tests.fakegithub.conftest import Client

    server = await fake_github_server(enterprise=True)
    server.repository("acme/kb")
    bot = Client(session, server, server.installation_token("acme"))
    assert server.api_url.endswith("/api/v3")
    found = await bot("GET", REPO)
    assert found.body["url"] == f"{server.api_url}/repos/acme/kb"
    assert found.body["html_url"] == server.api_url.removesuffix("/api/v3") + "/acme/kb"
    assert server.requests[-1].path == REPO
    asked = await bot("POST", server.graphql_url, json={"query": "query { meta { zen } }"})
    assert "errors" in asked.body
