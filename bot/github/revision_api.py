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
from bot.github.auth import Authenticator, InstallationApi
from bot.github.errors import ApiRequest, Forbidden, GitHubUnavailable, NotFound, ValidationFailed
from bot.github.model import FileCommit, PostedCheck
from bot.github.payloads import (
    JsonObject,
    PayloadError,
    get_integer,
    get_path,
    get_text,
    get_time,
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

_MAX_FILES = 300
_MAX_PULLS = 300
_MAX_PAGES = 10
_MAX_ANNOTATIONS = 200
_MAX_LOG = 64 * 1024


class CommitApi(InstallationApi):
    """Calls about commits, their files and checks."""

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        """Read a file at a ref, by default of the default branch; None if there is no such file."""
        address = f"{REPO_PATH}/contents/{{+file}}" + ("?ref={ref}" if ref else "")
        gaps = {"file": quote(path)} | ({"ref": ref} if ref else {})
        try:
            answer = await self._get(repository, address, "contents=read", **gaps)
        except NotFound:
            return None
        return _content(answer, repository_request(repository, "GET", address, "contents=read"))

    async def file_commits(self, repository: Repository, path: str) -> tuple[FileCommit, ...]:
        """The newest commits of the default branch that changed a file, at most 100, newest first."""
        address = f"{REPO_PATH}/commits?sha={{branch}}&path={{file}}&per_page=100"
        commits = await self._list(
            repository, address, "contents=read", limit=100, branch=repository.default_branch, file=path
        )
        dated = ((_sha(commit), get_time(commit, "commit.committer.date")) for commit in commits)
        return tuple(FileCommit(sha, at) for sha, at in dated if at)

    async def covers(self, owner: str, name: str) -> bool:
        """Whether the App is installed in this repository."""
        path = f"{REPO_PATH}/installation"
        request = ApiRequest(f"GET {path} of {owner}/{name}", "", 0)
        try:
            await self._auth.as_app(request, lambda api: api.get(path, owner=owner, repo=name))
        except (NotFound, Forbidden):
            return False
        return True

    async def branch_head(self, repository: Repository) -> str:
        """The newest commit of the default branch."""
        path = f"{REPO_PATH}/commits?sha={{branch}}&per_page=1"
        commits = await self._list(
            repository, path, "contents=read", limit=1, branch=repository.default_branch
        )
        if not commits:
            raise NotFound(f"{repository.full_name} has no commit")
        return _sha(commits[0])

    async def pull_requests_at(self, repository: Repository, sha: str) -> tuple[PullRequestSnapshot, ...]:
        """The open pull requests with this head, including those from forks.

        A fork's is missed if more than a thousand open ones were changed after its last change.
        """
        path = f"{REPO_PATH}/commits/{{sha}}/pulls?per_page=100"
        try:
            items = await self._list(repository, path, "pull_requests=read", _MAX_PULLS, sha=sha)
        except (NotFound, ValidationFailed):  # a fork's commit that the base does not show
            items = []
        pulls = (payloads.parse_listed_pull(repository, item) for item in items)
        at_head = tuple(pull for pull in pulls if pull and pull.open and pull.head == sha)
        return at_head or await self._newest_at(repository, sha)

    async def _newest_at(self, repository: Repository, sha: str) -> tuple[PullRequestSnapshot, ...]:
        """Search the open pull requests, last changed first, up to the page that has this head."""
        path = f"{REPO_PATH}/pulls?state=open&sort=updated&direction=desc&per_page=100"
        request = repository_request(repository, "GET", path, "pull_requests=read")

        def is_at_head(tree: Any) -> bool:
            return get_text(tree, "head.sha") == sha

        items = await self._auth.as_installation(
            request, lambda api: api.items_until(path, is_at_head, _MAX_PAGES, **path_parameters(repository))
        )
        pulls = (payloads.parse_listed_pull(repository, item) for item in items if is_at_head(item))
        return tuple(pull for pull in pulls if pull)

    async def annotations(self, repository: Repository, run_id: int) -> tuple[CheckAnnotation, ...]:
        """The annotations of a check run."""
        path = f"{REPO_PATH}/check-runs/{{run}}/annotations?per_page=100"
        items = await self._list(repository, path, "checks=read", limit=_MAX_ANNOTATIONS, run=run_id)
        return tuple(annotation for annotation in map(_annotation, items) if annotation)

    async def job_log(self, repository: Repository, job_id: int) -> str | None:
        """The end of the log of a job of GitHub Actions, whose id is that of its check run.

        None where the App may not read it, or GitHub no longer has it: then the link has to do.
        """
        path = f"{REPO_PATH}/actions/jobs/{{job}}/logs"
        request = repository_request(repository, "GET", path, "actions=read")
        names = {**path_parameters(repository), "job": job_id}
        try:
            return await self._auth.as_installation(request, lambda api: api.tail(path, _MAX_LOG, **names))
        except (Forbidden, NotFound):
            return None

    async def suite_event(self, repository: Repository, suite_id: int) -> str:
        """The event that started a check suite of GitHub Actions; empty if the App may not read it.

        Only the run of its workflow names the event; neither a check run nor its suite does.
        """
        path = f"{REPO_PATH}/actions/runs?check_suite_id={{suite}}&per_page=1"
        try:
            answer = await self._get(repository, path, "actions=read", suite=suite_id)
        except (Forbidden, NotFound):
            return ""
        runs = get_path(answer, "workflow_runs")
        return get_text(runs[0], "event") if isinstance(runs, list) and runs else ""

    async def ended_checks(self, repository: Repository, sha: str) -> tuple[CheckEvent, ...]:
        """The checks and statuses of a commit that have ended, at most 100 of each."""
        runs = await self._get(repository, payloads.CHECK_RUNS_PATH, "checks=read", sha=sha)
        statuses = await self._get(repository, payloads.STATUS_PATH, "statuses=read", sha=sha)
        return payloads.parse_ended_checks(repository, sha, runs, statuses)

    async def check_run(self, repository: Repository, sha: str, name: str) -> PostedCheck | None:
        """The bot's newest check run with this name on a commit."""
        path = f"{REPO_PATH}/commits/{{sha}}/check-runs?check_name={{name}}&app_id={{app}}&per_page=100"
        answer = await self._get(repository, path, "checks=read", sha=sha, name=name, app=self._auth.app_id)
        runs = get_path(answer, "check_runs")
        posted = [_posted(run) for run in runs] if isinstance(runs, list) else []
        return max(posted, key=lambda run: run.id, default=None)

    async def create_check_run(
        self, repository: Repository, text: CheckRunText, link: str = ""
    ) -> PostedCheck:
        """Create a completed check run with its annotations."""
        path = f"{REPO_PATH}/check-runs"
        data = _check_run_data(text, link)
        data["output"]["annotations"] = [_annotation_data(annotation) for annotation in text.annotations]
        data |= {"name": text.name, "head_sha": text.head}
        return _posted(await self._write(repository, "POST", path, data, "checks=write"))

    async def update_check_run(
        self, repository: Repository, run_id: int, text: CheckRunText, link: str = ""
    ) -> PostedCheck:
        """Replace the text of the bot's check run; its annotations stay as they are."""
        path = f"{REPO_PATH}/check-runs/{{run}}"
        return _posted(
            await self._write(
                repository, "PATCH", path, _check_run_data(text, link), "checks=write", run=run_id
            )
        )

    async def changed_files(self, repository: Repository, number: int) -> dict[str, str]:
        """The files that a pull request changes, with the patch of each where GitHub shows one."""
        path = f"{REPO_PATH}/pulls/{{number}}/files?per_page=100"
        files = await self._list(repository, path, "pull_requests=read", limit=_MAX_FILES, number=number)
        return {get_text(file, "filename"): get_text(file, "patch") for file in files}

    async def create_review(
        self, repository: Repository, number: int, head: str, body: str, suggestions: tuple[Suggestion, ...]
    ) -> None:
        """Submit a review that neither approves nor rejects, with suggestions at their lines."""
        path = f"{REPO_PATH}/pulls/{{number}}/reviews"
        comments = [
            {"path": change.path, "line": change.line, "side": "RIGHT", "body": change.body}
            for change in suggestions
        ]
        data = {"commit_id": head, "event": "COMMENT", "body": body, "comments": comments}
        await self._write(repository, "POST", path, data, "pull_requests=write", number=number)


def _content(answer: Any, request: ApiRequest) -> bytes | None:
    if get_path(answer, "type") != "file":
        return None
    if get_path(answer, "encoding") != "base64":
        raise ValidationFailed(f"{request.what}: the file is too large")
    try:
        return base64.b64decode(get_text(answer, "content"))
    except binascii.Error as error:
        raise GitHubUnavailable(f"{request.what}: {error}") from error


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


def _check_run_data(text: CheckRunText, link: str) -> dict[str, Any]:
    data: dict[str, Any] = {
        "status": "completed",
        "conclusion": text.conclusion.value,
        "external_id": text.places,
        "output": {"title": text.title, "summary": text.summary},
    }
    return {**data, "details_url": link} if link else data


def _annotation_data(annotation: CheckAnnotation) -> dict[str, Any]:
    data: dict[str, Any] = {
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.end_line,
        "annotation_level": annotation.level,
        "message": annotation.message,
    }
    if annotation.title:
        data["title"] = annotation.title
    if (
        annotation.column and annotation.line == annotation.end_line
    ):  # GitHub takes columns within one line only
        data |= {"start_column": annotation.column, "end_column": annotation.column}
    return data


def _posted(tree: Any) -> PostedCheck:
    try:
        return PostedCheck(require_id(tree, "id"), get_text(tree, "external_id"))
    except PayloadError as error:
        raise GitHubUnavailable(f"malformed check run from GitHub: {error}") from error


def _sha(tree: Any) -> str:
    try:
        return require_text(tree, "sha")
    except PayloadError as error:
        raise GitHubUnavailable(f"malformed commit from GitHub: {error}") from error


_MAX_TREES = 32
_MAX_TEXT = 32 * 1024 * 1024
_LFS = b"version https://git-lfs.github.com/spec/"

_Blob = tuple[int, str]
_Named = tuple[int, str, str]


class RevisionApi(CommitApi):
    """Calls about the content of a revision; what is addressed by its hash is read once."""

    def __init__(self, authenticator: Authenticator) -> None:
        super().__init__(authenticator)
        self._trees: LRUCache[_Blob, Tree] = LRUCache(_MAX_TREES)
        self._blobs: LRUCache[_Blob, bytes] = LRUCache(_MAX_TEXT, getsizeof=lambda data: len(data) + 512)
        self._texts: LRUCache[_Named, FileText | UnreadableFile] = LRUCache(
            _MAX_TEXT,
            getsizeof=lambda read: 512 + (sum(map(len, read.lines)) if isinstance(read, FileText) else 0),
        )

    async def tree(self, repository: Repository, head: str) -> Tree:
        """Every path of a revision, or as many as GitHub lists."""
        key = (repository.id, head)
        if key not in self._trees:
            path = f"{REPO_PATH}/git/trees/{{sha}}?recursive=1"
            self._trees[key] = _tree(await self._get(repository, path, "contents=read", sha=head))
        return self._trees[key]

    async def text(
        self, repository: Repository, head: str, path: str, blob: str | None, *, names: bool = False
    ) -> FileText | UnreadableFile | None:
        """Read a file's lines, and with `names` its definitions; None if there is no such file."""
        if blob is None:
            return await self._text_by_path(repository, head, path, names=names)
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
        answer = await self._get(repository, path, "checks=read", sha=head)
        runs = get_path(answer, "check_runs")
        return tuple(_run(run, self._auth.app_id) for run in runs or () if get_integer(run, "id"))

    async def branch_state(self, repository: Repository, number: int) -> BranchState:
        """Whether the pull request can be merged, as GitHub sees it now."""
        answer = await self._get(
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
        answer = await self._get(repository, path, "contents=read", basehead=f"{base}...{head}")
        return get_integer(answer, "behind_by")

    async def _text_by_path(
        self, repository: Repository, head: str, path: str, *, names: bool
    ) -> FileText | UnreadableFile | None:
        try:
            data = await self.file(repository, path, head)
        except ValidationFailed:
            return UnreadableFile("larger than 1 MB")
        return None if data is None else await _text(path, data, names=names)

    async def _blob(self, repository: Repository, sha: str) -> bytes | None:
        key = (repository.id, sha)
        if key not in self._blobs:
            try:
                answer = await self._get(
                    repository, f"{REPO_PATH}/git/blobs/{{sha}}", "contents=read", sha=sha
                )
            except NotFound:
                return None
            self._blobs[key] = _decoded(answer)
        return self._blobs[key]


async def _text(path: str, data: bytes, *, names: bool) -> FileText | UnreadableFile:
    if len(data) > MAX_FILE_SIZE:
        return UnreadableFile("larger than 1 MB")
    if data.startswith(_LFS):
        return UnreadableFile("stored in Git LFS")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return UnreadableFile("a binary file")
    if "\0" in text:
        return UnreadableFile("a binary file")
    lines = text.replace("\r\n", "\n").split("\n")
    outline = await outline_file(path, text) if names else None
    return FileText(tuple(lines[:-1] if lines and not lines[-1] else lines), outline)


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
    parts = [get_text(tree, f"output.{part}") for part in ("title", "summary", "text")]
    return ObservedCheckRun(
        id=get_integer(tree, "id") or 0,
        name=get_text(tree, "name"),
        conclusion=get_text(tree, "conclusion") or None,
        output="\n".join(filter(None, parts)),
        annotations_count=get_integer(tree, "output.annotations_count") or 0,
        ours=get_integer(tree, "app.id") == ours,
    )


def _decoded(answer: Any) -> bytes:
    try:
        return base64.b64decode(get_text(answer, "content"))
    except binascii.Error as error:
        raise GitHubUnavailable(f"malformed blob from GitHub: {error}") from error
