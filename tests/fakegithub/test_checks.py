from __future__ import annotations

import pytest

from bot.fakegithub.github import CheckOutput
from bot.fakegithub.model import Annotation
from bot.fakegithub.pull_actions import PullRequestOptions

REPO = "/repos/acme/kb"
GATES = {"name": "whetstone/gates", "status": "completed", "conclusion": "failure"}


async def test_a_check_tells_of_its_pull_request(fake_github, pull):
    fake_github.check(pull, "lint", "failure")
    created, completed = [each for each in fake_github.deliveries if each.event == "check_run"]
    assert (created.action, completed.action) == ("created", "completed")
    run = completed.payload["check_run"]
    assert (run["conclusion"], [each["number"] for each in run["pull_requests"]]) == ("failure", [1])


async def test_a_check_on_a_fork_names_no_pull_request(fake_github, repository):
    pull = fake_github.open_pull_request(repository, "bob", PullRequestOptions(fork=True))
    fake_github.check(pull, "lint", "failure")
    assert fake_github.deliveries.all[-1].payload["check_run"]["pull_requests"] == []


async def test_the_newest_run_of_a_name_is_listed(bot, fake_github, pull):
    fake_github.check(pull, "lint", "failure")
    fake_github.check(pull, "lint", "success")
    path = f"{REPO}/commits/{pull.head_sha}/check-runs"
    latest, every = (await bot("GET", path)).body, (await bot("GET", f"{path}?filter=all")).body
    assert [each["conclusion"] for each in latest["check_runs"]] == ["success"]
    assert every["total_count"] == 2


async def test_annotations_are_added_never_taken_away(bot, pull):
    found = {"path": "a.md", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "No"}
    output = {"title": "Rejected", "summary": "One gate", "annotations": [found]}
    made = await bot("POST", f"{REPO}/check-runs", json=GATES | {"head_sha": pull.head_sha, "output": output})
    path = f"{REPO}/check-runs/{made.body['id']}"
    again = await bot("PATCH", path, json={"output": output, "conclusion": "success"})
    assert (again.body["output"]["annotations_count"], again.body["conclusion"]) == (2, "success")
    assert [each["message"] for each in (await bot("GET", f"{path}/annotations")).body] == ["No", "No"]


@pytest.mark.parametrize("change", [{"head_sha": "0" * 40}, {"conclusion": None}])
async def test_a_check_without_a_commit_or_a_result_is_refused(bot, fake_github, pull, change):
    fake_github.observers.clear()  # the requests are wrong on purpose
    asked = GATES | {"head_sha": pull.head_sha} | change
    assert (await bot("POST", f"{REPO}/check-runs", json=asked)).status == 422


async def test_another_apps_check_is_not_ours_to_change(bot, fake_github, pull):
    finding = Annotation("a.md", 1, 2, "warning", "Hm")
    run = fake_github.check(pull, "lint", "failure", CheckOutput("One", "finding", None, (finding,)))
    refused = await bot("PATCH", f"{REPO}/check-runs/{run.id}", json={"conclusion": "success"})
    assert refused.status == 403


async def test_statuses_come_to_one_state(bot, fake_github, pull):
    path = f"{REPO}/commits/{pull.head_sha}/status"
    assert (await bot("GET", path)).body["state"] == "pending"
    fake_github.set_status(pull.repository, pull.head_sha, "build", "failure")
    assert (await bot("GET", path)).body["state"] == "failure"
    fake_github.set_status(pull.repository, pull.head_sha, "build", "success")
    found = (await bot("GET", path)).body
    assert (found["state"], found["total_count"]) == ("success", 1)
