"""JSON of pull requests, reviews, commits, trees and checks."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from bot.fakegithub import git
from bot.fakegithub.git import SUBMODULE, SYMLINK, TREE, GitCommit, GitEntry, TreeItem
from bot.fakegithub.model import (
    Annotation,
    CheckRun,
    CommitStatus,
    PullRequest,
    Repository,
    Review,
    ReviewComment,
    WorkflowRun,
    node_id,
)
from bot.fakegithub.shapes import (
    THREAD_FIELDS,
    ShapeJson,
    addresses,
    app_json,
    author_association,
    avatar_url,
    fields,
    format_time,
    issue_url,
    label_json,
    optional_user_json,
    page_url,
    reactions_json,
    repository_json,
    repository_url,
    user_json,
)
from bot.fakegithub.world import World

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


def pulls_at(repository: Repository, sha: str) -> list[PullRequest]:
    """The open pull requests of this repository's own branches with this head."""
    pulls = [thread for thread in repository.threads.values() if isinstance(thread, PullRequest)]
    return [
        pull
        for pull in pulls
        if pull.head_sha == sha and pull.state == "open" and pull.head_repository is repository
    ]


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


def pull_url(world: World, pull: PullRequest) -> str:
    """The pull request's address in the API."""
    return f"{repository_url(world, pull.repository)}/pulls/{pull.number}"


def pull_page(world: World, pull: PullRequest) -> str:
    """The pull request's address for people."""
    return f"{page_url(world, pull.repository)}/pull/{pull.number}"


def simple_pull_json(world: World, pull: PullRequest) -> ShapeJson:
    """A pull request as lists and most payloads have it."""
    api, page = pull_url(world, pull), pull_page(world, pull)
    return {
        **fields(pull, *THREAD_FIELDS, "merged_at", "merge_commit_sha", "draft"),
        **dict.fromkeys(("assignee", "milestone", "auto_merge", "active_lock_reason")),
        "id": pull.pull_id,
        "node_id": node_id("PR", pull.pull_id),
        "url": api,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_url(world, pull),
        "user": user_json(world, pull.user),
        "assignees": [],
        "requested_reviewers": [user_json(world, reviewer) for reviewer in pull.requested_reviewers],
        "requested_teams": [],
        "labels": [label_json(world, label) for label in pull.labels],
        "head": _end(world, pull.head_repository, pull.head_ref, pull.head_sha, pull),
        "base": _end(world, pull.repository, pull.base_ref, pull.base_sha, pull),
        "author_association": author_association(pull.repository, pull.user),
    } | _links(world, pull)


def pull_request_json(world: World, pull: PullRequest) -> ShapeJson:
    """A pull request in full."""
    changes = pull_changes(pull)
    comments = pull.repository.comments.values()
    return simple_pull_json(world, pull) | {
        "merged": pull.merged,
        "mergeable": None if pull.merged else True,
        "rebaseable": None if pull.merged else True,
        "mergeable_state": "unknown" if pull.merged else "clean",
        "merged_by": optional_user_json(world, pull.merged_by),
        "comments": sum(comment.issue is pull for comment in comments),
        "review_comments": sum(len(review.comments) for review in pull.reviews.values()),
        "maintainer_can_modify": False,
        "commits": len(pull.repository.objects.between(pull.base_sha, pull.head_sha)),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def pull_changes(pull: PullRequest) -> tuple[git.FileChange, ...]:
    """What the pull request changes against the commit it branched off from."""
    objects = pull.repository.objects
    base = objects.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
    return git.diff_commits(objects, base, pull.head_sha)


def file_change_json(world: World, repository: Repository, sha: str, change: git.FileChange) -> ShapeJson:
    """One file of a diff."""
    path = quote(change.path)
    api = repository_url(world, repository)
    content = fields(change, "sha", "status", "additions", "deletions") | {
        "filename": change.path,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page_url(world, repository)}/blob/{sha}/{path}",
        "raw_url": f"{page_url(world, repository)}/raw/{sha}/{path}",
        "contents_url": f"{api}/contents/{path}?ref={sha}",
    }
    if change.patch is not None:
        content["patch"] = change.patch
    if change.previous is not None:
        content["previous_filename"] = change.previous
    return content


def review_json(world: World, review: Review) -> ShapeJson:
    """A review, as the API answers it: its state is in upper case."""
    page = f"{pull_page(world, review.pull)}#pullrequestreview-{review.id}"
    pending = ("id", "node_id", "body", "state", "commit_id")
    return fields(review, *pending, *(("submitted_at",) if review.submitted_at else ())) | {
        "user": optional_user_json(world, review.user),
        "html_url": page,
        "pull_request_url": pull_url(world, review.pull),
        "author_association": author_association(review.pull.repository, review.user),
        "_links": {"html": {"href": page}, "pull_request": {"href": pull_url(world, review.pull)}},
    }


def review_comment_json(world: World, comment: ReviewComment) -> ShapeJson:
    """An inline comment; outdated, it has lost its line but keeps the original one."""
    pull = comment.review.pull
    api = f"{repository_url(world, pull.repository)}/pulls/comments/{comment.id}"
    page = f"{pull_page(world, pull)}#discussion_r{comment.id}"
    on_line = comment.subject_type == "line"
    start_side = comment.side if comment.start_line is not None else None
    same = ("id", "node_id", "body", "path", "diff_hunk", "created_at", "updated_at", "subject_type", "side")
    content = fields(comment, *same) | {
        "url": api,
        "html_url": page,
        "pull_request_url": pull_url(world, pull),
        "pull_request_review_id": comment.review.id,
        "user": optional_user_json(world, comment.user),
        "commit_id": comment.commit_id if comment.outdated else pull.head_sha,
        "original_commit_id": comment.commit_id,
        "author_association": author_association(pull.repository, comment.user),
        "start_side": start_side if on_line else None,
        "line": None if comment.outdated or not on_line else comment.line,
        "start_line": None if comment.outdated or not on_line else comment.start_line,
        "original_line": comment.line if on_line else 1,
        "original_start_line": comment.start_line if on_line else None,
        "position": None if comment.outdated else comment.position,
        "original_position": comment.position,
        "reactions": reactions_json(f"{api}/reactions", comment.reactions),
        "_links": {
            "self": {"href": api},
            "html": {"href": page},
            "pull_request": {"href": pull_url(world, pull)},
        },
    }
    if comment.in_reply_to is not None:
        content["in_reply_to_id"] = comment.in_reply_to.id
    return content


def _end(world: World, repository: Repository | None, ref: str, sha: str, pull: PullRequest) -> ShapeJson:
    """The head or the base; a deleted fork leaves the head without a repository."""
    owner = repository.owner if repository is not None else pull.user
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user_json(world, owner),
        "repo": None if repository is None else repository_json(world, repository),
    }


def _links(world: World, pull: PullRequest) -> ShapeJson:
    api, issue = pull_url(world, pull), issue_url(world, pull)
    repository_api = repository_url(world, pull.repository)
    addresses = {
        "self": api,
        "html": pull_page(world, pull),
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{api}/comments",
        "review_comment": f"{repository_api}/pulls/comments{{/number}}",
        "commits": f"{api}/commits",
        "statuses": f"{repository_api}/statuses/{pull.head_sha}",
    }
    named = {f"{name}_url": addresses[name] for name in list(addresses)[3:]}
    return named | {"_links": {name: {"href": address} for name, address in addresses.items()}}


_LARGEST_INLINE = 1_000_000  # above it GitHub leaves the content out of the JSON
_KINDS = {TREE: "tree", SUBMODULE: "commit"}


_UNSIGNED = {"verified": False, "reason": "unsigned"} | dict.fromkeys(("signature", "payload", "verified_at"))


def commit_json(world: World, repository: Repository, commit: GitCommit) -> ShapeJson:
    """A commit, without its files."""
    api = f"{repository_url(world, repository)}/commits/{commit.sha}"
    person = {
        "name": commit.login,
        "email": f"{commit.login}@users.noreply.github.com",
        "date": format_time(commit.at),
    }
    account = optional_user_json(world, world.find_account(commit.login))
    trees = f"{repository_url(world, repository)}/git/trees"
    return {
        "sha": commit.sha,
        "node_id": node_id("C", int(commit.sha[:12], 16)),
        "url": api,
        "html_url": f"{page_url(world, repository)}/commit/{commit.sha}",
        "comments_url": f"{api}/comments",
        "author": account,
        "committer": account,
        "parents": [_parent(world, repository, parent) for parent in commit.parents],
        "commit": {
            "url": f"{repository_url(world, repository)}/git/commits/{commit.sha}",
            "author": person,
            "committer": person,
            "message": commit.message,
            "comment_count": 0,
            "tree": {"sha": commit.tree_sha, "url": f"{trees}/{commit.tree_sha}"},
            "verification": _UNSIGNED,
        },
    }


def full_commit_json(world: World, repository: Repository, commit: GitCommit) -> ShapeJson:
    """A commit with what it changed against its first parent."""
    changes = git.diff_commits(repository.objects, commit.parents[0] if commit.parents else None, commit.sha)
    additions = sum(change.additions for change in changes)
    deletions = sum(change.deletions for change in changes)
    return commit_json(world, repository, commit) | {
        "stats": {"additions": additions, "deletions": deletions, "total": additions + deletions},
        "files": [file_change_json(world, repository, commit.sha, change) for change in changes],
    }


def tree_json(world: World, repository: Repository, sha: str, *, recursive: bool) -> ShapeJson:
    """A tree, recursive on request; a test can make it truncated."""
    items = _deep(repository, sha, "") if recursive else list(repository.objects.trees[sha])
    api = f"{repository_url(world, repository)}/git"
    page = items[: len(items) // 2] if repository.truncate_trees else items
    return {
        "sha": sha,
        "url": f"{api}/trees/{sha}",
        "tree": [_tree_item(repository, api, item) for item in page],
        "truncated": repository.truncate_trees,
    }


def file_json(world: World, repository: Repository, ref: str, path: str, entry: GitEntry) -> ShapeJson:
    """A file with its content; a symlink or a submodule with where it leads."""
    data = repository.objects.blobs.get(entry.sha, b"")
    content = entry_json(world, repository, ref, path, entry)
    if entry.mode == SUBMODULE:
        return content | {"type": "submodule", "submodule_git_url": entry.submodule_url}
    if entry.mode == SYMLINK:
        return content | {"type": "symlink", "target": data.decode()}
    if len(data) > _LARGEST_INLINE:
        return content | {"content": "", "encoding": "none"}
    return content | {"content": _wrapped(data), "encoding": "base64"}


def folder_json(
    world: World, repository: Repository, ref: str, path: str, items: dict[str, GitEntry]
) -> list[ShapeJson]:
    """What is in a folder: files, and the folders below it."""
    prefix = f"{path}/" if path else ""
    names = sorted({name.removeprefix(prefix).partition("/")[0] for name in items})
    listed = []
    for name in names:
        entry = items.get(prefix + name) or GitEntry(TREE, _folder_sha(repository, ref, prefix + name))
        listed.append(entry_json(world, repository, ref, prefix + name, entry))
    return listed


def blob_json(world: World, repository: Repository, sha: str) -> ShapeJson:
    """A blob in base64."""
    data = repository.objects.blobs[sha]
    return {
        "sha": sha,
        "node_id": node_id("B", int(sha[:12], 16)),
        "url": f"{repository_url(world, repository)}/git/blobs/{sha}",
        "size": len(data),
        "content": _wrapped(data),
        "encoding": "base64",
    }


def entry_json(world: World, repository: Repository, ref: str, path: str, entry: GitEntry) -> ShapeJson:
    """A file or folder as its folder lists it."""
    is_folder, is_submodule = entry.mode == TREE, entry.mode == SUBMODULE
    api = f"{repository_url(world, repository)}/contents/{quote(path)}?ref={quote(ref, safe='')}"
    kind = "tree" if is_folder else "blob"
    git = f"{repository_url(world, repository)}/git/{kind}s/{entry.sha}"
    page = f"{page_url(world, repository)}/{kind}/{ref}/{quote(path)}"
    raw = f"https://raw.githubusercontent.com/{repository.full_name}/{ref}/{quote(path)}"
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": entry.sha,
        "size": len(repository.objects.blobs.get(entry.sha, b"")),
        "url": api,
        "html_url": page,
        "git_url": git,
        "download_url": None if is_folder or is_submodule else raw,
        # GitHub lists a submodule as a file, for callers from before it knew submodules.
        "type": "dir" if is_folder else "symlink" if entry.mode == SYMLINK else "file",
        "_links": {"self": api, "git": git, "html": page},
    }


def _parent(world: World, repository: Repository, sha: str) -> dict[str, str]:
    return {
        "sha": sha,
        "url": f"{repository_url(world, repository)}/commits/{sha}",
        "html_url": f"{page_url(world, repository)}/commit/{sha}",
    }


def _deep(repository: Repository, sha: str, prefix: str) -> list[TreeItem]:
    items = []
    for item in repository.objects.trees[sha]:
        items.append(TreeItem(prefix + item.path, item.mode, item.sha))
        if item.mode == TREE:
            items += _deep(repository, item.sha, f"{prefix}{item.path}/")
    return items


def _tree_item(repository: Repository, api: str, item: TreeItem) -> dict[str, Any]:
    kind = _KINDS.get(item.mode, "blob")
    content: dict[str, Any] = {"path": item.path, "mode": item.mode, "type": kind, "sha": item.sha}
    if kind == "blob":
        content["size"] = len(repository.objects.blobs[item.sha])
    if kind != "commit":
        content["url"] = f"{api}/{kind}s/{item.sha}"
    return content


def _folder_sha(repository: Repository, ref: str, path: str) -> str:
    sha = repository.objects.commits[repository.branches.get(ref, ref)].tree_sha
    for name in path.split("/"):
        sha = next(tree.sha for tree in repository.objects.trees[sha] if tree.path == name)
    return sha


def _wrapped(data: bytes) -> str:
    """Base64 in lines, as GitHub sends it."""
    return base64.encodebytes(data).decode()
