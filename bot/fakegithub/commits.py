"""Commits, trees and files: JSON and endpoints."""

from __future__ import annotations

import base64
import posixpath
from typing import Any
from urllib.parse import quote

from bot.fakegithub import git
from bot.fakegithub.calls import REPO_ROUTE, ApiAnswer, ApiCall, Route, cut_page, page_answer, requires_read
from bot.fakegithub.git import SUBMODULE, SYMLINK, TREE, GitCommit, GitEntry, TreeItem
from bot.fakegithub.model import ApiRefusal, PullRequest, Repository, node_id, not_found_refusal
from bot.fakegithub.pulls import file_change_json, simple_pull_json
from bot.fakegithub.shapes import ShapeJson, format_time, optional_user_json, page_url, repository_url
from bot.fakegithub.world import World

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


_MOST_FILES = 300


def list_commits(call: ApiCall) -> ApiAnswer:
    """The commits of a branch, newest first, also only those that touched a path."""
    repository, path = call.repository, call.query.get("path")
    start = _commit(call, call.query.get("sha", repository.default_branch))
    commits = [repository.objects.commits[sha] for sha in repository.objects.ancestors(start.sha)]
    touching = [commit for commit in commits if path is None or _touches(call, commit, path)]
    return page_answer(call, touching, lambda github, commit: commit_json(github, repository, commit))


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


_READ = requires_read("contents")
_COMMITS = f"{REPO_ROUTE}/commits"

GIT_ROUTES = (
    Route("GET", _COMMITS, list_commits, _READ),
    Route(
        "GET",
        f"{_COMMITS}/{{commit_sha}}/pulls",
        list_pulls_of_commit,
        requires_read("contents", "pull_requests"),
    ),
    Route("GET", f"{REPO_ROUTE}/compare/{{basehead}}", compare, _READ),
    Route("GET", f"{REPO_ROUTE}/git/trees/{{tree_sha}}", get_tree, _READ),
    Route("GET", f"{REPO_ROUTE}/git/blobs/{{file_sha}}", get_blob, _READ),
    Route("GET", f"{REPO_ROUTE}/contents/{{path}}", get_contents, _READ),
)
