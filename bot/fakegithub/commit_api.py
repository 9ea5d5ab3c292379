"""Endpoints of commits, trees, files, check runs and statuses."""

from __future__ import annotations

import posixpath
from datetime import datetime
from typing import Any

from bot.fakegithub import git
from bot.fakegithub.calls import (
    REPO_ROUTE,
    ApiAnswer,
    ApiCall,
    Route,
    cut_page,
    page_answer,
    requires_read,
    requires_write,
    show,
)
from bot.fakegithub.git import SUBMODULE, SYMLINK, GitCommit, GitEntry
from bot.fakegithub.github import CheckOutput
from bot.fakegithub.model import (
    Annotation,
    ApiRefusal,
    CheckRun,
    PullRequest,
    invalid_refusal,
    not_found_refusal,
)
from bot.fakegithub.pull_shapes import (
    annotation_json,
    blob_json,
    check_run_json,
    combined_status_json,
    commit_json,
    file_change_json,
    file_json,
    folder_json,
    full_commit_json,
    simple_pull_json,
    tree_json,
    workflow_run_json,
)
from bot.fakegithub.shapes import page_url, repository_url
from bot.fakegithub.tokens import InstallationCaller

_MAX_ANNOTATIONS = 50
_MAX_TEXT = 65_535


def create_run(call: ApiCall) -> ApiAnswer:
    """A new check run of the calling App."""
    name, sha = call.text("name", "CheckRun"), call.text("head_sha", "CheckRun")
    if not isinstance(call.caller, InstallationCaller):
        raise ApiRefusal(403, "You must authenticate via a GitHub App.")
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
    name, status = call.query.get("check_name"), call.query.get("status")
    app_id = call.query.get("app_id")
    runs = [
        run
        for run in call.repository.check_runs.values()
        if run.head_sha == sha
        and name in {None, run.name}
        and status in {None, run.status}
        and app_id in {None, str(run.app.id)}
    ]
    if call.query.get("filter", "latest") == "latest":
        runs = list({(run.app.id, run.name): run for run in runs}.values())
    page, headers = cut_page(call, runs)
    body = {"total_count": len(runs), "check_runs": [check_run_json(call.github, run) for run in page]}
    return ApiAnswer(body, headers=headers)


def list_workflow_runs(call: ApiCall) -> ApiAnswer:
    """The runs of workflows, newest first; only here GitHub names the event that started a run."""
    suite, sha = call.query.get("check_suite_id"), call.query.get("head_sha")
    runs = [
        run
        for run in reversed(call.repository.workflow_runs.values())
        if suite in {None, str(run.suite_id)}
        and sha in {None, run.head_sha}
        and call.query.get("event", run.event) == run.event
        and call.query.get("branch", run.head_branch) == run.head_branch
        and call.query.get("actor", run.actor.login) == run.actor.login
    ]
    page, headers = cut_page(call, runs)
    shown = [workflow_run_json(call.github, run) for run in page]
    return ApiAnswer({"total_count": len(runs), "workflow_runs": shown}, headers=headers)


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
    if started := call.fields.get("started_at"):
        run.started_at = datetime.fromisoformat(started)
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
    Route("GET", _RUN, show(_run, check_run_json), requires_read("checks")),
    Route("PATCH", _RUN, update_run, requires_write("checks")),
    Route("GET", f"{_RUN}/annotations", list_annotations, requires_read("checks")),
    Route("GET", f"{REPO_ROUTE}/commits/{{ref}}/check-runs", list_runs, requires_read("checks")),
    Route("GET", f"{REPO_ROUTE}/actions/runs", list_workflow_runs, requires_read("actions")),
    Route("GET", f"{REPO_ROUTE}/actions/runs/{{run_id}}", get_workflow_run, requires_read("actions")),
    Route("GET", f"{REPO_ROUTE}/actions/jobs/{{job_id}}/logs", get_job_log, requires_read("actions")),
    Route("GET", f"{REPO_ROUTE}/commits/{{ref}}/status", get_status, requires_read("statuses")),
)


_LARGEST_FILE = 100_000_000
_MOST_FILES = 300


def list_commits(call: ApiCall) -> ApiAnswer:
    """The commits of a branch, newest first, also only those that touched a path."""
    repository, path = call.repository, call.query.get("path")
    start = _commit(call, call.query.get("sha", repository.default_branch))
    commits = [repository.objects.commits[sha] for sha in repository.objects.ancestors(start.sha)]
    touching = [commit for commit in commits if path is None or _touches(call, commit, path)]
    return page_answer(call, touching, lambda github, commit: commit_json(github, repository, commit))


def get_commit(call: ApiCall) -> ApiAnswer:
    """One commit with what it changed."""
    return ApiAnswer(full_commit_json(call.github, call.repository, _commit(call, call.params["ref"])))


def list_pulls_of_commit(call: ApiCall) -> ApiAnswer:
    """The pull requests that contain a commit."""
    sha, objects = _commit(call, call.params["commit_sha"]).sha, call.repository.objects
    pulls = [thread for thread in call.repository.threads.values() if isinstance(thread, PullRequest)]
    containing = [
        pull
        for pull in pulls
        if sha in {commit.sha for commit in objects.between(pull.base_sha, pull.head_sha)}
        or sha == pull.merge_commit_sha
    ]
    return page_answer(call, containing, simple_pull_json)


def list_commits_of_pull(call: ApiCall) -> ApiAnswer:
    """A pull request's commits, oldest first."""
    pull = call.pull
    commits = pull.repository.objects.between(pull.base_sha, pull.head_sha)
    return page_answer(call, commits, lambda github, commit: commit_json(github, pull.repository, commit))


def compare(call: ApiCall) -> ApiAnswer:
    """How two commits differ, seen from where they parted."""
    repository, objects = call.repository, call.repository.objects
    names = call.params["basehead"].split("...")
    if len(names) != 2:
        raise not_found_refusal()
    base, head = (_commit(call, name.rpartition(":")[2]) for name in names)
    common = objects.merge_base(base.sha, head.sha)
    if common is None:
        raise ApiRefusal(404, f"No common ancestor between {names[0]} and {names[1]}.")
    ahead, behind = objects.between(base.sha, head.sha), objects.between(head.sha, base.sha)
    page, headers = cut_page(call, ahead)
    api = f"{repository_url(call.github, repository)}/compare/{call.params['basehead']}"
    pages = f"{page_url(call.github, repository)}/compare/{call.params['basehead']}"
    changed = git.diff_commits(objects, common, head.sha)[:_MOST_FILES]
    body = {
        "url": api,
        "html_url": pages,
        "permalink_url": pages,
        "diff_url": f"{pages}.diff",
        "patch_url": f"{pages}.patch",
        "base_commit": commit_json(call.github, repository, base),
        "merge_base_commit": commit_json(call.github, repository, objects.commits[common]),
        "status": _standing(len(ahead), len(behind)),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [commit_json(call.github, repository, commit) for commit in page],
        "files": [file_change_json(call.github, repository, head.sha, change) for change in changed],
    }
    return ApiAnswer(body, headers=headers)


def get_tree(call: ApiCall) -> ApiAnswer:
    """A tree, by its own name or a commit's."""
    repository, name = call.repository, call.params["tree_sha"]
    sha = name if name in repository.objects.trees else _commit(call, name).tree_sha
    return ApiAnswer(tree_json(call.github, repository, sha, recursive="recursive" in call.query))


def get_blob(call: ApiCall) -> ApiAnswer:
    """A blob."""
    repository, sha = call.repository, call.params["file_sha"]
    if sha not in repository.objects.blobs:
        raise not_found_refusal()
    if "raw" in call.accept:
        return ApiAnswer(raw=repository.objects.blobs[sha])
    return ApiAnswer(blob_json(call.github, repository, sha))


def get_contents(call: ApiCall) -> ApiAnswer:
    """A file, a folder, a symlink or a submodule, as it was at a ref."""
    repository, path = call.repository, call.params["path"].strip("/")
    ref = call.query.get("ref", repository.default_branch)
    files = dict(_commit(call, ref, f"No commit found for the ref {ref}", 404).files)
    entry = files.get(path)
    if entry is None:
        below = {name: entry for name, entry in files.items() if not path or name.startswith(f"{path}/")}
        if not below:
            raise not_found_refusal()
        return ApiAnswer(folder_json(call.github, repository, ref, path, below))
    entry = _followed(call, files, path, entry)
    data = repository.objects.blobs.get(entry.sha, b"")
    if len(data) > _LARGEST_FILE:
        errors = [{"resource": "Blob", "field": "data", "code": "too_large"}]
        raise ApiRefusal(403, "This API returns blobs up to 100 MB in size.", errors=errors)
    if "raw" in call.accept and entry.mode not in {SUBMODULE, SYMLINK}:
        return ApiAnswer(raw=data, headers={"Content-Type": "application/vnd.github.raw+json; charset=utf-8"})
    return ApiAnswer(file_json(call.github, repository, ref, path, entry))


def _commit(call: ApiCall, name: str, missing: str = "", status: int = 422) -> GitCommit:
    repository = call.repository
    branch = name.removeprefix("refs/").removeprefix("heads/")
    sha = repository.branches.get(repository.default_branch if branch == "HEAD" else branch, name)
    short = (commit for commit in repository.objects.commits if len(sha) >= 7 and commit.startswith(sha))
    full_sha = next(short, None)
    if full_sha is None:
        raise ApiRefusal(status, missing or f"No commit found for SHA: {name}")
    return repository.objects.commits[full_sha]


def _touches(call: ApiCall, commit: GitCommit, path: str) -> bool:
    parents = [call.repository.objects.commits[parent].files for parent in commit.parents]
    return all(commit.files.get(path) != files.get(path) for files in parents or [{}])


def _standing(ahead: int, behind: int) -> str:
    if ahead and behind:
        return "diverged"
    return "ahead" if ahead else "behind" if behind else "identical"


def _followed(call: ApiCall, files: dict[str, GitEntry], path: str, entry: GitEntry) -> GitEntry:
    """The file that a symlink leads to, where that is in the repository."""
    if entry.mode != SYMLINK:
        return entry
    target = call.repository.objects.blobs[entry.sha].decode()
    return files.get(posixpath.normpath(posixpath.join(posixpath.dirname(path), target)), entry)


_READ, _READ_PULLS = requires_read("contents"), requires_read("contents", "pull_requests")
_COMMITS = f"{REPO_ROUTE}/commits"

GIT_ROUTES = (
    Route("GET", _COMMITS, list_commits, _READ),
    Route("GET", f"{_COMMITS}/{{commit_sha}}/pulls", list_pulls_of_commit, _READ_PULLS),
    Route("GET", f"{_COMMITS}/{{ref}}", get_commit, _READ),
    Route(
        "GET",
        f"{REPO_ROUTE}/pulls/{{pull_number}}/commits",
        list_commits_of_pull,
        requires_read("pull_requests"),
    ),
    Route("GET", f"{REPO_ROUTE}/compare/{{basehead}}", compare, _READ),
    Route("GET", f"{REPO_ROUTE}/git/trees/{{tree_sha}}", get_tree, _READ),
    Route("GET", f"{REPO_ROUTE}/git/blobs/{{file_sha}}", get_blob, _READ),
    Route("GET", f"{REPO_ROUTE}/contents/{{path}}", get_contents, _READ),
)
