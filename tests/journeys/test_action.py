"""The GitHub Action, run as a runner runs it: its script in a process of its own, against the real server."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from bot.gates.rule_book import CONFIG_FILE
from tests.journeys.harness import Harness
from tests.journeys.oidc_issuer import JOB_SECRET, run_issuer
from tests.journeys.submitted_documents import PAGE, make_sarif_log
from tests.judges.judge import Judge

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOW = ".github/workflows/ci.yml"
CONFIG = "version: 1\nvalidators:\n  rules:\n    E501: date_errors\n"


class PublicHarness(Harness):
    """A bot with an address of its own, which takes the tokens of an issuer."""

    def __init__(self, database_url, issuer_url):
        super().__init__(database_url)
        self.issuer_url = issuer_url
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self):
        return replace(super().settings, port=self.port, public_url=self.url, oidc_issuer=self.issuer_url)


@dataclass
class StepResult:
    """What one run of the action left behind."""

    code: int
    output: str
    summary: str
    outputs: dict[str, str]


@pytest.fixture
async def issuer():
    async with run_issuer() as issuer:
        yield issuer


@pytest.fixture
def store_url(sqlite_url):
    return sqlite_url


@pytest.fixture
async def harness(store_url, issuer):
    judge = Judge()
    harness = PublicHarness(store_url, issuer.url)
    async with harness.github as github:
        judge.watch(github)
        yield harness
    assert judge.violations == []


@pytest.fixture
async def journey(harness, pull):
    """A running bot that knows the pull request; the workflow is on the default branch."""
    async with harness.run_bot():
        harness.advance_clock()
        harness.github.push(pull, {PAGE: "# A claim\n\nIt holds indeed.\n"})
        await harness.wait_until_idle()
        yield harness


@pytest.fixture
def knowledge(harness):
    repository = harness.github.repository("acme/knowledge", collaborators={"alice": "write"})
    harness.github.commit_to_default_branch(repository, {CONFIG_FILE: CONFIG, WORKFLOW: "name: CI\n"})
    return repository


@pytest.fixture
def run_of(harness, knowledge, pull, issuer):
    """Start a run of the workflow, and let the issuer sign for its job."""

    def starting(path=WORKFLOW, **changes):
        run = harness.github.start_workflow(pull, "CI")
        for name, value in changes.items():
            setattr(run, name, value)
        issuer.claims = {
            "repository": "acme/knowledge",
            "repository_id": str(knowledge.id),
            "run_id": str(run.id),
            "workflow": "CI",
            "workflow_ref": f"acme/knowledge/{path}@refs/pull/{pull.number}/merge",
            "sha": "f" * 40,  # GitHub's merge of the head into the base
        }
        return run

    return starting


@pytest.fixture
def act(journey, pull, issuer, tmp_path):
    """Run the action's step with these inputs, as a runner would."""

    async def acting(report, name="report.sarif", *, job=True, **inputs):
        (tmp_path / name).write_bytes(report if isinstance(report, bytes) else json.dumps(report).encode())
        event = {"pull_request": {"number": pull.number, "head": {"sha": pull.head_sha}}}
        (tmp_path / "event.json").write_text(json.dumps(event))
        given = {
            "server": journey.url,
            "file": name,
            **{key.replace("_", "-"): value for key, value in inputs.items()},
        }
        (step,) = ACTION["runs"]["steps"]
        filled = {
            variable: given.get(source.removeprefix("${{ inputs.").removesuffix(" }}"), _default(source))
            for variable, source in step["env"].items()
        }
        files = {"GITHUB_OUTPUT": tmp_path / "output", "GITHUB_STEP_SUMMARY": tmp_path / "summary"}
        for file in files.values():
            file.write_text("")
        secrets = {
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{issuer.url}/token?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": JOB_SECRET,
        }
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_REPOSITORY": "acme/knowledge",
            "GITHUB_WORKSPACE": str(tmp_path),
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_SHA": "f" * 40,
            **{name: str(file) for name, file in files.items()},
            **(secrets if job else {}),
            **filled,
        }
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-e",
            "-c",
            step["run"],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        await journey.wait_until_idle()
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return StepResult(
            process.returncode, output.decode(), files["GITHUB_STEP_SUMMARY"].read_text(), outputs
        )

    return acting


def _default(source):
    return ACTION["inputs"][source.removeprefix("${{ inputs.").removesuffix(" }}")].get("default", "")


async def test_a_job_hands_in_a_report_and_sees_what_was_mapped(journey, pull, act, run_of):
    run_of()
    done = await act(make_sarif_log("E501", "F401"))
    assert (done.code, done.outputs["results"], done.outputs["mapped"]) == (0, "2", "1"), done.output
    assert "2 result(s) were handed in for #" in done.summary
    assert "Rules without a tag: `F401`." in done.summary
    (comment,) = journey.comments(pull)
    assert "(Source: validation by `CI / ruff` @ " in comment
    assert journey.markers(pull)[0]["head"] == pull.head_sha


async def test_a_job_that_waits_fails_where_its_report_blocks(act, run_of):
    run_of()
    done = await act(make_sarif_log("E501", "F401"), wait="true")
    assert (done.code, done.outputs["blocking"]) == (1, "1"), done.output
    assert "Applied: 2 finding(s), 1 of them blocking." in done.summary
    assert f"| `date_errors` blocks | `{PAGE}:1` | `E501 is broken here` |" in done.summary
    assert f"| `F401` | `{PAGE}:1` | `F401 is broken here` |" in done.summary
    assert (
        "::error title=Whetstone::The validation blocks the pull request: 1 blocking finding(s)."
        in done.output
    )


async def test_a_clean_report_of_the_same_workflow_and_tool_lifts_the_former_at_the_same_head(
    journey, pull, act, run_of
):
    run_of()
    await act(make_sarif_log("E501"))
    assert journey.markers(pull)[0]["verdict"] != "accept"
    done = await act(make_sarif_log(), wait="true")
    assert (done.code, done.outputs["blocking"]) == (0, "0"), done.output
    assert journey.markers(pull)[0]["verdict"] == "accept"


async def test_the_token_is_masked_and_shown_to_nobody_else(act, run_of):
    run_of()
    done = await act(make_sarif_log())
    (masked,) = [line for line in done.output.splitlines() if line.startswith("::add-mask::")]
    assert done.output.count(masked.removeprefix("::add-mask::")) == 1
    assert masked.removeprefix("::add-mask::") not in done.summary


async def test_a_given_token_is_used_instead(journey, pull, act):
    token = journey.github.user_token("alice")
    done = await act(make_sarif_log("E501"), job=False, token=token)
    assert done.code == 0, done.output
    assert "(Source: validation by `ruff` @ " in journey.comments(pull)[0]


async def test_every_problem_of_a_report_is_in_the_log(act, run_of):
    run_of()
    done = await act(b'{"findings": [{"tag": "x"}]}', "findings.json")
    assert done.code == 1
    assert "422%0A/findings/0/message is missing" in done.output
    assert '%0A/findings/0/tag is "x"' in done.output


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"job": False}, "The job has no OIDC token. Give it `permissions: id-token: write`"),
        ({"file": "missing.sarif"}, "missing.sarif can't be read: No such file or directory"),
        ({"server": "http://whetstone.example"}, "`server` must be an https:// address."),
        ({"wait": "maybe"}, "`wait` must be true or false."),
        ({"pull_request": "x"}, "No pull request: run on `pull_request`"),
        ({"pull_request": "99"}, "404: There is no such pull request."),
    ],
)
async def test_what_is_wrong_with_the_step_is_said_in_one_line(act, run_of, inputs, reason):
    run_of()
    done = await act(make_sarif_log("E501"), **inputs)
    assert (done.code, f"::error title=Whetstone::{reason}" in done.output) == (1, True), done.output
    assert done.outputs == {}


async def refused(act, reason):
    done = await act(make_sarif_log())
    assert (done.code, reason in done.output) == (1, True), done.output


async def test_a_pull_request_that_changes_its_workflow_is_refused(journey, pull, act, run_of):
    journey.github.push(pull, {WORKFLOW: "name: CI\n# always clean\n"})
    await journey.wait_until_idle()
    run_of()
    await refused(act, f"403: The pull request changes {WORKFLOW}, which this run came from")


async def test_a_pull_request_that_adds_the_workflow_is_refused(journey, pull, act, run_of):
    journey.github.push(pull, {".github/workflows/own.yml": "name: CI\n"})
    await journey.wait_until_idle()
    run_of(path=".github/workflows/own.yml")
    await refused(act, "403: The pull request changes .github/workflows/own.yml")


async def test_a_pull_request_that_changes_a_workflow_which_its_own_calls_is_refused(
    journey, pull, act, run_of
):
    journey.github.push(pull, {".github/workflows/lint.yml": "on: workflow_call\n"})
    await journey.wait_until_idle()
    run_of(called=("acme/knowledge/.github/workflows/lint.yml@refs/heads/main",))
    await refused(act, "403: The pull request changes .github/workflows/lint.yml")


async def test_a_workflow_that_changed_on_the_base_branch_alone_is_fine(journey, knowledge, act, run_of):
    journey.github.commit_to_default_branch(knowledge, {WORKFLOW: "name: CI\n# newer\n"})
    run_of()
    assert (await act(make_sarif_log())).code == 0


async def test_a_run_about_another_commit_is_refused(knowledge, act, run_of):
    run_of(head_sha=knowledge.branches[knowledge.default_branch])
    await refused(act, "which is not a head of this pull request")


async def test_a_run_of_a_fork_is_refused(journey, act, run_of):
    fork = journey.github.repository("mallory/knowledge")
    run_of(head_repository=fork)
    await refused(act, "403: The run is for a commit of a fork")


async def test_a_run_that_github_does_not_know_is_refused(act, run_of, issuer):
    run_of()
    issuer.claims["run_id"] = "123"
    await refused(act, "403: GitHub has no run 123 of a workflow in this repository.")


async def test_a_token_of_another_repository_is_refused(act, run_of, issuer):
    run_of()
    issuer.claims["repository"] = "mallory/knowledge"
    await refused(act, "404: The repository does not exist")


async def test_a_token_with_this_repositorys_name_and_another_number_is_refused(act, run_of, issuer):
    run_of()
    issuer.claims["repository_id"] = "4711"
    await refused(act, "404: The repository does not exist")


async def test_an_app_that_may_not_read_runs_says_what_to_grant(journey, act, run_of):
    run_of()
    message = {"message": "Resource not accessible by integration"}
    journey.github.fail("GET", "*/actions/runs/*", status=403, body=message)
    await refused(act, "accept its permission “Actions: read-only”")


def test_zizmor_has_nothing_against_the_action():
    zizmor = Path(sys.executable).with_name("zizmor")
    command = [zizmor, "--offline", "--quiet", "--color=never", "--persona", "pedantic", ROOT / "action.yml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own linter
    assert (done.returncode, done.stdout) == (0, "No findings to report. Good job!\n"), done.stdout


def test_the_script_needs_nothing_but_python():
    script = (ROOT / "bin" / "submit_validation.py").read_text(encoding="utf-8")
    imported = [
        line.split()[1].partition(".")[0]
        for line in script.splitlines()
        if line.startswith(("import ", "from "))
    ]
    assert set(imported) <= set(sys.stdlib_module_names)
