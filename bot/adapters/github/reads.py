"""What stands in a revision: its files, what they define, its checks, and how its branch stands."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from cachetools import LRUCache

from bot.adapters.github.asking import REPO, asked_in, names_of
from bot.adapters.github.callers import Callers
from bot.adapters.github.commits import CommitCalls
from bot.adapters.payloads.fields import Json, find, optional_integer, text
from bot.adapters.place_worker import outline
from bot.domain.grounding.observations import BranchState, CheckRun, Entry, EntryKind, Text, Tree, Unread
from bot.domain.grounding.paths import LARGEST_FILE
from bot.domain.model import Repository
from bot.ports import Gone, Refused, Unavailable

_MOST_TREES = 32
_MOST_TEXT = 32 * 1024 * 1024
_LFS = b"version https://git-lfs.github.com/spec/"

_Blob = tuple[int, str]
_Named = tuple[int, str, str]


class RevisionCalls(CommitCalls):
    """The calls about what stands in a revision; what has a name of its content is read once."""

    _callers: Callers

    def __init__(self) -> None:
        self._trees: LRUCache[_Blob, Tree] = LRUCache(_MOST_TREES)
        self._blobs: LRUCache[_Blob, bytes] = LRUCache(_MOST_TEXT, getsizeof=lambda data: len(data) + 512)
        self._texts: LRUCache[_Named, Text | Unread] = LRUCache(
            _MOST_TEXT,
            getsizeof=lambda read: 512 + (sum(map(len, read.lines)) if isinstance(read, Text) else 0),
        )

    async def tree(self, repository: Repository, head: str) -> Tree:
        """Every path of a revision, or as many as GitHub lists."""
        key = (repository.id, head)
        if key not in self._trees:
            path = f"{REPO}/git/trees/{{sha}}?recursive=1"
            self._trees[key] = _tree(await self._read(repository, path, "contents=read", sha=head))
        return self._trees[key]

    async def text(
        self, repository: Repository, head: str, path: str, blob: str | None, *, names: bool = False
    ) -> Text | Unread | None:
        """A file's lines, and where wanted the names that it defines; None where there is no such file."""
        if blob is None:
            return await self._unlisted(repository, head, path, names=names)
        key = (repository.id, blob, path if names else "")
        if key not in self._texts:
            data = await self._blob(repository, blob)
            if data is None:
                return None
            self._texts[key] = await _text(path, data, names=names)
        return self._texts[key]

    async def check_runs(self, repository: Repository, head: str) -> tuple[CheckRun, ...]:
        """The newest run of every check on a revision, at most 100, without annotations."""
        path = f"{REPO}/commits/{{sha}}/check-runs?per_page=100"
        answer = await self._read(repository, path, "checks=read", sha=head)
        runs = find(answer, "check_runs")
        return tuple(_run(run, self._callers.app_id) for run in runs or () if optional_integer(run, "id"))

    async def branch_state(self, repository: Repository, number: int) -> BranchState:
        """Whether the pull request can be merged, as GitHub sees it now."""
        answer = await self._read(repository, f"{REPO}/pulls/{{number}}", "pull_requests=read", number=number)
        mergeable = find(answer, "mergeable")
        return BranchState(
            head=text(answer, "head.sha"),
            mergeable=mergeable if isinstance(mergeable, bool) else None,
            draft=find(answer, "draft") is True,
            commits=optional_integer(answer, "commits"),
        )

    async def behind_by(self, repository: Repository, base: str, head: str) -> int | None:
        """How many commits of the base the head does not have."""
        path = f"{REPO}/compare/{{basehead}}?per_page=1"
        answer = await self._read(repository, path, "contents=read", basehead=f"{base}...{head}")
        return optional_integer(answer, "behind_by")

    async def _unlisted(
        self, repository: Repository, head: str, path: str, *, names: bool
    ) -> Text | Unread | None:
        try:
            data = await self.file(repository, path, head)
        except Refused:
            return Unread("over 1 MB, and not read")
        return None if data is None else await _text(path, data, names=names)

    async def _blob(self, repository: Repository, sha: str) -> bytes | None:
        key = (repository.id, sha)
        if key not in self._blobs:
            try:
                answer = await self._read(repository, f"{REPO}/git/blobs/{{sha}}", "contents=read", sha=sha)
            except Gone:
                return None
            self._blobs[key] = _decoded(answer)
        return self._blobs[key]

    async def _read(self, repository: Repository, path: str, permission: str, **gaps: str | int) -> Any:
        asked = asked_in(repository, "GET", path, permission)
        names = {**names_of(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.get(path, **names))


async def _text(path: str, data: bytes, *, names: bool) -> Text | Unread:
    if len(data) > LARGEST_FILE:
        return Unread("over 1 MB, and not read")
    if data.startswith(_LFS):
        return Unread("kept in Git LFS, and not read")
    try:
        read = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Unread("a binary file")
    if "\0" in read:
        return Unread("a binary file")
    lines = read.replace("\r\n", "\n").split("\n")
    found = await outline(path, read) if names else None
    return Text(tuple(lines[:-1] if lines and not lines[-1] else lines), found)


def _tree(answer: Any) -> Tree:
    items = find(answer, "tree")
    entries = {text(item, "path"): _entry(item) for item in items or () if text(item, "path")}
    return Tree(entries, truncated=find(answer, "truncated") is True)


def _entry(item: Json) -> Entry:
    kind = _KINDS.get(text(item, "type"), EntryKind.FILE)
    if text(item, "mode") == "120000":
        kind = EntryKind.SYMLINK
    return Entry(kind, text(item, "sha"), optional_integer(item, "size") or 0)


_KINDS: Mapping[str, EntryKind] = {"tree": EntryKind.FOLDER, "commit": EntryKind.SUBMODULE}


def _run(tree: Any, ours: int) -> CheckRun:
    said = (text(tree, f"output.{part}") for part in ("title", "summary", "text"))
    return CheckRun(
        id=optional_integer(tree, "id") or 0,
        name=text(tree, "name"),
        conclusion=text(tree, "conclusion") or None,
        output="\n".join(part for part in said if part),
        annotations_count=optional_integer(tree, "output.annotations_count") or 0,
        ours=optional_integer(tree, "app.id") == ours,
    )


def _decoded(answer: Any) -> bytes:
    try:
        return base64.b64decode(text(answer, "content"))
    except binascii.Error as error:
        raise Unavailable(f"GitHub's blob can't be read: {error}") from error
