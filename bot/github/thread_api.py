"""Read and write comments, reactions, labels and issues, and list repositories and pull requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from bot.github import payloads
from bot.github.auth import Authenticator
from bot.github.errors import ApiRequest, GitHubUnavailable, NotFound, ValidationFailed
from bot.github.model import FoundComment, FoundIssue, PostedComment, PullRequestPage, RateBudget
from bot.github.payloads import PayloadError, get_integer, get_path, get_text, require_id
from bot.github.transport import REPO_PATH, parse_posted_comment, path_parameters, repository_request
from bot.pull_request.effects import CommandSource, ReactionKind
from bot.pull_request.events import PullRequestSnapshot
from bot.values import Account, Repository

PAGE_SIZE = 50
"""Pull requests that are brought in at once: the daily work waits for no more than these."""
# The last changed first: whatever changes meanwhile comes again, and nothing is passed over.
_FIRST = f"{REPO_PATH}/pulls?state=all&sort=updated&direction=desc&per_page={PAGE_SIZE}"
# The oldest first: what is opened meanwhile comes last, and has events of its own.
_OPEN = f"{REPO_PATH}/pulls?state=open&sort=created&direction=asc&per_page=100"
_REPOSITORIES = "/installation/repositories?per_page=100"


class RepositoryApi:
    """The calls of a backfill."""

    _callers: Authenticator

    async def repository(self, owner: str, name: str, installation_id: int) -> Repository:
        """A repository as this installation sees it."""
        asked = ApiRequest(f"GET {REPO_PATH} of {owner}/{name}", "metadata=read", installation_id)
        tree = await self._callers.as_installation(
            asked, lambda api: api.get(REPO_PATH, owner=owner, repo=name)
        )
        try:
            return payloads.parse_repository({"repository": tree, "installation": {"id": installation_id}})
        except PayloadError as error:
            raise GitHubUnavailable(f"GitHub's repository can't be read: {error}") from error

    async def pull_requests_page(self, repository: Repository, page: str) -> PullRequestPage:
        """The pull requests of this page, or of the first one, the last changed first."""
        return await self._pulls_page(repository, page or _FIRST, given=bool(page))

    async def open_pull_requests_page(self, repository: Repository, page: str) -> PullRequestPage:
        """The open pull requests of this page, or of the first one, the oldest first."""
        return await self._pulls_page(repository, page or _OPEN, given=bool(page))

    async def repositories_page(self, installation_id: int, page: str) -> tuple[tuple[Repository, ...], str]:
        """The repositories of an installation on this page, or on the first one, and the next page."""
        asked = ApiRequest("GET /installation/repositories", "metadata=read", installation_id)
        found, following = await self._callers.as_installation(
            asked, lambda api: api.named_page(page or _REPOSITORIES, "repositories")
        )
        where = {"installation": {"id": installation_id}}
        read = (_repository({"repository": tree, **where}) for tree in found)
        return tuple(each for each in read if each), following or ""

    async def _pulls_page(self, repository: Repository, page: str, *, given: bool) -> PullRequestPage:
        asked = ApiRequest(
            f"GET {REPO_PATH}/pulls of {repository.full_name}",
            "pull_requests=read",
            repository.installation_id,
            repository.id,
        )
        names = {} if given else path_parameters(repository)
        found, following, last = await self._callers.as_installation(
            asked, lambda api: api.page(page, **names)
        )
        read = (_pull(repository, tree) for tree in found)
        total = len(found) if following is None and not given else last and last * PAGE_SIZE
        return PullRequestPage(tuple(each for each in read if each), following or "", total)

    async def budget(self, repository: Repository) -> RateBudget | None:
        """What the installation may still ask in this hour; asking this counts for nothing."""
        asked = ApiRequest("GET /rate_limit", "", repository.installation_id, repository.id)
        try:
            told = await self._callers.as_installation(asked, lambda api: api.get("/rate_limit"))
        except NotFound:  # a server of one's own that counts nothing
            return None
        left, limit = (get_integer(told, f"resources.core.{name}") for name in ("remaining", "limit"))
        resets = get_integer(told, "resources.core.reset")
        if left is None or not limit or resets is None:
            return None
        return RateBudget(left, limit, datetime.fromtimestamp(min(resets, 2**40), UTC))


def _repository(tree: Any) -> Repository | None:
    try:
        return payloads.parse_repository(tree)
    except PayloadError:
        return None


def _pull(repository: Repository, tree: Any) -> PullRequestSnapshot | None:
    try:
        return payloads.parse_pull_request(repository, tree)
    except PayloadError:
        return None


_OLDEST = 500
_REACTIONS = {
    CommandSource.COMMENT: f"{REPO_PATH}/issues/comments/{{comment}}/reactions",
    CommandSource.INLINE: f"{REPO_PATH}/pulls/comments/{{comment}}/reactions",
}
_REACT = """
mutation($node: ID!, $face: ReactionContent!) {
  addReaction(input: {subjectId: $node, content: $face}) { reaction { content } }
}
"""


class ThreadApi(ABC):
    """The calls about conversations; the client's other half lends the credentials."""

    _callers: Authenticator

    @abstractmethod
    async def me(self) -> Account:
        """The App's own bot account."""

    async def react(
        self, repository: Repository, where: CommandSource, number: int, node_id: str, face: ReactionKind
    ) -> None:
        """Put our reaction on a text; a second one of the same kind is the first."""
        path = _REACTIONS.get(where)
        asked = ApiRequest(
            f"react in {repository.full_name}",
            "pull_requests=write",
            repository.installation_id,
            repository.id,
        )
        if path is None:  # a review's body has no reactions in the REST API
            kind = face.value.upper()
            await self._callers.as_installation(
                asked, lambda api: api.mutate(_REACT, node=node_id, face=kind)
            )
            return
        names = {**path_parameters(repository), "comment": number}
        data = {"content": face.value}
        await self._callers.as_installation(asked, lambda api: api.write("POST", path, data, **names))

    async def reply_inline(self, repository: Repository, number: int, first: int, body: str) -> PostedComment:
        """Answer below the first comment of an inline thread."""
        path = f"{REPO_PATH}/pulls/{{number}}/comments/{{comment}}/replies"
        answer = await self._written(
            repository, "POST", path, {"body": body}, "pull_requests=write", number=number, comment=first
        )
        return parse_posted_comment(answer)

    async def find_text(
        self, repository: Repository, number: int, mark: str, since: datetime, *, inline: bool = False
    ) -> PostedComment | None:
        """Our own comment in which this mark stands, the oldest among those written since then."""
        kind = "pulls" if inline else "issues"
        path = f"{REPO_PATH}/{kind}/{{number}}/comments?since={{since}}&per_page=100"
        at = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found = await self._all(repository, path, number=number, since=at)
        ours = (await self.me()).id
        posted = [parse_posted_comment(each) for each in _by(found, ours) if mark in get_text(each, "body")]
        return min(posted, key=lambda comment: comment.id, default=None)

    async def own_comments(self, repository: Repository, number: int, mark: str) -> tuple[FoundComment, ...]:
        """Our own comments in which this mark stands, oldest first, among the first 500 of the thread."""
        path = f"{REPO_PATH}/issues/{{number}}/comments?per_page=100"
        found = _by(await self._all(repository, path, _OLDEST, number=number), (await self.me()).id)
        marked = (each for each in found if mark in get_text(each, "body"))
        return tuple(FoundComment(parse_posted_comment(each), get_text(each, "body")) for each in marked)

    async def issue(self, repository: Repository, number: int) -> FoundIssue:
        """An issue as it is now; `Gone` where somebody deleted it."""
        path = f"{REPO_PATH}/issues/{{number}}"
        asked = repository_request(repository, "GET", path, "issues=read")
        names = {**path_parameters(repository), "number": number}
        return _issue(await self._callers.as_installation(asked, lambda api: api.get(path, **names)))

    async def issues_labelled(self, repository: Repository, label: str) -> tuple[FoundIssue, ...]:
        """Our own issues with this label, open and closed, oldest first."""
        me = await self.me()
        path = f"{REPO_PATH}/issues?labels={{label}}&creator={{creator}}&state=all&direction=asc&per_page=100"
        found = await self._all(repository, path, label=label, creator=me.login)
        return tuple(_issue(each) for each in _by(found, me.id) if not get_path(each, "pull_request"))

    async def create_issue(
        self, repository: Repository, title: str, body: str, labels: tuple[str, ...]
    ) -> FoundIssue:
        """A new issue."""
        data = {"title": title, "body": body, "labels": list(labels)}
        path = f"{REPO_PATH}/issues"
        return _issue(await self._written(repository, "POST", path, data, "issues=write"))

    async def edit_issue(self, repository: Repository, number: int, body: str) -> None:
        """Another description of an issue of ours."""
        path = f"{REPO_PATH}/issues/{{number}}"
        await self._written(repository, "PATCH", path, {"body": body}, "issues=write", number=number)

    async def labels(self, repository: Repository, number: int) -> tuple[str, ...]:
        """The names of the labels of a thread."""
        path = f"{REPO_PATH}/issues/{{number}}/labels?per_page=100"
        found = await self._all(repository, path, number=number)
        return tuple(get_text(each, "name") for each in found)

    async def make_label(self, repository: Repository, name: str, colour: str, description: str) -> None:
        """A label of this name is in the repository; one that is there stays as it is."""
        path = f"{REPO_PATH}/labels/{{name}}"
        asked = repository_request(repository, "GET", path, "issues=read")
        gaps = {**path_parameters(repository), "name": name}
        try:
            await self._callers.as_installation(asked, lambda api: api.get(path, **gaps))
        except NotFound:
            data = {"name": name, "color": colour, "description": description}
            with suppress(ValidationFailed):  # somebody was quicker
                await self._written(repository, "POST", f"{REPO_PATH}/labels", data, "issues=write")

    async def add_label(self, repository: Repository, number: int, name: str) -> None:
        """One label more on a thread."""
        path = f"{REPO_PATH}/issues/{{number}}/labels"
        await self._written(
            repository, "POST", path, {"labels": [name]}, "pull_requests=write", number=number
        )

    async def remove_label(self, repository: Repository, number: int, name: str) -> None:
        """One label less; `Gone` where it was not there."""
        path = f"{REPO_PATH}/issues/{{number}}/labels/{{name}}"
        asked = repository_request(repository, "DELETE", path, "pull_requests=write")
        gaps = {**path_parameters(repository), "number": number, "name": name}
        await self._callers.as_installation(asked, lambda api: api.remove(path, **gaps))

    async def _written(
        self, repository: Repository, method: str, path: str, data: Any, permission: str = "", **gaps: int
    ) -> Any:
        asked = repository_request(repository, method, path, permission)
        names = {**path_parameters(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.write(method, path, data, **names))

    async def _all(
        self, repository: Repository, path: str, limit: int | None = None, **gaps: str | int
    ) -> list[Any]:
        asked = repository_request(repository, "GET", path, "issues=read")
        names = {**path_parameters(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.items(path, limit, **names))


def _by(found: Iterable[Any], account_id: int) -> list[Any]:
    return [each for each in found if get_path(each, "user.id") == account_id]


def _issue(answer: Any) -> FoundIssue:
    try:
        number = require_id(answer, "number")
    except PayloadError as error:
        raise GitHubUnavailable(f"GitHub's issue can't be read: {error}") from error
    return FoundIssue(number, get_path(answer, "state") != "closed", get_text(answer, "body"))
