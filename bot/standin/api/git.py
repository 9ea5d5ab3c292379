"""What does GitHub tell about commits, trees and files?"""

from __future__ import annotations

import posixpath

from bot.standin import diff
from bot.standin.api.call import REPO, Answer, Call, Route, reads
from bot.standin.api.paging import cut, page
from bot.standin.git import SUBMODULE, SYMLINK, Commit, Entry
from bot.standin.model import PullRequest
from bot.standin.refusal import Refused, not_found
from bot.standin.shapes import git as written
from bot.standin.shapes.pulls import file_change, simple_pull
from bot.standin.shapes.repositories import page_url, repository_url

_LARGEST_FILE = 100_000_000
_MOST_FILES = 300


def list_commits(call: Call) -> Answer:
    """The commits of a branch, newest first, also only those that touched a path."""
    where, path = call.repository, call.query.get("path")
    start = _commit(call, call.query.get("sha", where.default_branch))
    found = [where.objects.commits[sha] for sha in where.objects.ancestors(start.sha)]
    touching = [each for each in found if path is None or _touches(call, each, path)]
    return page(call, touching, lambda each: written.commit(call.github, where, each))


def get_commit(call: Call) -> Answer:
    """One commit with what it changed."""
    return Answer(written.full_commit(call.github, call.repository, _commit(call, call.params["ref"])))


def list_pulls_of_commit(call: Call) -> Answer:
    """The pull requests that contain a commit."""
    sha, objects = _commit(call, call.params["commit_sha"]).sha, call.repository.objects
    pulls = [each for each in call.repository.threads.values() if isinstance(each, PullRequest)]
    found = [
        each
        for each in pulls
        if sha in {one.sha for one in objects.between(each.base_sha, each.head_sha)}
        or sha == each.merge_commit_sha
    ]
    return page(call, found, lambda each: simple_pull(call.github, each))


def list_commits_of_pull(call: Call) -> Answer:
    """A pull request's commits, oldest first."""
    pull = call.pull
    commits = pull.repository.objects.between(pull.base_sha, pull.head_sha)
    return page(call, commits, lambda each: written.commit(call.github, pull.repository, each))


def compare(call: Call) -> Answer:
    """How two commits differ, seen from where they parted."""
    where, objects = call.repository, call.repository.objects
    names = call.params["basehead"].split("...")
    if len(names) != 2:
        raise not_found()
    base, head = (_commit(call, name.rpartition(":")[2]) for name in names)
    common = objects.merge_base(base.sha, head.sha)
    if common is None:
        raise Refused(404, f"No common ancestor between {names[0]} and {names[1]}.")
    ahead, behind = objects.between(base.sha, head.sha), objects.between(head.sha, base.sha)
    shown, headers = cut(call, ahead)
    api = f"{repository_url(call.github, where)}/compare/{call.params['basehead']}"
    pages = f"{page_url(call.github, where)}/compare/{call.params['basehead']}"
    changed = diff.changes(objects, common, head.sha)[:_MOST_FILES]
    body = {
        "url": api,
        "html_url": pages,
        "permalink_url": pages,
        "diff_url": f"{pages}.diff",
        "patch_url": f"{pages}.patch",
        "base_commit": written.commit(call.github, where, base),
        "merge_base_commit": written.commit(call.github, where, objects.commits[common]),
        "status": _standing(len(ahead), len(behind)),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [written.commit(call.github, where, each) for each in shown],
        "files": [file_change(call.github, where, head.sha, each) for each in changed],
    }
    return Answer(body, headers=headers)


def get_tree(call: Call) -> Answer:
    """A tree, by its own name or a commit's."""
    where, name = call.repository, call.params["tree_sha"]
    sha = name if name in where.objects.trees else _commit(call, name).tree_sha
    return Answer(written.tree(call.github, where, sha, recursive="recursive" in call.query))


def get_blob(call: Call) -> Answer:
    """A blob."""
    where, sha = call.repository, call.params["file_sha"]
    if sha not in where.objects.blobs:
        raise not_found()
    if "raw" in call.accept:
        return Answer(raw=where.objects.blobs[sha])
    return Answer(written.blob(call.github, where, sha))


def get_contents(call: Call) -> Answer:
    """A file, a folder, a symlink or a submodule, as it was at a ref."""
    where, path = call.repository, call.params["path"].strip("/")
    ref = call.query.get("ref", where.default_branch)
    files = dict(_commit(call, ref, f"No commit found for the ref {ref}", 404).files)
    entry = files.get(path)
    if entry is None:
        below = {name: each for name, each in files.items() if not path or name.startswith(f"{path}/")}
        if not below:
            raise not_found()
        return Answer(written.folder(call.github, where, ref, path, below))
    entry = _followed(call, files, path, entry)
    data = where.objects.blobs.get(entry.sha, b"")
    if len(data) > _LARGEST_FILE:
        errors = [{"resource": "Blob", "field": "data", "code": "too_large"}]
        raise Refused(403, "This API returns blobs up to 100 MB in size.", errors=errors)
    if "raw" in call.accept and entry.mode not in {SUBMODULE, SYMLINK}:
        return Answer(raw=data, headers={"Content-Type": "application/vnd.github.raw+json; charset=utf-8"})
    return Answer(written.file(call.github, where, ref, path, entry))


def _commit(call: Call, name: str, missing: str = "", status: int = 422) -> Commit:
    where = call.repository
    branch = name.removeprefix("refs/").removeprefix("heads/")
    sha = where.branches.get(where.default_branch if branch == "HEAD" else branch, name)
    short = (each for each in where.objects.commits if len(sha) >= 7 and each.startswith(sha))
    found = next(short, None)
    if found is None:
        raise Refused(status, missing or f"No commit found for SHA: {name}")
    return where.objects.commits[found]


def _touches(call: Call, commit: Commit, path: str) -> bool:
    parents = [call.repository.objects.commits[each].files for each in commit.parents]
    return all(commit.files.get(path) != files.get(path) for files in parents or [{}])


def _standing(ahead: int, behind: int) -> str:
    if ahead and behind:
        return "diverged"
    return "ahead" if ahead else "behind" if behind else "identical"


def _followed(call: Call, files: dict[str, Entry], path: str, entry: Entry) -> Entry:
    """The file that a symlink leads to, where that is in the repository."""
    if entry.mode != SYMLINK:
        return entry
    target = call.repository.objects.blobs[entry.sha].decode()
    return files.get(posixpath.normpath(posixpath.join(posixpath.dirname(path), target)), entry)


ROUTES = (
    Route("GET", f"{REPO}/commits", list_commits, reads("contents")),
    Route(
        "GET",
        f"{REPO}/commits/{{commit_sha}}/pulls",
        list_pulls_of_commit,
        reads("contents", "pull_requests"),
    ),
    Route("GET", f"{REPO}/commits/{{ref}}", get_commit, reads("contents")),
    Route("GET", f"{REPO}/pulls/{{pull_number}}/commits", list_commits_of_pull, reads("pull_requests")),
    Route("GET", f"{REPO}/compare/{{basehead}}", compare, reads("contents")),
    Route("GET", f"{REPO}/git/trees/{{tree_sha}}", get_tree, reads("contents")),
    Route("GET", f"{REPO}/git/blobs/{{file_sha}}", get_blob, reads("contents")),
    Route("GET", f"{REPO}/contents/{{path}}", get_contents, reads("contents")),
)
