"""JSON of pull requests, reviews, commits, trees and checks."""

from __future__ import annotations

import base64
from collections.abc import Sequence
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
    node_id,
)
from bot.fakegithub.shapes import (
    ShapeJson,
    app_json,
    author_association,
    format_optional_time,
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


def check_run_json(world: World, made: CheckRun) -> ShapeJson:
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
        "started_at": format_time(made.started_at),
        "completed_at": format_optional_time(made.completed_at),
        "output": {
            "title": made.title,
            "summary": made.summary,
            "text": made.text,
            "annotations_count": len(made.annotations),
            "annotations_url": f"{api}/annotations",
        },
        "check_suite": {"id": made.suite_id},
        "app": app_json(world, made.app),
        "pull_requests": [_minimal(world, each) for each in pulls_at(made.repository, made.head_sha)],
    }


def check_suite_json(world: World, made: CheckRun) -> ShapeJson:
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
        "app": app_json(world, made.app),
        "created_at": format_time(made.started_at),
        "updated_at": format_time(made.completed_at or made.started_at),
    }


def pulls_at(where: Repository, sha: str) -> list[PullRequest]:
    """The open pull requests of this repository's own branches with this head."""
    pulls = [each for each in where.threads.values() if isinstance(each, PullRequest)]
    return [
        each
        for each in pulls
        if each.head_sha == sha and each.state == "open" and each.head_repository is where
    ]


def annotation_json(world: World, made: CheckRun, one: Annotation) -> ShapeJson:
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


def status_json(world: World, where: Repository, made: CommitStatus) -> ShapeJson:
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
        "created_at": format_time(made.created_at),
        "updated_at": format_time(made.created_at),
    }


def combined_status_json(
    world: World, where: Repository, sha: str, statuses: Sequence[CommitStatus]
) -> ShapeJson:
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
        "statuses": [status_json(world, where, each) for each in newest.values()],
        "repository": repository_json(world, where),
        "commit_url": f"{api}/commits/{sha}",
        "url": f"{api}/commits/{sha}/status",
    }


def _minimal(world: World, pull: PullRequest) -> ShapeJson:
    api = repository_url(world, pull.repository)
    where = {"id": pull.repository.id, "name": pull.repository.name, "url": api}
    return {
        "id": pull.pull_id,
        "number": pull.number,
        "url": f"{api}/pulls/{pull.number}",
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": where},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": where},
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
        "id": pull.pull_id,
        "node_id": node_id("PR", pull.pull_id),
        "url": api,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_url(world, pull),
        "number": pull.number,
        "state": pull.state,
        "locked": pull.locked,
        "title": pull.title,
        "user": user_json(world, pull.user),
        "body": pull.body,
        "created_at": format_time(pull.created_at),
        "updated_at": format_time(pull.updated_at),
        "closed_at": format_optional_time(pull.closed_at),
        "merged_at": format_optional_time(pull.merged_at),
        "merge_commit_sha": pull.merge_commit_sha,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "labels": [label_json(world, pull.repository, each) for each in pull.labels],
        "milestone": None,
        "draft": pull.draft,
        "head": _end(world, pull.head_repository, pull.head_ref, pull.head_sha, pull),
        "base": _end(world, pull.repository, pull.base_ref, pull.base_sha, pull),
        "author_association": author_association(pull.repository, pull.user),
        "auto_merge": None,
        "active_lock_reason": None,
    } | _links(world, pull)


def pull_request_json(world: World, pull: PullRequest) -> ShapeJson:
    """A pull request in full."""
    changed = pull_changes(pull)
    comments = pull.repository.comments.values()
    return simple_pull_json(world, pull) | {
        "merged": pull.merged,
        "mergeable": None if pull.merged else True,
        "rebaseable": None if pull.merged else True,
        "mergeable_state": "unknown" if pull.merged else "clean",
        "merged_by": optional_user_json(world, pull.merged_by),
        "comments": sum(each.issue is pull for each in comments),
        "review_comments": sum(len(each.comments) for each in pull.reviews.values()),
        "maintainer_can_modify": False,
        "commits": len(pull.repository.objects.between(pull.base_sha, pull.head_sha)),
        "additions": sum(each.additions for each in changed),
        "deletions": sum(each.deletions for each in changed),
        "changed_files": len(changed),
    }


def pull_changes(pull: PullRequest) -> tuple[git.FileChange, ...]:
    """What the pull request changes against the commit it branched off from."""
    objects = pull.repository.objects
    base = objects.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
    return git.diff_commits(objects, base, pull.head_sha)


def file_change_json(world: World, made: Repository, sha: str, change: git.FileChange) -> ShapeJson:
    """One file of a diff."""
    path = quote(change.path)
    api = repository_url(world, made)
    written: dict[str, Any] = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page_url(world, made)}/blob/{sha}/{path}",
        "raw_url": f"{page_url(world, made)}/raw/{sha}/{path}",
        "contents_url": f"{api}/contents/{path}?ref={sha}",
    }
    if change.patch is not None:
        written["patch"] = change.patch
    if change.previous is not None:
        written["previous_filename"] = change.previous
    return written


def review_json(world: World, made: Review) -> ShapeJson:
    """A review, as the API answers it: its state is in upper case."""
    page = f"{pull_page(world, made.pull)}#pullrequestreview-{made.id}"
    written: ShapeJson = {
        "id": made.id,
        "node_id": made.node_id,
        "user": optional_user_json(world, made.user),
        "body": made.body,
        "state": made.state,
        "html_url": page,
        "pull_request_url": pull_url(world, made.pull),
        "author_association": author_association(made.pull.repository, made.user),
        "_links": {"html": {"href": page}, "pull_request": {"href": pull_url(world, made.pull)}},
        "commit_id": made.commit_id,
    }
    if made.submitted_at is not None:
        written["submitted_at"] = format_time(made.submitted_at)
    return written


def review_comment_json(world: World, made: ReviewComment) -> ShapeJson:
    """An inline comment; outdated, it has lost its line but keeps the original one."""
    pull = made.review.pull
    api = f"{repository_url(world, pull.repository)}/pulls/comments/{made.id}"
    page = f"{pull_page(world, pull)}#discussion_r{made.id}"
    on_line = made.subject_type == "line"
    start_side = made.side if made.start_line is not None else None
    written: ShapeJson = {
        "id": made.id,
        "node_id": made.node_id,
        "url": api,
        "html_url": page,
        "pull_request_url": pull_url(world, pull),
        "pull_request_review_id": made.review.id,
        "user": optional_user_json(world, made.user),
        "body": made.body,
        "path": made.path,
        "diff_hunk": made.diff_hunk,
        "commit_id": made.commit_id if made.outdated else pull.head_sha,
        "original_commit_id": made.commit_id,
        "created_at": format_time(made.created_at),
        "updated_at": format_time(made.updated_at),
        "author_association": author_association(pull.repository, made.user),
        "subject_type": made.subject_type,
        "side": made.side,
        "start_side": start_side if on_line else None,
        "line": None if made.outdated or not on_line else made.line,
        "start_line": None if made.outdated or not on_line else made.start_line,
        "original_line": made.line if on_line else 1,
        "original_start_line": made.start_line if on_line else None,
        "position": None if made.outdated else made.position,
        "original_position": made.position,
        "reactions": reactions_json(f"{api}/reactions", made.reactions),
        "_links": {
            "self": {"href": api},
            "html": {"href": page},
            "pull_request": {"href": pull_url(world, pull)},
        },
    }
    if made.in_reply_to is not None:
        written["in_reply_to_id"] = made.in_reply_to.id
    return written


def _end(world: World, made: Repository | None, ref: str, sha: str, pull: PullRequest) -> ShapeJson:
    """The head or the base; a deleted fork leaves the head without a repository."""
    owner = made.owner if made is not None else pull.user
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user_json(world, owner),
        "repo": None if made is None else repository_json(world, made),
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


def commit_json(world: World, where: Repository, made: GitCommit) -> ShapeJson:
    """A commit, without its files."""
    api = f"{repository_url(world, where)}/commits/{made.sha}"
    person = {
        "name": made.login,
        "email": f"{made.login}@users.noreply.github.com",
        "date": format_time(made.at),
    }
    account = optional_user_json(world, world.find_account(made.login))
    trees = f"{repository_url(world, where)}/git/trees"
    return {
        "sha": made.sha,
        "node_id": node_id("C", int(made.sha[:12], 16)),
        "url": api,
        "html_url": f"{page_url(world, where)}/commit/{made.sha}",
        "comments_url": f"{api}/comments",
        "author": account,
        "committer": account,
        "parents": [_parent(world, where, each) for each in made.parents],
        "commit": {
            "url": f"{repository_url(world, where)}/git/commits/{made.sha}",
            "author": person,
            "committer": person,
            "message": made.message,
            "comment_count": 0,
            "tree": {"sha": made.tree_sha, "url": f"{trees}/{made.tree_sha}"},
            "verification": {
                "verified": False,
                "reason": "unsigned",
                "signature": None,
                "payload": None,
                "verified_at": None,
            },
        },
    }


def full_commit_json(world: World, where: Repository, made: GitCommit) -> ShapeJson:
    """A commit with what it changed against its first parent."""
    changed = git.diff_commits(where.objects, made.parents[0] if made.parents else None, made.sha)
    additions = sum(each.additions for each in changed)
    deletions = sum(each.deletions for each in changed)
    return commit_json(world, where, made) | {
        "stats": {"additions": additions, "deletions": deletions, "total": additions + deletions},
        "files": [file_change_json(world, where, made.sha, each) for each in changed],
    }


def tree_json(world: World, where: Repository, sha: str, *, recursive: bool) -> ShapeJson:
    """A tree, with all that is in its folders where asked; it can be told to be cut short."""
    items = _deep(where, sha, "") if recursive else list(where.objects.trees[sha])
    api = f"{repository_url(world, where)}/git"
    shown = items[: len(items) // 2] if where.truncate_trees else items
    return {
        "sha": sha,
        "url": f"{api}/trees/{sha}",
        "tree": [_tree_item(where, api, each) for each in shown],
        "truncated": where.truncate_trees,
    }


def file_json(world: World, where: Repository, ref: str, path: str, entry: GitEntry) -> ShapeJson:
    """A file with its content; a symlink or a submodule with where it leads."""
    data = where.objects.blobs.get(entry.sha, b"")
    written = entry_json(world, where, ref, path, entry)
    if entry.mode == SUBMODULE:
        return written | {"type": "submodule", "submodule_git_url": entry.submodule_url}
    if entry.mode == SYMLINK:
        return written | {"type": "symlink", "target": data.decode()}
    if len(data) > _LARGEST_INLINE:
        return written | {"content": "", "encoding": "none"}
    return written | {"content": _wrapped(data), "encoding": "base64"}


def folder_json(
    world: World, where: Repository, ref: str, path: str, items: dict[str, GitEntry]
) -> list[ShapeJson]:
    """What is in a folder: files, and the folders below it."""
    prefix = f"{path}/" if path else ""
    names = sorted({name.removeprefix(prefix).partition("/")[0] for name in items})
    listed = []
    for name in names:
        entry = items.get(prefix + name) or GitEntry(TREE, _folder_sha(where, ref, prefix + name))
        listed.append(entry_json(world, where, ref, prefix + name, entry))
    return listed


def blob_json(world: World, where: Repository, sha: str) -> ShapeJson:
    """A blob in base64."""
    data = where.objects.blobs[sha]
    return {
        "sha": sha,
        "node_id": node_id("B", int(sha[:12], 16)),
        "url": f"{repository_url(world, where)}/git/blobs/{sha}",
        "size": len(data),
        "content": _wrapped(data),
        "encoding": "base64",
    }


def entry_json(world: World, where: Repository, ref: str, path: str, entry: GitEntry) -> ShapeJson:
    """A file or folder as its folder lists it."""
    is_folder, is_submodule = entry.mode == TREE, entry.mode == SUBMODULE
    api = f"{repository_url(world, where)}/contents/{quote(path)}?ref={quote(ref, safe='')}"
    kind = "tree" if is_folder else "blob"
    git = f"{repository_url(world, where)}/git/{kind}s/{entry.sha}"
    page = f"{page_url(world, where)}/{kind}/{ref}/{quote(path)}"
    raw = f"https://raw.githubusercontent.com/{where.full_name}/{ref}/{quote(path)}"
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": entry.sha,
        "size": len(where.objects.blobs.get(entry.sha, b"")),
        "url": api,
        "html_url": page,
        "git_url": git,
        "download_url": None if is_folder or is_submodule else raw,
        # GitHub lists a submodule as a file, for callers from before it knew submodules.
        "type": "dir" if is_folder else "symlink" if entry.mode == SYMLINK else "file",
        "_links": {"self": api, "git": git, "html": page},
    }


def _parent(world: World, where: Repository, sha: str) -> dict[str, str]:
    return {
        "sha": sha,
        "url": f"{repository_url(world, where)}/commits/{sha}",
        "html_url": f"{page_url(world, where)}/commit/{sha}",
    }


def _deep(where: Repository, sha: str, prefix: str) -> list[TreeItem]:
    found = []
    for item in where.objects.trees[sha]:
        found.append(TreeItem(prefix + item.path, item.mode, item.sha))
        if item.mode == TREE:
            found += _deep(where, item.sha, f"{prefix}{item.path}/")
    return found


def _tree_item(where: Repository, api: str, item: TreeItem) -> dict[str, Any]:
    kind = _KINDS.get(item.mode, "blob")
    written: dict[str, Any] = {"path": item.path, "mode": item.mode, "type": kind, "sha": item.sha}
    if kind == "blob":
        written["size"] = len(where.objects.blobs[item.sha])
    if kind != "commit":
        written["url"] = f"{api}/{kind}s/{item.sha}"
    return written


def _folder_sha(where: Repository, ref: str, path: str) -> str:
    sha = where.objects.commits[where.branches.get(ref, ref)].tree_sha
    for name in path.split("/"):
        sha = next(each.sha for each in where.objects.trees[sha] if each.path == name)
    return sha


def _wrapped(data: bytes) -> str:
    """Base64 in lines, as GitHub sends it."""
    return base64.encodebytes(data).decode()
