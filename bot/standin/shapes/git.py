"""How does GitHub write commits, trees, comparisons and files?"""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

from bot.standin import diff
from bot.standin.git import SUBMODULE, SYMLINK, TREE, Commit, Entry, TreeItem
from bot.standin.model import Repository, node_id
from bot.standin.shapes.accounts import Json, stamp, user_or_null
from bot.standin.shapes.pulls import file_change
from bot.standin.shapes.repositories import page_url, repository_url
from bot.standin.world import World

_LARGEST_INLINE = 1_000_000  # above it GitHub leaves the content out of the JSON
_KINDS = {TREE: "tree", SUBMODULE: "commit"}


def commit(world: World, where: Repository, made: Commit) -> Json:
    """A commit, without its files."""
    api = f"{repository_url(world, where)}/commits/{made.sha}"
    person = {
        "name": made.login,
        "email": f"{made.login}@users.noreply.github.com",
        "date": stamp(made.at),
    }
    account = user_or_null(world, world.find_account(made.login))
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


def full_commit(world: World, where: Repository, made: Commit) -> Json:
    """A commit with what it changed against its first parent."""
    changed = diff.changes(where.objects, made.parents[0] if made.parents else None, made.sha)
    additions = sum(each.additions for each in changed)
    deletions = sum(each.deletions for each in changed)
    return commit(world, where, made) | {
        "stats": {"additions": additions, "deletions": deletions, "total": additions + deletions},
        "files": [file_change(world, where, made.sha, each) for each in changed],
    }


def tree(world: World, where: Repository, sha: str, *, recursive: bool) -> Json:
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


def file(world: World, where: Repository, ref: str, path: str, entry: Entry) -> Json:
    """A file with its content; a symlink or a submodule with where it leads."""
    data = where.objects.blobs.get(entry.sha, b"")
    written = described(world, where, ref, path, entry)
    if entry.mode == SUBMODULE:
        return written | {"type": "submodule", "submodule_git_url": entry.submodule_url}
    if entry.mode == SYMLINK:
        return written | {"type": "symlink", "target": data.decode()}
    if len(data) > _LARGEST_INLINE:
        return written | {"content": "", "encoding": "none"}
    return written | {"content": _wrapped(data), "encoding": "base64"}


def folder(world: World, where: Repository, ref: str, path: str, items: dict[str, Entry]) -> list[Json]:
    """What is in a folder: files, and the folders below it."""
    prefix = f"{path}/" if path else ""
    names = sorted({name.removeprefix(prefix).partition("/")[0] for name in items})
    listed = []
    for name in names:
        entry = items.get(prefix + name) or Entry(TREE, _folder_sha(where, ref, prefix + name))
        listed.append(described(world, where, ref, prefix + name, entry))
    return listed


def blob(world: World, where: Repository, sha: str) -> Json:
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


def described(world: World, where: Repository, ref: str, path: str, entry: Entry) -> Json:
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
