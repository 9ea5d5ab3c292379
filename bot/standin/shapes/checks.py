"""How does GitHub write check runs, annotations and commit statuses?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.standin.model import Annotation, CheckRun, PullRequest, Repository, Status, node_id
from bot.standin.shapes.accounts import Json, app, optional_stamp, stamp
from bot.standin.shapes.repositories import page_url, repository, repository_url
from bot.standin.world import World


def check_run(world: World, made: CheckRun) -> Json:
    """A check run; pull requests from forks are not named in it."""
    api = f"{repository_url(world, made.repository)}/check-runs/{made.id}"
    page = f"{page_url(world, made.repository)}/runs/{made.id}"
    return {
        "id": made.id,
        "name": made.name,
        "node_id": node_id("CR", made.id),
        "head_sha": made.head_sha,
        "external_id": made.external_id,
        "url": api,
        "html_url": page,
        "details_url": made.details_url or page,
        "status": made.status,
        "conclusion": made.conclusion,
        "started_at": stamp(made.started_at),
        "completed_at": optional_stamp(made.completed_at),
        "output": {
            "title": made.title,
            "summary": made.summary,
            "text": made.text,
            "annotations_count": len(made.annotations),
            "annotations_url": f"{api}/annotations",
        },
        "check_suite": {"id": made.suite_id},
        "app": app(world, made.app),
        "pull_requests": [_minimal(world, each) for each in pulls_at(made.repository, made.head_sha)],
    }


def check_suite(world: World, made: CheckRun) -> Json:
    """The suite around a check run, as its webhook has it."""
    pulls = pulls_at(made.repository, made.head_sha)
    return {
        "id": made.suite_id,
        "node_id": node_id("CS", made.suite_id),
        "head_branch": pulls[0].head_ref if pulls else None,
        "head_sha": made.head_sha,
        "status": made.status,
        "conclusion": made.conclusion,
        "url": f"{repository_url(world, made.repository)}/check-suites/{made.suite_id}",
        "before": None,
        "after": made.head_sha,
        "pull_requests": [_minimal(world, each) for each in pulls],
        "app": app(world, made.app),
        "created_at": stamp(made.started_at),
        "updated_at": stamp(made.completed_at or made.started_at),
    }


def pulls_at(where: Repository, sha: str) -> list[PullRequest]:
    """The open pull requests of this repository's own branches with this head."""
    pulls = [each for each in where.threads.values() if isinstance(each, PullRequest)]
    return [
        each
        for each in pulls
        if each.head_sha == sha and each.state == "open" and each.head_repository is where
    ]


def annotation(world: World, made: CheckRun, one: Annotation) -> Json:
    """A finding at a place."""
    return {
        "path": one.path,
        "blob_href": f"{page_url(world, made.repository)}/blob/{made.head_sha}/{one.path}",
        "start_line": one.start_line,
        "end_line": one.end_line,
        "start_column": one.start_column,
        "end_column": one.end_column,
        "annotation_level": one.annotation_level,
        "title": one.title,
        "message": one.message,
        "raw_details": one.raw_details,
    }


def status(world: World, where: Repository, made: Status) -> Json:
    """One commit status."""
    return {
        "id": made.id,
        "node_id": node_id("SC", made.id),
        "url": f"{repository_url(world, where)}/statuses/{made.sha}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{made.creator.id}?v=4",
        "state": made.state,
        "description": made.description,
        "target_url": made.target_url,
        "context": made.context,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.created_at),
    }


def combined_status(world: World, where: Repository, sha: str, statuses: Sequence[Status]) -> Json:
    """The newest status of every context, and what they come to."""
    newest = {each.context: each for each in statuses if each.sha == sha}
    states = {each.state for each in newest.values()}
    failed = states & {"failure", "error"}
    state = "failure" if failed else "success" if states == {"success"} else "pending"
    api = repository_url(world, where)
    return {
        "state": state,
        "sha": sha,
        "total_count": len(newest),
        "statuses": [status(world, where, each) for each in newest.values()],
        "repository": repository(world, where),
        "commit_url": f"{api}/commits/{sha}",
        "url": f"{api}/commits/{sha}/status",
    }


def _minimal(world: World, pull: PullRequest) -> Json:
    api = repository_url(world, pull.repository)
    where = {"id": pull.repository.id, "name": pull.repository.name, "url": api}
    return {
        "id": pull.pull_id,
        "number": pull.number,
        "url": f"{api}/pulls/{pull.number}",
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": where},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": where},
    }
