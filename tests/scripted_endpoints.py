"""Endpoints of the fake GitHub that the demo's story never asks for, and what they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from bot.fakegithub.calls import (
    ANYBODY,
    APP_ONLY,
    REPO_ROUTE,
    ApiAnswer,
    ApiCall,
    Route,
    requires_read,
    requires_write,
)
from bot.fakegithub.checks import CheckRun, WorkflowRun, find_run, pulls_at, resolve_ref
from bot.fakegithub.commits import entry_json, find_commit, get_file
from bot.fakegithub.git import TREE, GitEntry
from bot.fakegithub.issues import Label
from bot.fakegithub.model import (
    Account,
    ApiRefusal,
    Installation,
    Json,
    Node,
    Repository,
    addresses,
    fields,
    invalid_refusal,
    not_found_refusal,
    same,
    show,
)
from bot.fakegithub.pulls import files_json
from bot.fakegithub.repositories import email_of
from bot.fakegithub.reviews import InlineDraft, Review, ReviewComment, find_review_comment


@dataclass(slots=True, eq=False)
class CommitStatus(Node):
    """A commit status."""

    prefix = "SC"
    api = "{0.repository.url}/statuses/{0.sha}"
    shown = "id node_id state description target_url context created_at url"
    repository: Repository
    sha: str
    context: str
    state: str
    creator: Account
    description: str | None = None
    target_url: str | None = None

    def _more(self) -> Json:
        return {"avatar_url": self.creator.avatar_url, "updated_at": show(self.created_at)}


def _get_status(call: ApiCall) -> Json:
    """The newest status of every context on a commit, and what they come to."""
    sha, repository = resolve_ref(call), call.repository
    if sha not in repository.objects.commits:
        raise not_found_refusal()
    statuses = [status for status in call.github.statuses if status.repository is repository]
    newest = {status.context: status for status in statuses if status.sha == sha}
    states = {status.state for status in newest.values()}
    failed = states & {"failure", "error"}
    return {
        "state": "failure" if failed else "success" if states == {"success"} else "pending",
        "sha": sha,
        "total_count": len(newest),
        "statuses": show([*newest.values()]),
        "repository": repository.json,
        "commit_url": f"{repository.url}/commits/{sha}",
        "url": f"{repository.url}/commits/{sha}/status",
    }


def _jobs(run: WorkflowRun) -> list[CheckRun]:
    """The newest job of every name."""
    jobs = [job for job in run.repository.check_runs.values() if job.suite_id == run.suite_id]
    return list({job.name: job for job in jobs}.values())


def _workflow_run_json(run: WorkflowRun) -> Json:
    """A run of a workflow; its status and conclusion come from its jobs."""
    repository, commit = run.repository, run.repository.objects.commits[run.head_sha]
    statuses, conclusions = ({getattr(job, part) for job in _jobs(run)} for part in ("status", "conclusion"))
    status = statuses.pop() if len(statuses) == 1 else "in_progress" if statuses else "queued"
    failed = sorted(str(conclusion) for conclusion in conclusions - {"success", "skipped", "neutral"})
    person = {"name": commit.login, "email": email_of(commit.login)}
    names = "id name node_id head_branch head_sha event workflow_id url html_url repository head_repository"
    return {
        **fields(run, names),
        **addresses(run.url, "jobs logs artifacts cancel rerun"),
        **same(run.created_at, "created_at updated_at run_started_at"),
        **same(run.actor.or_ghost, "actor triggering_actor"),
        "check_suite_id": run.suite_id,
        "path": f".github/workflows/{run.name.lower().replace(' ', '-')}.yml",
        "display_title": commit.message.partition("\n")[0],
        "run_number": [*repository.workflow_runs].index(run.id) + 1,
        "run_attempt": run.attempt,
        "status": status,
        "conclusion": None if status != "completed" else failed[0] if failed else "success",
        "pull_requests": pulls_at(repository, run.head_sha),
        "check_suite_url": f"{repository.url}/check-suites/{run.suite_id}",
        "workflow_url": f"{repository.url}/actions/workflows/{run.workflow_id}",
        "referenced_workflows": [{"path": path, "sha": run.head_sha} for path in run.called],
        "head_commit": {
            "id": commit.sha,
            "tree_id": commit.tree_sha,
            "message": commit.message,
            "timestamp": show(commit.at),
            "author": person,
            "committer": person,
        },
    }


def _list_workflow_runs(call: ApiCall) -> list[Json]:
    """The runs of workflows, newest first; only here GitHub names the event that started a run."""
    suite, runs = call.query.get("check_suite_id"), reversed(call.repository.workflow_runs.values())
    return [_workflow_run_json(run) for run in runs if suite in {None, str(run.suite_id)}]


def _get_workflow_run(call: ApiCall) -> Json:
    return _workflow_run_json(call.find(call.repository.workflow_runs, "run_id"))


def _list_annotations(call: ApiCall) -> list[Json]:
    run = find_run(call)
    blob = f"{run.repository.html_url}/blob/{run.head_sha}"
    return [asdict(found) | {"blob_href": f"{blob}/{found.path}"} for found in run.annotations]


def _get_contents(call: ApiCall) -> Json | ApiAnswer:
    """What is at a path: a file, or what is in a folder."""
    repository, path = call.repository, call.params["path"].strip("/")
    ref = call.query.get("ref", repository.default_branch)
    files = find_commit(call, ref, f"No commit found for the ref {ref}", 404).files
    prefix = f"{path}/" if path else ""
    below = {name: entry for name, entry in files.items() if name.startswith(prefix)}
    if path in files or not below:
        return get_file(call)
    return ApiAnswer(_folder_json(repository, ref, prefix, below))


def _folder_json(repository: Repository, ref: str, prefix: str, below: Mapping[str, GitEntry]) -> list[Json]:
    paths = sorted({prefix + name.removeprefix(prefix).partition("/")[0] for name in below})
    return [
        entry_json(
            repository, ref, path, below.get(path) or GitEntry(TREE, _folder_sha(repository, ref, path))
        )
        for path in paths
    ]


def _folder_sha(repository: Repository, ref: str, path: str) -> str:
    sha = repository.objects.commits[repository.branches.get(ref, ref)].tree_sha
    for name in path.split("/"):
        sha = repository.objects.trees[sha][name].sha
    return sha


def _create_review(call: ApiCall) -> Review:
    """Create a review by the App, which comments and judges nothing."""
    if call.fields.get("event") != "COMMENT":
        raise invalid_refusal("PullRequestReview", "event")
    names = ("path", "body", "line", "start_line", "side")
    comments = [
        InlineDraft(**{name: draft[name] for name in names if name in draft})
        for draft in call.fields.get("comments", ())
    ]
    body = call.fields.get("body") or ""
    return call.github.submit_review(call.pull, call.actor, "COMMENTED", body, comments)


def _reply(call: ApiCall) -> ReviewComment:
    to = find_review_comment(call)
    if to.review.pull is not call.pull:
        raise not_found_refusal()
    if call.pull.locked:
        raise ApiRefusal(403, "Unable to create comment because issue is locked.")
    return call.github.reply(to, call.actor, call.text("body", "PullRequestReviewComment"))


def _add_labels(call: ApiCall) -> list[Label]:
    for label in call.fields.get("labels", ()):
        call.github.add_label(call.thread, label, by=call.actor)
    return call.thread.labels


def _remove_label(call: ApiCall) -> list[Label]:
    if call.params["name"] not in {label.name for label in call.thread.labels}:
        raise ApiRefusal(404, "Label does not exist")
    call.github.remove_label(call.thread, call.params["name"], by=call.actor)
    return call.thread.labels


def _get_repository_installation(call: ApiCall) -> Installation:
    installation = call.github.installation_of(call.repository)
    if installation is None:
        raise not_found_refusal()
    return installation


def _get_webhook_config(call: ApiCall) -> Json:
    """Where deliveries go; the secret is shown as stars."""
    secret, url = "********" if call.github.deliveries.secret else "", call.github.webhook_url or ""
    return {"content_type": "json", "insecure_ssl": "0", "secret": secret, "url": url}


def _convert_manifest(call: ApiCall) -> Json:
    """A new App's credentials for the code that its maker was given; a code is good once."""
    private_pem = call.github.manifest_codes.pop(call.params["code"], None)
    if private_pem is None:
        raise not_found_refusal()
    return call.github.app.json | {
        "client_id": "Iv23li0123456789abcd",
        "client_secret": "made-up-client-secret",
        "webhook_secret": call.github.deliveries.secret,
        "pem": private_pem,
    }


_PULL, _ISSUE = f"{REPO_ROUTE}/pulls/{{pull_number}}", f"{REPO_ROUTE}/issues/{{issue_number}}"
_ACTIONS = f"{REPO_ROUTE}/actions/runs"
_THREADS = ("issues", "pull_requests")
_WRITE_PULLS = requires_write("pull_requests")

SCRIPTED_ROUTES: tuple[Route, ...] = (
    Route("GET", f"{REPO_ROUTE}/installation", APP_ONLY, _get_repository_installation),
    Route("GET", "/app/hook/config", APP_ONLY, _get_webhook_config),
    Route("POST", "/app-manifests/{code}/conversions", ANYBODY, _convert_manifest, 201),
    Route("GET", f"{_ISSUE}/labels", requires_read(*_THREADS), lambda call: call.thread.labels),
    Route("POST", f"{_ISSUE}/labels", requires_write(*_THREADS), _add_labels),
    Route("DELETE", f"{_ISSUE}/labels/{{name}}", requires_write(*_THREADS), _remove_label),
    Route("POST", f"{_PULL}/reviews", _WRITE_PULLS, _create_review),
    Route("POST", f"{_PULL}/comments/{{comment_id}}/replies", _WRITE_PULLS, _reply, 201),
    Route(
        "GET",
        f"{_PULL}/files",
        requires_read("pull_requests"),
        lambda call: files_json(call.repository, call.pull.head_sha, call.pull.changes),
    ),
    Route(
        "GET",
        f"{REPO_ROUTE}/check-runs/{{check_run_id}}/annotations",
        requires_read("checks"),
        _list_annotations,
    ),
    Route("GET", _ACTIONS, requires_read("actions"), _list_workflow_runs, listed_as="workflow_runs"),
    Route("GET", f"{_ACTIONS}/{{run_id}}", requires_read("actions"), _get_workflow_run),
    Route("GET", f"{REPO_ROUTE}/commits/{{ref}}/status", requires_read("statuses"), _get_status),
    Route("GET", f"{REPO_ROUTE}/contents/{{path}}", requires_read("contents"), _get_contents),
)


def with_scripted(routes: tuple[Route, ...]) -> tuple[Route, ...]:
    """These routes with the scripted ones, which replace others of the same address."""
    replaced = {(route.method, route.path) for route in SCRIPTED_ROUTES}
    others = [route for route in routes if (route.method, route.path) not in replaced]
    return (*SCRIPTED_ROUTES, *others)
