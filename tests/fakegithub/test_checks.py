from __future__ import annotations

import pytest

from bot.fakegithub.checks import Annotation, CheckOutput
from bot.fakegithub.pulls import PullRequestOptions

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


async def test_a_workflow_says_which_event_began_it(bot, fake_github, pull):
    fake_github.grant_permissions("acme", {"actions": "read"})
    nightly = fake_github.start_workflow(pull, event="schedule", by="alice")
    workflow = fake_github.start_workflow(pull)
    job = fake_github.check(pull, "tests", "failure", workflow=workflow)
    assert job.details_url == f"{fake_github.web_url}/acme/kb/actions/runs/{workflow.id}/job/{job.id}"
    path = f"{REPO}/commits/{pull.head_sha}/check-runs"
    (run,) = (await bot("GET", path)).body["check_runs"]
    assert run["app"]["slug"] == "github-actions"
    query = {"check_suite_id": run["check_suite"]["id"]}
    (shown,) = (await bot("GET", f"{REPO}/actions/runs", params=query)).body["workflow_runs"]
    assert (shown["event"], shown["status"], shown["conclusion"]) == ("pull_request", "completed", "failure")
    found = (await bot("GET", f"{REPO}/actions/runs")).body["workflow_runs"]
    assert [each["event"] for each in found if each["status"] == "queued"] == [nightly.event]


async def test_a_rerun_is_a_newer_run_in_the_same_suite(bot, fake_github, pull):
    fake_github.grant_permissions("acme", {"actions": "read"})
    workflow = fake_github.start_workflow(pull)
    first = fake_github.check(pull, "tests", "failure", workflow=workflow)
    second = fake_github.rerun_check_run(first)
    assert (second.suite_id, second.name, second.status) == (first.suite_id, "tests", "queued")
    runs = (await bot("GET", f"{REPO}/commits/{pull.head_sha}/check-runs")).body["check_runs"]
    assert [(each["id"], each["status"], each["conclusion"]) for each in runs] == [
        (second.id, "queued", None)
    ]
    fake_github.complete_check_run(second, "success")
    (shown,) = (await bot("GET", f"{REPO}/actions/runs")).body["workflow_runs"]
    assert (shown["run_attempt"], shown["conclusion"]) == (2, "success")


async def test_an_apps_runs_on_a_commit_share_a_suite(fake_github, pull):
    suites = [fake_github.check(pull, name, "success").suite_id for name in ("lint", "types")]
    assert suites[0] == suites[1]
    assert fake_github.check(pull, "lint", "success", app="other").suite_id != suites[0]


async def test_a_jobs_log_is_on_another_host_that_takes_no_token(bot, caller, fake_github, pull):
    workflow = fake_github.start_workflow(pull)
    job = fake_github.start_check_run(pull.repository, pull.head_sha, "tests", workflow=workflow)
    job.log = "FAILED tests/test_dates.py\n"
    path = f"{REPO}/actions/jobs/{job.id}/logs"
    (installation,) = fake_github.installations.values()
    del installation.permissions["actions"]
    assert (await bot("GET", path)).status == 403
    fake_github.grant_permissions("acme", {"actions": "read"})
    assert (await bot("GET", path)).status == 404  # it is still running
    fake_github.complete_check_run(job, "failure")
    address = (await bot("GET", path)).headers["Location"]
    assert not address.startswith(fake_github.api_url)
    assert (await caller()("GET", address)).body == b"FAILED tests/test_dates.py\n"
    assert (await bot("GET", address)).status == 401
