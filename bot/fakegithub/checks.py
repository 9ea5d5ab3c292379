"""Check runs, workflow runs and statuses: JSON, actions, endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.fakegithub.calls import (
    REPO_ROUTE,
    ApiAnswer,
    ApiCall,
    Route,
    cut_page,
    page_answer,
    requires_read,
    requires_write,
)
from bot.fakegithub.model import (
    Annotation,
    ApiRefusal,
    App,
    CheckRun,
    CommitStatus,
    PullRequest,
    Repository,
    WorkflowRun,
    invalid_refusal,
    node_id,
    not_found_refusal,
)
from bot.fakegithub.pulls import pulls_at
from bot.fakegithub.repositories import Actions, Actor
from bot.fakegithub.shapes import (
    ShapeJson,
    addresses,
    app_json,
    avatar_url,
    fields,
    format_time,
    page_url,
    repository_json,
    repository_url,
    user_json,
)
from bot.fakegithub.world import World

ACTIONS_SLUG = "github-actions"
"""The App whose check runs are the jobs of workflows."""


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """What a check says about its result."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: tuple[Annotation, ...] = ()


_RUN_FIELDS = ("head_sha", "status", "conclusion", "started_at", "completed_at")


def check_run_json(world: World, run: CheckRun) -> ShapeJson:
    """A check run; pull requests from forks are not named in it."""
    api = f"{repository_url(world, run.repository)}/check-runs/{run.id}"
    page = f"{page_url(world, run.repository)}/runs/{run.id}"
    output = fields(run, "title", "summary", "text") | addresses(api, "annotations")
    return fields(run, "id", "name", "node_id", "external_id", *_RUN_FIELDS) | {
        "url": api,
        "html_url": page,
        "details_url": run.details_url or page,
        "output": output | {"annotations_count": len(run.annotations)},
        "check_suite": {"id": run.suite_id},
        "app": app_json(world, run.app),
        "pull_requests": [_minimal(world, pull) for pull in pulls_at(run.repository, run.head_sha)],
    }


def check_suite_json(world: World, run: CheckRun) -> ShapeJson:
    """The suite around a check run, as its webhook has it."""
    pulls = pulls_at(run.repository, run.head_sha)
    return fields(run, "head_sha", "status", "conclusion") | {
        "id": run.suite_id,
        "node_id": node_id("CS", run.suite_id),
        "head_branch": pulls[0].head_ref if pulls else None,
        "url": f"{repository_url(world, run.repository)}/check-suites/{run.suite_id}",
        "before": None,
        "after": run.head_sha,
        "pull_requests": [_minimal(world, pull) for pull in pulls],
        "app": app_json(world, run.app),
        "created_at": format_time(run.started_at),
        "updated_at": format_time(run.completed_at or run.started_at),
    }


def workflow_run_json(world: World, run: WorkflowRun) -> ShapeJson:
    """A run of a workflow; its status and conclusion come from its jobs."""
    repository, commit = run.repository, run.repository.objects.commits[run.head_sha]
    actions = f"{repository_url(world, repository)}/actions"
    api, workflow = f"{actions}/runs/{run.id}", f"{actions}/workflows/{run.workflow_id}"
    suite = f"{repository_url(world, repository)}/check-suites/{run.suite_id}"
    statuses, conclusions = {job.status for job in run.jobs}, {job.conclusion for job in run.jobs}
    status = statuses.pop() if len(statuses) == 1 else "in_progress" if statuses else "queued"
    failed = sorted(str(conclusion) for conclusion in conclusions - {"success", "skipped", "neutral"})
    person = {"name": commit.login, "email": f"{commit.login}@users.noreply.github.com"}
    pulls = pulls_at(repository, run.head_sha)
    created, actor = format_time(run.created_at), user_json(world, run.actor)
    return {
        **fields(run, "id", "name", "node_id", "head_branch", "head_sha", "event", "workflow_id"),
        **addresses(api, "jobs", "logs", "artifacts", "cancel", "rerun"),
        **dict.fromkeys(("created_at", "updated_at", "run_started_at"), created),
        **dict.fromkeys(("actor", "triggering_actor"), actor),
        "check_suite_id": run.suite_id,
        "check_suite_node_id": node_id("CS", run.suite_id),
        "path": f".github/workflows/{run.name.lower().replace(' ', '-')}.yml",
        "display_title": commit.message.partition("\n")[0],
        "run_number": [*repository.workflow_runs].index(run.id) + 1,
        "run_attempt": run.attempt,
        "status": status,
        "conclusion": None if status != "completed" else failed[0] if failed else "success",
        "url": api,
        "html_url": f"{page_url(world, repository)}/actions/runs/{run.id}",
        "pull_requests": [_minimal(world, pull) for pull in pulls],
        "check_suite_url": suite,
        "previous_attempt_url": f"{api}/attempts/{run.attempt - 1}" if run.attempt > 1 else None,
        "workflow_url": workflow,
        "referenced_workflows": [{"path": path, "sha": run.head_sha} for path in run.called],
        "head_commit": {
            "id": commit.sha,
            "tree_id": commit.tree_sha,
            "message": commit.message,
            "timestamp": format_time(commit.at),
            "author": person,
            "committer": person,
        },
        "repository": repository_json(world, repository),
        "head_repository": repository_json(world, run.head_repository),
    }


def annotation_json(world: World, run: CheckRun, annotation: Annotation) -> ShapeJson:
    """A finding at a place."""
    blob = f"{page_url(world, run.repository)}/blob/{run.head_sha}/{annotation.path}"
    return asdict(annotation) | {"blob_href": blob}


STATUS_FIELDS = ("state", "description", "target_url", "context", "created_at")


def status_json(world: World, repository: Repository, status: CommitStatus) -> ShapeJson:
    """One commit status."""
    return fields(status, "id", "node_id", *STATUS_FIELDS) | {
        "url": f"{repository_url(world, repository)}/statuses/{status.sha}",
        "avatar_url": avatar_url(status.creator),
        "updated_at": format_time(status.created_at),
    }


def combined_status_json(
    world: World, repository: Repository, sha: str, statuses: Sequence[CommitStatus]
) -> ShapeJson:
    """The newest status of every context, and what they come to."""
    newest = {status.context: status for status in statuses if status.sha == sha}
    states = {item.state for item in newest.values()}
    failed = states & {"failure", "error"}
    state = "failure" if failed else "success" if states == {"success"} else "pending"
    api = repository_url(world, repository)
    return {
        "state": state,
        "sha": sha,
        "total_count": len(newest),
        "statuses": [status_json(world, repository, item) for item in newest.values()],
        "repository": repository_json(world, repository),
        "commit_url": f"{api}/commits/{sha}",
        "url": f"{api}/commits/{sha}/status",
    }


def _minimal(world: World, pull: PullRequest) -> ShapeJson:
    api = repository_url(world, pull.repository)
    repository = {"id": pull.repository.id, "name": pull.repository.name, "url": api}
    return {
        "id": pull.pull_id,
        "number": pull.number,
        "url": f"{api}/pulls/{pull.number}",
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": repository},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": repository},
    }


class CheckActions(Actions):
    """Check runs and commit statuses."""

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
        run = CheckRun(
            self.new_id(),
            self._suite_id(repository, sha, by) if workflow is None else workflow.suite_id,
            repository,
            by,
            name,
            sha,
            status,
            None,
            self.now(),
            completed_at=None,
        )
        if workflow is not None:
            run.details_url = f"{page_url(self, repository)}/actions/runs/{workflow.id}/job/{run.id}"
        repository.check_runs[run.id] = run
        self._emit_check(run, "created")
        return run

    def start_workflow(
        self, pull: PullRequest, name: str = "CI", *, event: str = "pull_request", by: Actor | None = None
    ) -> WorkflowRun:
        """Run a workflow of GitHub Actions on the head; its jobs are checks with `workflow=`."""
        repository = pull.repository
        ids = (run.workflow_id for run in repository.workflow_runs.values() if run.name == name)
        run = WorkflowRun(
            self.new_id(),
            self.new_id(),
            next(ids, None) or self.new_id(),
            repository,
            name,
            event,
            pull.head_ref,
            pull.head_sha,
            pull.head_repository or repository,
            self.account(by or pull.user),
            self.now(),
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

    def other_app(self, slug: str) -> App:
        """Another App by its slug; created if there is none."""
        if slug not in self.apps:
            owner, bot = self.account(f"{slug}-makers", "Organization"), self.account(f"{slug}[bot]")
            granted = {"checks": "write", "metadata": "read"}
            self.apps[slug] = App(self.new_id(), slug, slug, owner, bot, None, granted, (), self.now())
        return self.apps[slug]

    def _suite_id(self, repository: Repository, sha: str, app: App) -> int:
        """The suite of an App on a commit; all its runs there are in it."""
        runs = repository.check_runs.values()
        same = (run.suite_id for run in runs if run.app is app and run.head_sha == sha)
        return next(same, None) or self.new_id()

    def _emit_check(self, run: CheckRun, action: str) -> None:
        content = check_run_json(self, run) | {"check_suite": check_suite_json(self, run)}
        self.emit("check_run", run.repository, run.app.bot, {"action": action, "check_run": content})


_MAX_ANNOTATIONS = 50
_MAX_TEXT = 65_535


def create_run(call: ApiCall) -> ApiAnswer:
    """A new check run of the calling App."""
    name, sha = call.text("name", "CheckRun"), call.text("head_sha", "CheckRun")
    if sha not in call.repository.objects.commits:
        raise ApiRefusal(422, f"No commit found for SHA: {sha}")
    output = _output(call.fields)
    status = call.fields.get("status", "queued")
    run = call.github.start_check_run(call.repository, sha, name, app=call.github.app, status=status)
    _apply(call, run, output)
    return ApiAnswer(check_run_json(call.github, run), status=201)


def update_run(call: ApiCall) -> ApiAnswer:
    """More about a check run of the calling App."""
    run = _run(call)
    if run.app is not call.github.app:
        raise ApiRefusal(
            403, "Invalid app_id - check run can only be modified by the GitHub App that created it."
        )
    output = _output(call.fields)
    run.name = call.fields.get("name", run.name)
    run.status = call.fields.get("status", run.status)
    _apply(call, run, output)
    return ApiAnswer(check_run_json(call.github, run))


def list_annotations(call: ApiCall) -> ApiAnswer:
    """What a check run found."""
    run = _run(call)
    return page_answer(
        call, run.annotations, lambda github, annotation: annotation_json(github, run, annotation)
    )


def list_runs(call: ApiCall) -> ApiAnswer:
    """The check runs of a commit; of an App's runs with one name the newest, unless all are asked for."""
    sha = call.repository.branches.get(call.params["ref"], call.params["ref"])
    name, app_id = call.query.get("check_name"), call.query.get("app_id")
    runs = [
        run
        for run in call.repository.check_runs.values()
        if run.head_sha == sha and name in {None, run.name} and app_id in {None, str(run.app.id)}
    ]
    if call.query.get("filter", "latest") == "latest":
        runs = list({(run.app.id, run.name): run for run in runs}.values())
    page, headers = cut_page(call, runs)
    body = {"total_count": len(runs), "check_runs": [check_run_json(call.github, run) for run in page]}
    return ApiAnswer(body, headers=headers)


def list_workflow_runs(call: ApiCall) -> ApiAnswer:
    """The runs of workflows, newest first; only here GitHub names the event that started a run."""
    suite, runs = call.query.get("check_suite_id"), reversed(call.repository.workflow_runs.values())
    chosen = [run for run in runs if suite in {None, str(run.suite_id)}]
    page, headers = cut_page(call, chosen)
    shown = [workflow_run_json(call.github, run) for run in page]
    return ApiAnswer({"total_count": len(chosen), "workflow_runs": shown}, headers=headers)


def get_workflow_run(call: ApiCall) -> ApiAnswer:
    """One run of a workflow."""
    return ApiAnswer(workflow_run_json(call.github, call.find(call.repository.workflow_runs, "run_id")))


def get_job_log(call: ApiCall) -> ApiAnswer:
    """Where a job's log can be read for a minute, without a token; a job that still runs has none."""
    job = call.find(call.repository.check_runs, "job_id")
    if job.log is None or job.status != "completed":
        raise not_found_refusal()
    return ApiAnswer(status=302, headers={"Location": f"{call.github.logs_url}/{job.id}"})


def get_status(call: ApiCall) -> ApiAnswer:
    """What the statuses of a commit come to."""
    sha = call.repository.branches.get(call.params["ref"], call.params["ref"])
    if sha not in call.repository.objects.commits:
        raise not_found_refusal()
    return ApiAnswer(combined_status_json(call.github, call.repository, sha, call.repository.statuses))


def _apply(call: ApiCall, run: CheckRun, output: CheckOutput | None) -> None:
    run.external_id = call.fields.get("external_id", run.external_id)
    run.details_url = call.fields.get("details_url", run.details_url)
    conclusion = call.fields.get("conclusion")
    if conclusion is not None:
        call.github.complete_check_run(run, conclusion, output)
    else:
        call.github.describe_check_run(run, output)


def _output(body: dict[str, Any]) -> CheckOutput | None:
    if body.get("status") == "completed" and body.get("conclusion") is None:
        raise invalid_refusal("CheckRun", "conclusion", "missing_field")
    output = body.get("output")
    if output is None:
        return None
    annotations = output.get("annotations", ())
    if len(annotations) > _MAX_ANNOTATIONS:
        raise ApiRefusal(422, "Invalid request.\n\nNo more than 50 items are allowed.")
    if any(len(output.get(part) or "") > _MAX_TEXT for part in ("summary", "text")):
        raise invalid_refusal("CheckRun", "output", "too_large")
    parsed = tuple(Annotation(**annotation) for annotation in annotations)
    return CheckOutput(output.get("title"), output.get("summary"), output.get("text"), parsed)


def _run(call: ApiCall) -> CheckRun:
    return call.find(call.repository.check_runs, "check_run_id")


_RUN = f"{REPO_ROUTE}/check-runs/{{check_run_id}}"

CHECK_ROUTES = (
    Route("POST", f"{REPO_ROUTE}/check-runs", create_run, requires_write("checks")),
    Route("PATCH", _RUN, update_run, requires_write("checks")),
    Route("GET", f"{_RUN}/annotations", list_annotations, requires_read("checks")),
    Route("GET", f"{REPO_ROUTE}/commits/{{ref}}/check-runs", list_runs, requires_read("checks")),
    Route("GET", f"{REPO_ROUTE}/actions/runs", list_workflow_runs, requires_read("actions")),
    Route("GET", f"{REPO_ROUTE}/actions/runs/{{run_id}}", get_workflow_run, requires_read("actions")),
    Route("GET", f"{REPO_ROUTE}/actions/jobs/{{job_id}}/logs", get_job_log, requires_read("actions")),
    Route("GET", f"{REPO_ROUTE}/commits/{{ref}}/status", get_status, requires_read("statuses")),
)
