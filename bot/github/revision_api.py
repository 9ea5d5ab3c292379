"""Read commits, trees, files and checks, and write check runs and reviews."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from cachetools import LRUCache

from bot.definitions import outline_file
from bot.github import payloads
from bot.github.auth import Authenticator
from bot.github.errors import ApiRequest, Forbidden, GitHubUnavailable, NotFound, ValidationFailed
from bot.github.model import PostedCheck
from bot.github.payloads import (
    JsonObject,
    PayloadError,
    get_integer,
    get_path,
    get_text,
    require_id,
    require_text,
)
from bot.github.transport import REPO_PATH, path_parameters, repository_request
from bot.paths import MAX_FILE_SIZE
from bot.pull_request.checks import CheckAnnotation, CheckRunText
from bot.pull_request.diff import Suggestion
from bot.pull_request.events import CheckEvent, PullRequestSnapshot
from bot.pull_request.facts import (
    BranchState,
    EntryKind,
    FileText,
    ObservedCheckRun,
    Tree,
    TreeEntry,
    UnreadableFile,
)
from bot.values import Repository

_MOST_FILES = 300
_MOST_PULLS = 300
_MOST_PAGES = 10
_MOST_ANNOTATIONS = 200


class CommitApi:
    """The calls about commits; the client's other half lends the credentials."""

    _callers: Authenticator

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        """A file at a ref, of the default branch where none is given; None where there is no such file."""
        address = f"{REPO_PATH}/contents/{{+file}}" + ("?ref={ref}" if ref else "")
        asked = repository_request(repository, "GET", address, "contents=read")
        gaps = {**path_parameters(repository), "file": quote(path)} | ({"ref": ref} if ref else {})
        try:
            answer = await self._callers.as_installation(asked, lambda api: api.get(address, **gaps))
        except NotFound:
            return None
        return _content(answer, asked)

    async def covers(self, owner: str, name: str) -> bool:
        """Whether the App is installed in this repository."""
        path = f"{REPO_PATH}/installation"
        asked = ApiRequest(f"GET {path} of {owner}/{name}", "", 0)
        try:
            await self._callers.as_app(asked, lambda api: api.get(path, owner=owner, repo=name))
        except (NotFound, Forbidden):
            return False
        return True

    async def branch_head(self, repository: Repository) -> str:
        """The newest commit of the default branch."""
        path = f"{REPO_PATH}/commits?sha={{branch}}&per_page=1"
        found = await self._listed(
            repository, path, "contents=read", limit=1, branch=repository.default_branch
        )
        if not found:
            raise NotFound(f"{repository.full_name} has no commit")
        return _sha(found[0])

    async def pull_requests_at(self, repository: Repository, sha: str) -> tuple[PullRequestSnapshot, ...]:
        """The open pull requests with this head; those from forks have to be looked for.

        A fork's is missed where more than a thousand open ones were changed after its last change.
        """
        path = f"{REPO_PATH}/commits/{{sha}}/pulls?per_page=100"
        try:
            found = await self._pulls(repository, path, sha=sha)
        except (NotFound, ValidationFailed):  # a fork's commit that the base does not show
            found = ()
        at = tuple(each for each in found if each.open and each.head == sha)
        if at:
            return at
        return await self._newest_at(repository, sha)

    async def _newest_at(self, repository: Repository, sha: str) -> tuple[PullRequestSnapshot, ...]:
        """The open pull requests of the first page that has one with this head, the last changed first."""
        path = f"{REPO_PATH}/pulls?state=open&sort=updated&direction=desc&per_page=100"
        asked = repository_request(repository, "GET", path, "pull_requests=read")

        def is_here(tree: Any) -> bool:
            return get_text(tree, "head.sha") == sha

        listed = await self._callers.as_installation(
            asked, lambda api: api.items_until(path, is_here, _MOST_PAGES, **path_parameters(repository))
        )
        found = (_pull(repository, tree) for tree in listed if is_here(tree))
        return tuple(each for each in found if each)

    async def annotations(self, repository: Repository, run_id: int) -> tuple[CheckAnnotation, ...]:
        """What a check run found, and where."""
        path = f"{REPO_PATH}/check-runs/{{run}}/annotations?per_page=100"
        found = await self._listed(repository, path, "checks=read", limit=_MOST_ANNOTATIONS, run=run_id)
        return tuple(one for one in map(_annotation, found) if one)

    async def ended_checks(self, repository: Repository, sha: str) -> tuple[CheckEvent, ...]:
        """The checks and statuses of a commit that have ended, at most 100 of each."""
        runs = await self._of_commit(repository, payloads.CHECK_RUNS_PATH, "checks=read", sha)
        statuses = await self._of_commit(repository, payloads.STATUS_PATH, "statuses=read", sha)
        return payloads.parse_ended_checks(repository, sha, runs, statuses)

    async def check_run(self, repository: Repository, sha: str, name: str) -> PostedCheck | None:
        """The newest run of ours with this name on a commit."""
        path = f"{REPO_PATH}/commits/{{sha}}/check-runs?check_name={{name}}&app_id={{app}}&per_page=100"
        asked = repository_request(repository, "GET", path, "checks=read")
        gaps = {**path_parameters(repository), "sha": sha, "name": name, "app": self._callers.app_id}
        answer = await self._callers.as_installation(asked, lambda api: api.get(path, **gaps))
        runs = get_path(answer, "check_runs")
        posted = [_posted(run) for run in runs] if isinstance(runs, list) else []
        return max(posted, key=lambda run: run.id, default=None)

    async def create_check_run(
        self, repository: Repository, said: CheckRunText, link: str = ""
    ) -> PostedCheck:
        """A new run that has ended, with its annotations."""
        path = f"{REPO_PATH}/check-runs"
        data = _written(said, link)
        data["output"]["annotations"] = [_annotated(one) for one in said.annotations]
        data |= {"name": said.name, "head_sha": said.head}
        return _posted(await self._put_json(repository, "POST", path, data, "checks=write"))

    async def update_check_run(
        self, repository: Repository, run_id: int, said: CheckRunText, link: str = ""
    ) -> PostedCheck:
        """Other words for a run of ours; its annotations stay as they are."""
        path = f"{REPO_PATH}/check-runs/{{run}}"
        return _posted(
            await self._put_json(repository, "PATCH", path, _written(said, link), "checks=write", run=run_id)
        )

    async def changed_files(self, repository: Repository, number: int) -> dict[str, str]:
        """The files that a pull request changes, with the patch of each where GitHub shows one."""
        path = f"{REPO_PATH}/pulls/{{number}}/files?per_page=100"
        found = await self._listed(repository, path, "pull_requests=read", limit=_MOST_FILES, number=number)
        return {get_text(each, "filename"): get_text(each, "patch") for each in found}

    async def create_review(
        self, repository: Repository, number: int, head: str, body: str, suggestions: tuple[Suggestion, ...]
    ) -> None:
        """A review of ours that neither approves nor rejects, with suggestions at their lines."""
        path = f"{REPO_PATH}/pulls/{{number}}/reviews"
        comments = [
            {"path": one.path, "line": one.line, "side": "RIGHT", "body": one.body} for one in suggestions
        ]
        data = {"commit_id": head, "event": "COMMENT", "body": body, "comments": comments}
        await self._put_json(repository, "POST", path, data, "pull_requests=write", number=number)

    async def _of_commit(self, repository: Repository, path: str, permission: str, sha: str) -> Any:
        asked = repository_request(repository, "GET", path, permission)
        return await self._callers.as_installation(
            asked, lambda api: api.get(path, **path_parameters(repository), sha=sha)
        )

    async def _pulls(
        self, repository: Repository, path: str, **gaps: str | int
    ) -> tuple[PullRequestSnapshot, ...]:
        found = await self._listed(repository, path, "pull_requests=read", limit=_MOST_PULLS, **gaps)
        return tuple(pull for tree in found if (pull := _pull(repository, tree)))

    async def _listed(
        self, repository: Repository, path: str, permission: str, *, limit: int, **gaps: str | int
    ) -> list[Any]:
        asked = repository_request(repository, "GET", path, permission)
        return await self._callers.as_installation(
            asked, lambda api: api.items(path, limit, **path_parameters(repository), **gaps)
        )

    async def _put_json(
        self, repository: Repository, method: str, path: str, data: Any, permission: str, **gaps: int
    ) -> Any:
        asked = repository_request(repository, method, path, permission)
        names = {**path_parameters(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.write(method, path, data, **names))


def _content(answer: Any, asked: ApiRequest) -> bytes | None:
    if get_path(answer, "type") != "file":
        return None
    if get_path(answer, "encoding") != "base64":
        raise ValidationFailed(f"{asked.what}: the file is too large to be read")
    try:
        return base64.b64decode(get_text(answer, "content"))
    except binascii.Error as error:
        raise GitHubUnavailable(f"{asked.what}: {error}") from error


def _pull(repository: Repository, tree: JsonObject) -> PullRequestSnapshot | None:
    try:
        return payloads.parse_pull_request(repository, tree)
    except PayloadError:
        return None


def _annotation(tree: Any) -> CheckAnnotation | None:
    line, path = get_integer(tree, "start_line"), get_text(tree, "path")
    if not line or line < 1 or not path:
        return None
    return CheckAnnotation(
        path=path,
        line=line,
        end_line=max(line, get_integer(tree, "end_line") or line),
        message=payloads.shorten_output(get_text(tree, "message")),
        title=payloads.shorten_output(get_text(tree, "title")),
        level=get_text(tree, "annotation_level"),
    )


def _written(said: CheckRunText, link: str) -> dict[str, Any]:
    data: dict[str, Any] = {
        "status": "completed",
        "conclusion": said.conclusion.value,
        "external_id": said.places,
        "output": {"title": said.title, "summary": said.summary},
    }
    return {**data, "details_url": link} if link else data


def _annotated(one: CheckAnnotation) -> dict[str, Any]:
    written: dict[str, Any] = {
        "path": one.path,
        "start_line": one.line,
        "end_line": one.end_line,
        "annotation_level": one.level,
        "message": one.message,
    }
    if one.title:
        written["title"] = one.title
    if one.column and one.line == one.end_line:  # GitHub takes columns within one line only
        written |= {"start_column": one.column, "end_column": one.column}
    return written


def _posted(tree: Any) -> PostedCheck:
    try:
        return PostedCheck(require_id(tree, "id"), get_text(tree, "external_id"))
    except PayloadError as error:
        raise GitHubUnavailable(f"GitHub's check run can't be read: {error}") from error


def _sha(tree: Any) -> str:
    try:
        return require_text(tree, "sha")
    except PayloadError as error:
        raise GitHubUnavailable(f"GitHub's commit can't be read: {error}") from error


_MOST_TREES = 32
_MOST_TEXT = 32 * 1024 * 1024
_LFS = b"version https://git-lfs.github.com/spec/"

_Blob = tuple[int, str]
_Named = tuple[int, str, str]


class RevisionApi(CommitApi):
    """The calls about what stands in a revision; what has a name of its content is read once."""

    _callers: Authenticator

    def __init__(self) -> None:
        self._trees: LRUCache[_Blob, Tree] = LRUCache(_MOST_TREES)
        self._blobs: LRUCache[_Blob, bytes] = LRUCache(_MOST_TEXT, getsizeof=lambda data: len(data) + 512)
        self._texts: LRUCache[_Named, FileText | UnreadableFile] = LRUCache(
            _MOST_TEXT,
            getsizeof=lambda read: 512 + (sum(map(len, read.lines)) if isinstance(read, FileText) else 0),
        )

    async def tree(self, repository: Repository, head: str) -> Tree:
        """Every path of a revision, or as many as GitHub lists."""
        key = (repository.id, head)
        if key not in self._trees:
            path = f"{REPO_PATH}/git/trees/{{sha}}?recursive=1"
            self._trees[key] = _tree(await self._read(repository, path, "contents=read", sha=head))
        return self._trees[key]

    async def text(
        self, repository: Repository, head: str, path: str, blob: str | None, *, names: bool = False
    ) -> FileText | UnreadableFile | None:
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

    async def check_runs(self, repository: Repository, head: str) -> tuple[ObservedCheckRun, ...]:
        """The newest run of every check on a revision, at most 100, without annotations."""
        path = f"{REPO_PATH}/commits/{{sha}}/check-runs?per_page=100"
        answer = await self._read(repository, path, "checks=read", sha=head)
        runs = get_path(answer, "check_runs")
        return tuple(_run(run, self._callers.app_id) for run in runs or () if get_integer(run, "id"))

    async def branch_state(self, repository: Repository, number: int) -> BranchState:
        """Whether the pull request can be merged, as GitHub sees it now."""
        answer = await self._read(
            repository, f"{REPO_PATH}/pulls/{{number}}", "pull_requests=read", number=number
        )
        mergeable = get_path(answer, "mergeable")
        return BranchState(
            head=get_text(answer, "head.sha"),
            mergeable=mergeable if isinstance(mergeable, bool) else None,
            draft=get_path(answer, "draft") is True,
            commits=get_integer(answer, "commits"),
        )

    async def behind_by(self, repository: Repository, base: str, head: str) -> int | None:
        """How many commits of the base the head does not have."""
        path = f"{REPO_PATH}/compare/{{basehead}}?per_page=1"
        answer = await self._read(repository, path, "contents=read", basehead=f"{base}...{head}")
        return get_integer(answer, "behind_by")

    async def _unlisted(
        self, repository: Repository, head: str, path: str, *, names: bool
    ) -> FileText | UnreadableFile | None:
        try:
            data = await self.file(repository, path, head)
        except ValidationFailed:
            return UnreadableFile("over 1 MB, and not read")
        return None if data is None else await _text(path, data, names=names)

    async def _blob(self, repository: Repository, sha: str) -> bytes | None:
        key = (repository.id, sha)
        if key not in self._blobs:
            try:
                answer = await self._read(
                    repository, f"{REPO_PATH}/git/blobs/{{sha}}", "contents=read", sha=sha
                )
            except NotFound:
                return None
            self._blobs[key] = _decoded(answer)
        return self._blobs[key]

    async def _read(self, repository: Repository, path: str, permission: str, **gaps: str | int) -> Any:
        asked = repository_request(repository, "GET", path, permission)
        names = {**path_parameters(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.get(path, **names))


async def _text(path: str, data: bytes, *, names: bool) -> FileText | UnreadableFile:
    if len(data) > MAX_FILE_SIZE:
        return UnreadableFile("over 1 MB, and not read")
    if data.startswith(_LFS):
        return UnreadableFile("kept in Git LFS, and not read")
    try:
        read = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return UnreadableFile("a binary file")
    if "\0" in read:
        return UnreadableFile("a binary file")
    lines = read.replace("\r\n", "\n").split("\n")
    found = await outline_file(path, read) if names else None
    return FileText(tuple(lines[:-1] if lines and not lines[-1] else lines), found)


def _tree(answer: Any) -> Tree:
    items = get_path(answer, "tree")
    entries = {get_text(item, "path"): _entry(item) for item in items or () if get_text(item, "path")}
    return Tree(entries, truncated=get_path(answer, "truncated") is True)


def _entry(item: JsonObject) -> TreeEntry:
    kind = _KINDS.get(get_text(item, "type"), EntryKind.FILE)
    if get_text(item, "mode") == "120000":
        kind = EntryKind.SYMLINK
    return TreeEntry(kind, get_text(item, "sha"), get_integer(item, "size") or 0)


_KINDS: Mapping[str, EntryKind] = {"tree": EntryKind.FOLDER, "commit": EntryKind.SUBMODULE}


def _run(tree: Any, ours: int) -> ObservedCheckRun:
    said = (get_text(tree, f"output.{part}") for part in ("title", "summary", "text"))
    return ObservedCheckRun(
        id=get_integer(tree, "id") or 0,
        name=get_text(tree, "name"),
        conclusion=get_text(tree, "conclusion") or None,
        output="\n".join(part for part in said if part),
        annotations_count=get_integer(tree, "output.annotations_count") or 0,
        ours=get_integer(tree, "app.id") == ours,
    )


def _decoded(answer: Any) -> bytes:
    try:
        return base64.b64decode(get_text(answer, "content"))
    except binascii.Error as error:
        raise GitHubUnavailable(f"GitHub's blob can't be read: {error}") from error
