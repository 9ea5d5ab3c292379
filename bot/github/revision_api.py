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
from bot.github.errors import (
    ApiRequest,
    Forbidden,
    GitHubUnavailable,
    NotFound,
    ValidationFailed,
    parse_answer,
)
from bot.github.model import FileCommit, PostedCheck
from bot.github.payloads import (
    JsonObject,
    get_integer,
    get_list,
    get_path,
    get_text,
    get_time,
    require_id,
    require_text,
)
from bot.github.transport import REPO_PATH, fill_path
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
_CHECK_RUNS = "/commits/{sha}/check-runs?per_page=100"
_MAX_TREES = 32
_MAX_TEXT = 32 * 1024 * 1024
_LFS = b"version https://git-lfs.github.com/spec/"

_Blob = tuple[int, str]
_Named = tuple[int, str, str]


class RevisionApi(InstallationApi):
    """Calls about revisions: commits, their files and checks; what is addressed by its hash is read once."""

    def __init__(self, authenticator: Authenticator) -> None:
        super().__init__(authenticator)
        self._trees: LRUCache[_Blob, Tree] = LRUCache(_MAX_TREES)
        self._blobs: LRUCache[_Blob, bytes] = LRUCache(_MAX_TEXT, getsizeof=lambda data: len(data) + 512)
        self._texts: LRUCache[_Named, FileText | UnreadableFile] = LRUCache(
            _MAX_TEXT,
            getsizeof=lambda read: 512 + (sum(map(len, read.lines)) if isinstance(read, FileText) else 0),
        )

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        """Read a file at a ref, by default of the default branch; None if there is no such file."""
        address = "/contents/{+file}" + ("?ref={ref}" if ref else "")
        gaps = {"file": quote(path)} | ({"ref": ref} if ref else {})
        try:
            answer = await self._get(repository, address, "contents=read", **gaps)
        except NotFound:
            return None
        if get_path(answer, "type") != "file":
            return None
        if get_path(answer, "encoding") != "base64":
            raise ValidationFailed(f"{path} in {repository.full_name}: the file is too large")
        return _decode_content(answer)

    async def file_commits(self, repository: Repository, path: str) -> tuple[FileCommit, ...]:
        """The newest commits of the default branch that changed a file, at most 100, newest first."""
        address = "/commits?sha={branch}&path={file}&per_page=100"
        commits = await self._list(
            repository, address, "contents=read", limit=100, branch=repository.default_branch, file=path
        )
        dated = ((_sha(commit), get_time(commit, "commit.committer.date")) for commit in commits)
        return tuple(FileCommit(sha, at) for sha, at in dated if at)

    async def covers(self, owner: str, name: str) -> bool:
        """Whether the App is installed in this repository."""
        request = ApiRequest(f"GET {REPO_PATH}/installation of {owner}/{name}", "", 0)
        try:
            url = fill_path(f"{REPO_PATH}/installation", owner=owner, repo=name)
            await self._auth.as_app(request, lambda api: api.get(url))
        except (NotFound, Forbidden):
            return False
        return True

    async def branch_head(self, repository: Repository) -> str:
        """The newest commit of the default branch."""
        path = "/commits?sha={branch}&per_page=1"
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
        path = "/commits/{sha}/pulls?per_page=100"
        try:
            items = await self._list(repository, path, "pull_requests=read", _MAX_PULLS, sha=sha)
        except (NotFound, ValidationFailed):  # a fork's commit that the base does not show
            items = []
        pulls = payloads.parse_pull_requests(repository, items)
        at_head = tuple(pull for pull in pulls if pull.open and pull.head == sha)
        return at_head or await self._newest_at(repository, sha)

    async def _newest_at(self, repository: Repository, sha: str) -> tuple[PullRequestSnapshot, ...]:
        """Search the open pull requests, last changed first, up to the page that has this head."""

        def is_at_head(tree: Any) -> bool:
            return get_text(tree, "head.sha") == sha

        items = await self._call(
            repository,
            "GET",
            "/pulls?state=open&sort=updated&direction=desc&per_page=100",
            "pull_requests=read",
            lambda api, url: api.items_until(url, is_at_head, _MAX_PAGES),
        )
        return payloads.parse_pull_requests(repository, filter(is_at_head, items))

    async def annotations(self, repository: Repository, run_id: int) -> tuple[CheckAnnotation, ...]:
        """The annotations of a check run."""
        path = "/check-runs/{run}/annotations?per_page=100"
        items = await self._list(repository, path, "checks=read", limit=_MAX_ANNOTATIONS, run=run_id)
        return tuple(annotation for annotation in map(_annotation, items) if annotation)

    async def job_log(self, repository: Repository, job_id: int) -> str | None:
        """The end of the log of a job of GitHub Actions, whose id is that of its check run.

        None where the App may not read it, or GitHub no longer has it: then the link has to do.
        """
        path = "/actions/jobs/{job}/logs"
        try:
            return await self._call(
                repository, "GET", path, "actions=read", lambda api, url: api.tail(url, _MAX_LOG), job=job_id
            )
        except (Forbidden, NotFound):
            return None

    async def suite_event(self, repository: Repository, suite_id: int) -> str:
        """The event that started a check suite of GitHub Actions; empty if the App may not read it.

        Only the run of its workflow names the event; neither a check run nor its suite does.
        """
        path = "/actions/runs?check_suite_id={suite}&per_page=1"
        try:
            answer = await self._get(repository, path, "actions=read", suite=suite_id)
        except (Forbidden, NotFound):
            return ""
        return next((get_text(run, "event") for run in get_list(answer, "workflow_runs")), "")

    async def ended_checks(self, repository: Repository, sha: str) -> tuple[CheckEvent, ...]:
        """The checks and statuses of a commit that have ended, at most 100 of each."""
        return payloads.parse_ended_checks(repository, sha, *await self._checks_of(repository, sha))

    async def _checks_of(self, repository: Repository, sha: str) -> tuple[Any, Any]:
        """The newest check runs and statuses of a commit, at most 100 of each."""
        statuses = "/commits/{sha}/status?per_page=100"
        return (
            await self._get(repository, _CHECK_RUNS, "checks=read", sha=sha),
            await self._get(repository, statuses, "statuses=read", sha=sha),
        )

    async def check_run(self, repository: Repository, sha: str, name: str) -> PostedCheck | None:
        """The bot's newest check run with this name on a commit."""
        path = "/commits/{sha}/check-runs?check_name={name}&app_id={app}&per_page=100"
        answer = await self._get(repository, path, "checks=read", sha=sha, name=name, app=self._auth.app_id)
        posted = map(_posted, get_list(answer, "check_runs"))
        return max(posted, key=lambda run: run.id, default=None)

    async def create_check_run(
        self, repository: Repository, text: CheckRunText, link: str = ""
    ) -> PostedCheck:
        """Create a completed check run with its annotations."""
        data = _check_run_data(text, link)
        data["output"]["annotations"] = [_annotation_data(annotation) for annotation in text.annotations]
        data |= {"name": text.name, "head_sha": text.head}
        return _posted(await self._write(repository, "POST", "/check-runs", "checks=write", data))

    async def update_check_run(
        self, repository: Repository, run_id: int, text: CheckRunText, link: str = ""
    ) -> PostedCheck:
        """Replace the text of the bot's check run; its annotations stay as they are."""
        path, data = "/check-runs/{run}", _check_run_data(text, link)
        return _posted(await self._write(repository, "PATCH", path, "checks=write", data, run=run_id))

    async def changed_files(self, repository: Repository, number: int) -> dict[str, str]:
        """The files that a pull request changes, with the patch of each where GitHub shows one."""
        path = "/pulls/{number}/files?per_page=100"
        files = await self._list(repository, path, "pull_requests=read", limit=_MAX_FILES, number=number)
        return {get_text(file, "filename"): get_text(file, "patch") for file in files}

    async def create_review(
        self, repository: Repository, number: int, head: str, body: str, suggestions: tuple[Suggestion, ...]
    ) -> None:
        """Submit a review that neither approves nor rejects, with suggestions at their lines."""
        comments = [
            {"path": change.path, "line": change.line, "side": "RIGHT", "body": change.body}
            for change in suggestions
        ]
        data = {"commit_id": head, "event": "COMMENT", "body": body, "comments": comments}
        await self._write(
            repository, "POST", "/pulls/{number}/reviews", "pull_requests=write", data, number=number
        )

    async def tree(self, repository: Repository, head: str) -> Tree:
        """Every path of a revision, or as many as GitHub lists."""
        key = (repository.id, head)
        if key not in self._trees:
            path = "/git/trees/{sha}?recursive=1"
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
        answer = await self._get(repository, _CHECK_RUNS, "checks=read", sha=head)
        runs = get_list(answer, "check_runs")
        return tuple(_run(run, self._auth.app_id) for run in runs if get_integer(run, "id"))

    async def branch_state(self, repository: Repository, number: int) -> BranchState:
        """Whether the pull request can be merged, as GitHub sees it now."""
        answer = await self._get(repository, "/pulls/{number}", "pull_requests=read", number=number)
        mergeable = get_path(answer, "mergeable")
        return BranchState(
            head=get_text(answer, "head.sha"),
            mergeable=mergeable if isinstance(mergeable, bool) else None,
            draft=get_path(answer, "draft") is True,
            commits=get_integer(answer, "commits"),
        )

    async def behind_by(self, repository: Repository, base: str, head: str) -> int | None:
        """How many commits of the base the head does not have."""
        path = "/compare/{basehead}?per_page=1"
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
                answer = await self._get(repository, "/git/blobs/{sha}", "contents=read", sha=sha)
            except NotFound:
                return None
            self._blobs[key] = _decode_content(answer)
        return self._blobs[key]


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


def _posted(answer: Any) -> PostedCheck:
    number = parse_answer("malformed check run from GitHub", lambda tree: require_id(tree, "id"), answer)
    return PostedCheck(number, get_text(answer, "external_id"))


def _sha(answer: Any) -> str:
    return parse_answer("malformed commit from GitHub", lambda tree: require_text(tree, "sha"), answer)


def _decode_content(answer: Any) -> bytes:
    try:
        return base64.b64decode(get_text(answer, "content"))
    except binascii.Error as error:
        raise GitHubUnavailable(f"malformed content from GitHub: {error}") from error


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
    items = get_list(answer, "tree")
    entries = {get_text(item, "path"): _entry(item) for item in items if get_text(item, "path")}
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
