"""Check runs and workflow runs: what they are, what Apps do with them, endpoints."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from bot.fakegithub.calls import REPO_ROUTE, ApiAnswer, ApiCall, Route, requires_read, requires_write
from bot.fakegithub.model import (
    Account,
    ApiRefusal,
    App,
    Json,
    Node,
    Repository,
    addresses,
    fields,
    invalid_refusal,
    node_id,
    not_found_refusal,
    show,
)
from bot.fakegithub.pulls import PullRequest, PullRequestActions
from bot.fakegithub.world import Actor

ACTIONS_SLUG = "github-actions"
"""The App whose check runs are the jobs of workflows."""


@dataclass(slots=True, eq=False)
class Annotation:
    """A check's finding at a place."""

    path: str
    start_line: int
    end_line: int
    annotation_level: str
    message: str
    title: str | None = None
    raw_details: str | None = None
    start_column: int | None = None
    end_column: int | None = None


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """What a check says about its result."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: tuple[Annotation, ...] = ()


def pulls_at(repository: Repository, sha: str) -> list[Json]:
    """The open pull requests with this head, but none from forks."""
    return [
        pull.in_short
        for pull in repository.threads.values()
        if isinstance(pull, PullRequest)
        and (pull.head_sha, pull.state, pull.head_repository) == (sha, "open", repository)
    ]


@dataclass(slots=True, eq=False)
class CheckRun(Node):
    """A check on a commit, by an App; `log` is that of a job of GitHub Actions."""

    prefix = "CR"
    api = "{0.repository.url}/check-runs/{0.id}"
    page = "{0.repository.html_url}/runs/{0.id}"
    shown = "id name node_id external_id head_sha status conclusion completed_at url html_url app"
    suite_id: int
    repository: Repository
    app: App
    name: str
    head_sha: str
    status: str
    conclusion: str | None = None
    completed_at: datetime | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    external_id: str = ""
    details_url: str | None = None
    annotations: list[Annotation] = field(default_factory=list)
    log: str | None = None

    def _more(self) -> Json:
        output = fields(self, "title summary text") | addresses(self.url, "annotations")
        return {
            "started_at": show(self.created_at),
            "details_url": self.details_url or self.html_url,
            "output": output | {"annotations_count": len(self.annotations)},
            "check_suite": {"id": self.suite_id},
            "pull_requests": pulls_at(self.repository, self.head_sha),
        }

    @property
    def suite(self) -> Json:
        """The suite that the run is in."""
        pulls = pulls_at(self.repository, self.head_sha)
        return fields(self, "head_sha status conclusion app created_at") | {
            "id": self.suite_id,
            "node_id": node_id("CS", self.suite_id),
            "head_branch": next((pull["head"]["ref"] for pull in pulls), None),
            "url": f"{self.repository.url}/check-suites/{self.suite_id}",
            "before": None,
            "after": self.head_sha,
            "pull_requests": pulls,
            "updated_at": show(self.completed_at or self.created_at),
        }


@dataclass(slots=True, eq=False)
class WorkflowRun(Node):
    """A workflow of GitHub Actions that ran on a commit; its jobs are the check runs of its suite."""

    prefix = "WFR"
    api = "{0.repository.url}/actions/runs/{0.id}"
    page = "{0.repository.html_url}/actions/runs/{0.id}"
    suite_id: int = field(init=False)
    workflow_id: int
    repository: Repository
    name: str
    event: str
    head_branch: str
    head_sha: str
    head_repository: Repository
    actor: Account
    attempt: int = 1
    called: tuple[str, ...] = ()  # reusable workflows, `owner/repo/path@ref`

    def __post_init__(self) -> None:
        Node.__post_init__(self)
        self.suite_id = self.world.new_id()


class CheckActions(PullRequestActions):
    """Check runs, and the workflows that they are jobs of."""

    def check(  # noqa: PLR0913  # a test names only what it changes
        self,
        pull: PullRequest,
        name: str,
        conclusion: str,
        output: CheckOutput | None = None,
        *,
        app: str = "ci",
        workflow: WorkflowRun | None = None,
        log: str | None = None,
    ) -> CheckRun:
        """A check on the pull request's head, from start to end, by another App or a job of a workflow."""
        run = self.start_check_run(pull.repository, pull.head_sha, name, app=app, workflow=workflow)
        run.log = log
        self.complete_check_run(run, conclusion, output)
        return run

    def start_check_run(  # noqa: PLR0913  # a test names only what it changes
        self,
        repository: Repository,
        sha: str,
        name: str,
        *,
        app: str | App = "ci",
        status: str = "in_progress",
        workflow: WorkflowRun | None = None,
    ) -> CheckRun:
        """Begin a check on a commit; a newer one of the same name is a rerun."""
        slug = ACTIONS_SLUG if workflow is not None else app
        by = slug if isinstance(slug, App) else self.other_app(slug)
        suite_id = self._suite_id(repository, sha, by) if workflow is None else workflow.suite_id
        run = CheckRun(self, suite_id, repository, by, name, sha, status)
        if workflow is not None:
            run.details_url = f"{workflow.html_url}/job/{run.id}"
        repository.check_runs[run.id] = run
        self._emit_check(run, "created")
        return run

    def start_workflow(
        self, pull: PullRequest, name: str = "CI", *, event: str = "pull_request", by: Actor | None = None
    ) -> WorkflowRun:
        """Run a workflow of GitHub Actions on the head; its jobs are checks with `workflow=`."""
        repository, actor = pull.repository, self.account(by or pull.user)
        ids = (run.workflow_id for run in repository.workflow_runs.values() if run.name == name)
        run = WorkflowRun(
            self,
            next(ids, None) or self.new_id(),
            repository,
            name,
            event,
            pull.head_ref,
            pull.head_sha,
            pull.head_repository or repository,
            actor,
        )
        repository.workflow_runs[run.id] = run
        self.changed()
        return run

    def complete_check_run(self, run: CheckRun, conclusion: str, output: CheckOutput | None = None) -> None:
        """End a check; more annotations are added to those it had."""
        self.describe_check_run(run, output)
        run.status, run.conclusion, run.completed_at = "completed", conclusion, self.now()
        self._emit_check(run, "completed")

    def describe_check_run(self, run: CheckRun, output: CheckOutput | None) -> None:
        """Say more about a check that goes on."""
        if output is not None:
            run.title, run.summary, run.text = output.title, output.summary, output.text
            run.annotations.extend(output.annotations)
        self.changed()

    def _suite_id(self, repository: Repository, sha: str, app: App) -> int:
        """The suite of an App on a commit; all its runs there are in it."""
        runs = repository.check_runs.values()
        suites = (run.suite_id for run in runs if run.app is app and run.head_sha == sha)
        return next(suites, None) or self.new_id()

    def _emit_check(self, run: CheckRun, action: str) -> None:
        content = run.json | {"check_suite": run.suite}
        self.emit("check_run", run.repository, run.app.bot, action=action, check_run=content)


_MAX_ANNOTATIONS = 50
_MAX_TEXT = 65_535


def _create_run(call: ApiCall) -> CheckRun:
    name, sha = call.text("name", "CheckRun"), call.text("head_sha", "CheckRun")
    if sha not in call.repository.objects.commits:
        raise ApiRefusal(422, f"No commit found for SHA: {sha}")
    output = _parse_output(call)
    status = call.fields.get("status", "queued")
    run = call.github.start_check_run(call.repository, sha, name, app=call.github.app, status=status)
    return _describe(call, run, output)


def _update_run(call: ApiCall) -> CheckRun:
    run = find_run(call)
    if run.app is not call.github.app:
        raise ApiRefusal(
            403, "Invalid app_id - check run can only be modified by the GitHub App that created it."
        )
    output = _parse_output(call)
    run.name, run.status = (call.fields.get(part, getattr(run, part)) for part in ("name", "status"))
    return _describe(call, run, output)


def _describe(call: ApiCall, run: CheckRun, output: CheckOutput | None) -> CheckRun:
    run.external_id = call.fields.get("external_id", run.external_id)
    run.details_url = call.fields.get("details_url", run.details_url)
    conclusion = call.fields.get("conclusion")
    if conclusion is not None:
        call.github.complete_check_run(run, conclusion, output)
    else:
        call.github.describe_check_run(run, output)
    return run


def _parse_output(call: ApiCall) -> CheckOutput | None:
    if call.fields.get("status") == "completed" and call.fields.get("conclusion") is None:
        raise invalid_refusal("CheckRun", "conclusion", "missing_field")
    output = call.fields.get("output")
    if output is None:
        return None
    annotations = output.get("annotations", ())
    if len(annotations) > _MAX_ANNOTATIONS:
        raise ApiRefusal(422, "Invalid request.\n\nNo more than 50 items are allowed.")
    if any(len(output.get(part) or "") > _MAX_TEXT for part in ("summary", "text")):
        raise invalid_refusal("CheckRun", "output", "too_large")
    parsed = tuple(Annotation(**annotation) for annotation in annotations)
    return CheckOutput(output.get("title"), output.get("summary"), output.get("text"), parsed)


def _list_runs(call: ApiCall) -> list[CheckRun]:
    """The check runs of a commit; of an App's runs with one name the newest, unless all are asked for."""
    sha = resolve_ref(call)
    name, app_id = call.query.get("check_name"), call.query.get("app_id")
    runs = [
        run
        for run in call.repository.check_runs.values()
        if run.head_sha == sha and name in {None, run.name} and app_id in {None, str(run.app.id)}
    ]
    if call.query.get("filter", "latest") == "latest":
        return list({(run.app.id, run.name): run for run in runs}.values())
    return runs


def _get_job_log(call: ApiCall) -> ApiAnswer:
    """Where a job's log can be read for a minute, without a token; a job that still runs has none."""
    job = call.find(call.repository.check_runs, "job_id")
    if job.log is None or job.status != "completed":
        raise not_found_refusal()
    return ApiAnswer(status=302, headers={"Location": f"{call.github.logs_url}/{job.id}"})


def _get_status(call: ApiCall) -> Json:
    """What the commit statuses come to; here nobody sets any."""
    sha = resolve_ref(call)
    if sha not in call.repository.objects.commits:
        raise not_found_refusal()
    address = f"{call.repository.url}/commits/{sha}"
    own = {"commit_url": address, "url": f"{address}/status", "repository": call.repository.json}
    return own | {"state": "pending", "sha": sha, "total_count": 0, "statuses": []}


def resolve_ref(call: ApiCall) -> str:
    """The commit that the path names, by a branch or itself."""
    return call.repository.branches.get(call.params["ref"], call.params["ref"])


def find_run(call: ApiCall) -> CheckRun:
    """The check run in the path."""
    return call.find(call.repository.check_runs, "check_run_id")


_AT = f"{REPO_ROUTE}/commits/{{ref}}"
_READ, _WRITE = requires_read("checks"), requires_write("checks")

CHECK_ROUTES = (
    Route("POST", f"{REPO_ROUTE}/check-runs", _WRITE, _create_run, 201),
    Route("PATCH", f"{REPO_ROUTE}/check-runs/{{check_run_id}}", _WRITE, _update_run),
    Route("GET", f"{_AT}/check-runs", _READ, _list_runs, listed_as="check_runs"),
    Route("GET", f"{REPO_ROUTE}/actions/jobs/{{job_id}}/logs", requires_read("actions"), _get_job_log),
    Route("GET", f"{_AT}/status", requires_read("statuses"), _get_status),
)
