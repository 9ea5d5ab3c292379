"""What GitHub knows about commits: their files, their pull requests, and what checks said of them."""

from __future__ import annotations

import base64
import binascii
from typing import Any
from urllib.parse import quote

from bot.adapters.github import revision_reads
from bot.adapters.github.asking import REPO, asked_in, names_of
from bot.adapters.github.callers import Callers
from bot.adapters.github.errors import Asked
from bot.adapters.payloads import outputs, things
from bot.adapters.payloads.fields import Json, Odd, find, identifier, optional_integer, text, word
from bot.domain.check_runs import Annotation, CheckText
from bot.domain.events import CheckSeen
from bot.domain.model import Repository
from bot.domain.snapshots import PullRequestSnapshot
from bot.domain.suggestions import Suggestion
from bot.ports import Forbidden, Gone, PostedCheck, Refused, Unavailable

_MOST_FILES = 300
_MOST_PULLS = 300
_MOST_PAGES = 10
_MOST_ANNOTATIONS = 200


class CommitCalls:
    """The calls about commits; the client's other half lends the credentials."""

    _callers: Callers

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        """A file at a ref, of the default branch where none is given; None where there is no such file."""
        address = f"{REPO}/contents/{{+file}}" + ("?ref={ref}" if ref else "")
        asked = asked_in(repository, "GET", address, "contents=read")
        gaps = {**names_of(repository), "file": quote(path)} | ({"ref": ref} if ref else {})
        try:
            answer = await self._callers.as_installation(asked, lambda api: api.get(address, **gaps))
        except Gone:
            return None
        return _content(answer, asked)

    async def covers(self, owner: str, name: str) -> bool:
        """Whether the App is installed in this repository."""
        path = f"{REPO}/installation"
        asked = Asked(f"GET {path} of {owner}/{name}", "", 0)
        try:
            await self._callers.as_app(asked, lambda api: api.get(path, owner=owner, repo=name))
        except (Gone, Forbidden):
            return False
        return True

    async def branch_head(self, repository: Repository) -> str:
        """The newest commit of the default branch."""
        path = f"{REPO}/commits?sha={{branch}}&per_page=1"
        found = await self._listed(
            repository, path, "contents=read", limit=1, branch=repository.default_branch
        )
        if not found:
            raise Gone(f"{repository.full_name} has no commit")
        return _sha(found[0])

    async def pull_requests_at(self, repository: Repository, sha: str) -> tuple[PullRequestSnapshot, ...]:
        """The open pull requests with this head; those from forks have to be looked for.

        A fork's is missed where more than a thousand open ones were changed after its last change.
        """
        path = f"{REPO}/commits/{{sha}}/pulls?per_page=100"
        try:
            found = await self._pulls(repository, path, sha=sha)
        except (Gone, Refused):  # a fork's commit that the base does not show
            found = ()
        at = tuple(each for each in found if each.open and each.head == sha)
        if at:
            return at
        return await self._newest_at(repository, sha)

    async def _newest_at(self, repository: Repository, sha: str) -> tuple[PullRequestSnapshot, ...]:
        """The open pull requests of the first page that has one with this head, the last changed first."""
        path = f"{REPO}/pulls?state=open&sort=updated&direction=desc&per_page=100"
        asked = asked_in(repository, "GET", path, "pull_requests=read")

        def is_here(tree: Any) -> bool:
            return text(tree, "head.sha") == sha

        listed = await self._callers.as_installation(
            asked, lambda api: api.items_until(path, is_here, _MOST_PAGES, **names_of(repository))
        )
        found = (_pull(repository, tree) for tree in listed if is_here(tree))
        return tuple(each for each in found if each)

    async def annotations(self, repository: Repository, run_id: int) -> tuple[Annotation, ...]:
        """What a check run found, and where."""
        path = f"{REPO}/check-runs/{{run}}/annotations?per_page=100"
        found = await self._listed(repository, path, "checks=read", limit=_MOST_ANNOTATIONS, run=run_id)
        return tuple(one for one in map(_annotation, found) if one)

    async def ended_checks(self, repository: Repository, sha: str) -> tuple[CheckSeen, ...]:
        """The checks and statuses of a commit that have ended, at most 100 of each."""
        runs = await self._of_commit(repository, revision_reads.CHECK_RUNS, "checks=read", sha)
        statuses = await self._of_commit(repository, revision_reads.STATUS, "statuses=read", sha)
        return revision_reads.ended_checks(repository, sha, runs, statuses)

    async def check_run(self, repository: Repository, sha: str, name: str) -> PostedCheck | None:
        """The newest run of ours with this name on a commit."""
        path = f"{REPO}/commits/{{sha}}/check-runs?check_name={{name}}&app_id={{app}}&per_page=100"
        asked = asked_in(repository, "GET", path, "checks=read")
        gaps = {**names_of(repository), "sha": sha, "name": name, "app": self._callers.app_id}
        answer = await self._callers.as_installation(asked, lambda api: api.get(path, **gaps))
        runs = find(answer, "check_runs")
        posted = [_posted(run) for run in runs] if isinstance(runs, list) else []
        return max(posted, key=lambda run: run.id, default=None)

    async def create_check_run(self, repository: Repository, said: CheckText, link: str = "") -> PostedCheck:
        """A new run that has ended, with its annotations."""
        path = f"{REPO}/check-runs"
        data = _written(said, link)
        data["output"]["annotations"] = [_annotated(one) for one in said.annotations]
        data |= {"name": said.name, "head_sha": said.head}
        return _posted(await self._put_json(repository, "POST", path, data, "checks=write"))

    async def update_check_run(
        self, repository: Repository, run_id: int, said: CheckText, link: str = ""
    ) -> PostedCheck:
        """Other words for a run of ours; its annotations stay as they are."""
        path = f"{REPO}/check-runs/{{run}}"
        return _posted(
            await self._put_json(repository, "PATCH", path, _written(said, link), "checks=write", run=run_id)
        )

    async def changed_files(self, repository: Repository, number: int) -> dict[str, str]:
        """The files that a pull request changes, with the patch of each where GitHub shows one."""
        path = f"{REPO}/pulls/{{number}}/files?per_page=100"
        found = await self._listed(repository, path, "pull_requests=read", limit=_MOST_FILES, number=number)
        return {text(each, "filename"): text(each, "patch") for each in found}

    async def create_review(
        self, repository: Repository, number: int, head: str, body: str, suggestions: tuple[Suggestion, ...]
    ) -> None:
        """A review of ours that neither approves nor rejects, with suggestions at their lines."""
        path = f"{REPO}/pulls/{{number}}/reviews"
        comments = [
            {"path": one.path, "line": one.line, "side": "RIGHT", "body": one.body} for one in suggestions
        ]
        data = {"commit_id": head, "event": "COMMENT", "body": body, "comments": comments}
        await self._put_json(repository, "POST", path, data, "pull_requests=write", number=number)

    async def _of_commit(self, repository: Repository, path: str, permission: str, sha: str) -> Any:
        asked = asked_in(repository, "GET", path, permission)
        return await self._callers.as_installation(
            asked, lambda api: api.get(path, **names_of(repository), sha=sha)
        )

    async def _pulls(
        self, repository: Repository, path: str, **gaps: str | int
    ) -> tuple[PullRequestSnapshot, ...]:
        found = await self._listed(repository, path, "pull_requests=read", limit=_MOST_PULLS, **gaps)
        return tuple(pull for tree in found if (pull := _pull(repository, tree)))

    async def _listed(
        self, repository: Repository, path: str, permission: str, *, limit: int, **gaps: str | int
    ) -> list[Any]:
        asked = asked_in(repository, "GET", path, permission)
        return await self._callers.as_installation(
            asked, lambda api: api.items(path, limit, **names_of(repository), **gaps)
        )

    async def _put_json(
        self, repository: Repository, method: str, path: str, data: Any, permission: str, **gaps: int
    ) -> Any:
        asked = asked_in(repository, method, path, permission)
        names = {**names_of(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.write(method, path, data, **names))


def _content(answer: Any, asked: Asked) -> bytes | None:
    if find(answer, "type") != "file":
        return None
    if find(answer, "encoding") != "base64":
        raise Refused(f"{asked.what}: the file is too large to be read")
    try:
        return base64.b64decode(text(answer, "content"))
    except binascii.Error as error:
        raise Unavailable(f"{asked.what}: {error}") from error


def _pull(repository: Repository, tree: Json) -> PullRequestSnapshot | None:
    try:
        return things.pull_request_of(repository, tree)
    except Odd:
        return None


def _annotation(tree: Any) -> Annotation | None:
    line, path = optional_integer(tree, "start_line"), text(tree, "path")
    if not line or line < 1 or not path:
        return None
    return Annotation(
        path=path,
        line=line,
        end_line=max(line, optional_integer(tree, "end_line") or line),
        message=outputs.kept(text(tree, "message")),
        title=outputs.kept(text(tree, "title")),
        level=text(tree, "annotation_level"),
    )


def _written(said: CheckText, link: str) -> dict[str, Any]:
    data: dict[str, Any] = {
        "status": "completed",
        "conclusion": said.conclusion.value,
        "external_id": said.places,
        "output": {"title": said.title, "summary": said.summary},
    }
    return {**data, "details_url": link} if link else data


def _annotated(one: Annotation) -> dict[str, Any]:
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
        return PostedCheck(identifier(tree, "id"), text(tree, "external_id"))
    except Odd as error:
        raise Unavailable(f"GitHub's check run can't be read: {error}") from error


def _sha(tree: Any) -> str:
    try:
        return word(tree, "sha")
    except Odd as error:
        raise Unavailable(f"GitHub's commit can't be read: {error}") from error
