"""Commits, trees and files: their JSON and endpoints."""

from __future__ import annotations

import base64
import posixpath
from urllib.parse import quote

from bot.fakegithub import git
from bot.fakegithub.calls import REPO_ROUTE, ApiAnswer, ApiCall, Route, requires_read
from bot.fakegithub.git import SUBMODULE, SYMLINK, TREE, GitCommit, GitEntry
from bot.fakegithub.model import ApiRefusal, Json, Repository, node_id, not_found_refusal, same, show
from bot.fakegithub.pulls import PullRequest, files_json
from bot.fakegithub.repositories import email_of

_LARGEST_INLINE = 1_000_000  # above it GitHub leaves the content out of the JSON
_KINDS = {TREE: "tree", SUBMODULE: "commit"}

_UNSIGNED = {"verified": False, "reason": "unsigned"} | same(None, "signature payload verified_at")


def commit_json(repository: Repository, commit: GitCommit) -> Json:
    """A commit, without its files."""
    person = {"name": commit.login, "email": email_of(commit.login), "date": show(commit.at)}
    names = _names(repository, commit.sha)
    return names | {
        "node_id": node_id("C", int(commit.sha[:12], 16)),
        "comments_url": f"{names['url']}/comments",
        **same(repository.world.find_account(commit.login), "author committer"),
        "parents": [_names(repository, parent) for parent in commit.parents],
        "commit": {
            "url": f"{repository.url}/git/commits/{commit.sha}",
            **same(person, "author committer"),
            "message": commit.message,
            "comment_count": 0,
            "tree": {"sha": commit.tree_sha, "url": f"{repository.url}/git/trees/{commit.tree_sha}"},
            "verification": _UNSIGNED,
        },
    }


def _names(repository: Repository, sha: str) -> Json:
    address, page = f"{repository.url}/commits/{sha}", f"{repository.html_url}/commit/{sha}"
    return {"sha": sha, "url": address, "html_url": page}


def entry_json(repository: Repository, ref: str, path: str, entry: GitEntry) -> Json:
    """A file or folder as its folder lists it."""
    is_folder, is_submodule = entry.mode == TREE, entry.mode == SUBMODULE
    kind = "tree" if is_folder else "blob"
    links = {
        "self": f"{repository.url}/contents/{quote(path)}?ref={quote(ref, safe='')}",
        "git": f"{repository.url}/git/{kind}s/{entry.sha}",
        "html": f"{repository.html_url}/{kind}/{ref}/{quote(path)}",
    }
    raw = f"https://raw.githubusercontent.com/{repository.full_name}/{ref}/{quote(path)}"
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": entry.sha,
        "size": len(repository.objects.blobs.get(entry.sha, b"")),
        "url": links["self"],
        "html_url": links["html"],
        "git_url": links["git"],
        "download_url": None if is_folder or is_submodule else raw,
        # GitHub lists a submodule as a file, for callers from before it knew submodules.
        "type": "dir" if is_folder else "symlink" if entry.mode == SYMLINK else "file",
        "_links": links,
    }


def _file_json(repository: Repository, ref: str, path: str, entry: GitEntry) -> Json:
    """A file with its content; a symlink or a submodule with where it leads."""
    data = repository.objects.blobs.get(entry.sha, b"")
    content = entry_json(repository, ref, path, entry)
    if entry.mode == SUBMODULE:
        return content | {"type": "submodule", "submodule_git_url": entry.submodule_url}
    if entry.mode == SYMLINK:
        return content | {"type": "symlink", "target": data.decode()}
    return content | (_encoded(data) if len(data) <= _LARGEST_INLINE else {"content": "", "encoding": "none"})


def _encoded(data: bytes) -> Json:
    """Base64 in lines, as GitHub sends it."""
    return {"content": base64.encodebytes(data).decode(), "encoding": "base64"}


def _deep(repository: Repository, sha: str, prefix: str) -> dict[str, GitEntry]:
    """Everything in a tree and the trees below it, by path."""
    items: dict[str, GitEntry] = {}
    for name, entry in repository.objects.trees[sha].items():
        items[prefix + name] = entry
        if entry.mode == TREE:
            items |= _deep(repository, entry.sha, f"{prefix}{name}/")
    return items


def _tree_item(repository: Repository, path: str, entry: GitEntry) -> Json:
    kind = _KINDS.get(entry.mode, "blob")
    content: Json = {"path": path, "mode": entry.mode, "type": kind, "sha": entry.sha}
    if kind == "blob":
        content["size"] = len(repository.objects.blobs[entry.sha])
    if kind != "commit":
        content["url"] = f"{repository.url}/git/{kind}s/{entry.sha}"
    return content


_MOST_FILES = 300


def _list_commits(call: ApiCall) -> list[Json]:
    """The commits of a branch, newest first, also only those that touched a path."""
    repository, path = call.repository, call.query.get("path")
    start = find_commit(call, call.query.get("sha", repository.default_branch))
    commits = [repository.objects.commits[sha] for sha in repository.objects.ancestors(start.sha)]
    return [
        commit_json(repository, commit)
        for commit in commits
        if path is None or _touches(repository, commit, path)
    ]


def _list_pulls_of_commit(call: ApiCall) -> list[PullRequest]:
    """The pull requests that contain a commit."""
    sha, objects = find_commit(call, call.params["commit_sha"]).sha, call.repository.objects
    return [
        pull
        for pull in call.github.pulls_of(call.repository)
        if sha in {commit.sha for commit in objects.between(pull.base_sha, pull.head_sha)}
        or sha == pull.merge_commit_sha
    ]


def _compare(call: ApiCall) -> ApiAnswer:
    """How two commits differ, seen from where they parted."""
    repository, objects, names = call.repository, call.repository.objects, call.params["basehead"]
    ends = names.split("...")
    if len(ends) != 2:
        raise not_found_refusal()
    base, head = (find_commit(call, name.rpartition(":")[2]) for name in ends)
    common = objects.merge_base(base.sha, head.sha)
    if common is None:
        raise ApiRefusal(404, f"No common ancestor between {ends[0]} and {ends[1]}.")
    ahead, behind = objects.between(base.sha, head.sha), objects.between(head.sha, base.sha)
    page, headers = call.cut_page(ahead)
    address = f"{repository.html_url}/compare/{names}"
    status = ("diverged" if behind else "ahead") if ahead else "behind" if behind else "identical"
    changed = git.diff_commits(objects, common, head.sha)[:_MOST_FILES]
    body = {
        "url": f"{repository.url}/compare/{names}",
        **same(address, "html_url permalink_url"),
        "diff_url": f"{address}.diff",
        "patch_url": f"{address}.patch",
        "base_commit": commit_json(repository, base),
        "merge_base_commit": commit_json(repository, objects.commits[common]),
        "status": status,
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [commit_json(repository, commit) for commit in page],
        "files": files_json(repository, head.sha, changed),
    }
    return ApiAnswer(body, headers=headers)


def _get_tree(call: ApiCall) -> Json:
    """A tree, by its own name or a commit's, recursive on request; a test can make it truncated."""
    repository, name = call.repository, call.params["tree_sha"]
    sha = name if name in repository.objects.trees else find_commit(call, name).tree_sha
    items = _deep(repository, sha, "") if "recursive" in call.query else repository.objects.trees[sha]
    shown = len(items) // 2 if repository.truncate_trees else len(items)
    return {
        "sha": sha,
        "url": f"{repository.url}/git/trees/{sha}",
        "tree": [_tree_item(repository, *item) for item in [*items.items()][:shown]],
        "truncated": repository.truncate_trees,
    }


def _get_blob(call: ApiCall) -> Json:
    data = call.find(call.repository.objects.blobs, "file_sha")
    sha = call.params["file_sha"]
    return _encoded(data) | {
        "sha": sha,
        "node_id": node_id("B", int(sha[:12], 16)),
        "url": f"{call.repository.url}/git/blobs/{sha}",
        "size": len(data),
    }


def get_file(call: ApiCall) -> Json:
    """A file, a symlink or a submodule, as it was at a ref."""
    repository, path = call.repository, call.params["path"].strip("/")
    ref = call.query.get("ref", repository.default_branch)
    files = find_commit(call, ref, f"No commit found for the ref {ref}", 404).files
    entry = files.get(path)
    if entry is None:
        raise not_found_refusal()
    if entry.mode == SYMLINK:  # shown as what it leads to, where that is in the repository
        target = repository.objects.blobs[entry.sha].decode()
        entry = files.get(posixpath.normpath(posixpath.join(posixpath.dirname(path), target)), entry)
    return _file_json(repository, ref, path, entry)


def find_commit(call: ApiCall, name: str, missing: str = "", status: int = 422) -> GitCommit:
    """The commit with this name: a branch, a ref, or the beginning of a SHA."""
    repository = call.repository
    branch = name.removeprefix("refs/").removeprefix("heads/")
    sha = repository.branches.get(repository.default_branch if branch == "HEAD" else branch, name)
    short = (commit for commit in repository.objects.commits if len(sha) >= 7 and commit.startswith(sha))
    full_sha = next(short, None)
    if full_sha is None:
        raise ApiRefusal(status, missing or f"No commit found for SHA: {name}")
    return repository.objects.commits[full_sha]


def _touches(repository: Repository, commit: GitCommit, path: str) -> bool:
    parents = [repository.objects.commits[parent].files for parent in commit.parents]
    return all(commit.files.get(path) != files.get(path) for files in parents or [{}])


_READ = requires_read("contents")
_COMMITS = f"{REPO_ROUTE}/commits"
_READ_PULLS = requires_read("contents", "pull_requests")

GIT_ROUTES = (
    Route("GET", _COMMITS, _READ, _list_commits),
    Route("GET", f"{_COMMITS}/{{commit_sha}}/pulls", _READ_PULLS, _list_pulls_of_commit),
    Route("GET", f"{REPO_ROUTE}/compare/{{basehead}}", _READ, _compare),
    Route("GET", f"{REPO_ROUTE}/git/trees/{{tree_sha}}", _READ, _get_tree),
    Route("GET", f"{REPO_ROUTE}/git/blobs/{{file_sha}}", _READ, _get_blob),
    Route("GET", f"{REPO_ROUTE}/contents/{{path}}", _READ, get_file),
)
