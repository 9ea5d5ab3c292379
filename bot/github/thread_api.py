"""Read and write comments, reactions, labels and issues, and list repositories and pull requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from bot.github import payloads
from bot.github.auth import InstallationApi, parse_posted_comment
from bot.github.errors import ApiRequest, NotFound, ValidationFailed, parse_answer
from bot.github.model import FoundComment, FoundIssue, PostedComment, PullRequestPage, RateBudget
from bot.github.payloads import get_integer, get_path, get_text, require_id
from bot.github.transport import REPO_PATH, GitHubRequester, fill_path
from bot.pull_request.effects import CommandSource, ReactionKind
from bot.values import Account, Repository

PAGE_SIZE = 50
"""Pull requests that are brought in at once: the daily work waits for no more than these."""
# The last changed first: whatever changes meanwhile comes again, and nothing is passed over.
_FIRST = f"/pulls?state=all&sort=updated&direction=desc&per_page={PAGE_SIZE}"
# The oldest first: what is opened meanwhile comes last, and has events of its own.
_OPEN = "/pulls?state=open&sort=created&direction=asc&per_page=100"
_REPOSITORIES = "/installation/repositories?per_page=100"


_READ = "issues=read"
_MAX_COMMENTS = 500
_REACTIONS = {
    CommandSource.COMMENT: "/issues/comments/{comment}/reactions",
    CommandSource.INLINE: "/pulls/comments/{comment}/reactions",
}
_REACT = """
mutation($node: ID!, $face: ReactionContent!) {
  addReaction(input: {subjectId: $node, content: $face}) { reaction { content } }
}
"""


class ThreadApi(InstallationApi):
    """Calls about conversations, labels and issues, and lists of repositories and pull requests."""

    async def repository(self, owner: str, name: str, installation_id: int) -> Repository:
        """Read a repository as this installation sees it."""
        request = ApiRequest(f"GET {REPO_PATH} of {owner}/{name}", "metadata=read", installation_id)
        url = fill_path(REPO_PATH, owner=owner, repo=name)
        answer = {
            "repository": await self._auth.as_installation(request, lambda api: api.get(url)),
            "installation": {"id": installation_id},
        }
        return parse_answer("malformed repository from GitHub", payloads.parse_repository, answer)

    async def pull_requests_page(self, repository: Repository, page: str) -> PullRequestPage:
        """One page of the pull requests, last changed first; an empty `page` is the first one."""
        return await self._pulls_page(repository, _FIRST, page)

    async def open_pull_requests_page(self, repository: Repository, page: str) -> PullRequestPage:
        """One page of the open pull requests, oldest first; an empty `page` is the first one."""
        return await self._pulls_page(repository, _OPEN, page)

    async def repositories_page(self, installation_id: int, page: str) -> tuple[tuple[Repository, ...], str]:
        """One page of an installation's repositories, and the next page's address."""
        request = ApiRequest("GET /installation/repositories", "metadata=read", installation_id)
        items, next_page = await self._auth.as_installation(
            request, lambda api: api.page(page or _REPOSITORIES, "repositories")
        )
        installation = {"installation": {"id": installation_id}}
        answers = ({"repository": tree, **installation} for tree in items)
        return tuple(payloads.parse_each(payloads.parse_repository, answers)), next_page or ""

    async def _pulls_page(self, repository: Repository, first: str, page: str) -> PullRequestPage:
        async def send(api: GitHubRequester, url: str) -> tuple[list[Any], str | None, int | None]:
            return (*await api.page(page or url), api.last_page)

        items, next_page, last = await self._call(repository, "GET", first, "pull_requests=read", send)
        total = len(items) if next_page is None and not page else last and last * PAGE_SIZE
        return PullRequestPage(payloads.parse_pull_requests(repository, items), next_page or "", total)

    async def budget(self, repository: Repository) -> RateBudget | None:
        """The installation's remaining rate limit, None if it has none; the request is not counted."""
        request = ApiRequest("GET /rate_limit", "", repository.installation_id, repository.id)
        try:
            limits = await self._auth.as_installation(request, lambda api: api.get("/rate_limit"))
        except NotFound:  # an enterprise server without rate limits
            return None
        remaining, limit = (get_integer(limits, f"resources.core.{name}") for name in ("remaining", "limit"))
        resets = get_integer(limits, "resources.core.reset")
        if remaining is None or not limit or resets is None:
            return None
        return RateBudget(remaining, limit, datetime.fromtimestamp(min(resets, 2**40), UTC))

    async def react(
        self, repository: Repository, where: CommandSource, number: int, node_id: str, face: ReactionKind
    ) -> None:
        """Add the bot's reaction; repeating it changes nothing."""
        path = _REACTIONS.get(where)
        if path is None:  # a review's body has no reactions in the REST API
            what = f"react in {repository.full_name}"
            await self._mutate(repository, what, _REACT, node=node_id, face=face.value.upper())
        else:
            data = {"content": face.value}
            await self._write(repository, "POST", path, "pull_requests=write", data, comment=number)

    async def reply_inline(self, repository: Repository, number: int, first: int, body: str) -> PostedComment:
        """Reply below the first comment of an inline thread."""
        path = "/pulls/{number}/comments/{comment}/replies"
        answer = await self._write(
            repository, "POST", path, "pull_requests=write", {"body": body}, number=number, comment=first
        )
        return parse_posted_comment(answer)

    async def find_text(
        self, repository: Repository, number: int, mark: str, since: datetime, *, inline: bool = False
    ) -> PostedComment | None:
        """Find the bot's oldest comment since then whose text contains this mark."""
        kind = "pulls" if inline else "issues"
        return await self._find_own(repository, kind, number, since, lambda body: mark in body)

    async def _find_own(
        self,
        repository: Repository,
        kind: str,
        number: int,
        since: datetime,
        is_wanted: Callable[[str], bool],
    ) -> PostedComment | None:
        path = f"/{kind}/{{number}}/comments?since={{since}}&per_page=100"
        at = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        comments = _by(await self._list(repository, path, _READ, number=number, since=at), await self.me())
        posted = [parse_posted_comment(item) for item in comments if is_wanted(get_text(item, "body"))]
        return min(posted, key=lambda comment: comment.id, default=None)

    async def own_comments(self, repository: Repository, number: int, mark: str) -> tuple[FoundComment, ...]:
        """The bot's comments that contain this mark, oldest first, among the first 500 of the thread."""
        path = "/issues/{number}/comments?per_page=100"
        comments = await self._list(repository, path, _READ, _MAX_COMMENTS, number=number)
        marked = (item for item in _by(comments, await self.me()) if mark in get_text(item, "body"))
        return tuple(FoundComment(parse_posted_comment(item), get_text(item, "body")) for item in marked)

    async def issue(self, repository: Repository, number: int) -> FoundIssue:
        """Read an issue; raises `NotFound` if somebody deleted it."""
        return _issue(await self._get(repository, "/issues/{number}", _READ, number=number))

    async def issues_labelled(self, repository: Repository, label: str) -> tuple[FoundIssue, ...]:
        """The bot's issues with this label, open and closed, oldest first."""
        me = await self.me()
        path = "/issues?labels={label}&creator={creator}&state=all&direction=asc&per_page=100"
        issues = await self._list(repository, path, _READ, label=label, creator=me.login)
        return tuple(_issue(item) for item in _by(issues, me) if not get_path(item, "pull_request"))

    async def create_issue(
        self, repository: Repository, title: str, body: str, labels: tuple[str, ...]
    ) -> FoundIssue:
        """Create an issue."""
        data = {"title": title, "body": body, "labels": list(labels)}
        return _issue(await self._write(repository, "POST", "/issues", "issues=write", data))

    async def edit_issue(self, repository: Repository, number: int, body: str) -> None:
        """Replace the description of one of the bot's issues."""
        data = {"body": body}
        await self._write(repository, "PATCH", "/issues/{number}", "issues=write", data, number=number)

    async def labels(self, repository: Repository, number: int) -> tuple[str, ...]:
        """The names of the labels of a thread."""
        path = "/issues/{number}/labels?per_page=100"
        labels = await self._list(repository, path, _READ, number=number)
        return tuple(get_text(label, "name") for label in labels)

    async def make_label(self, repository: Repository, name: str, colour: str, description: str) -> None:
        """Create a label in the repository; an existing one stays as it is."""
        try:
            await self._get(repository, "/labels/{name}", _READ, name=name)
        except NotFound:
            data = {"name": name, "color": colour, "description": description}
            with suppress(ValidationFailed):  # somebody was quicker
                await self._write(repository, "POST", "/labels", "issues=write", data)

    async def add_label(self, repository: Repository, number: int, name: str) -> None:
        """Add a label to a thread."""
        path, data = "/issues/{number}/labels", {"labels": [name]}
        await self._write(repository, "POST", path, "pull_requests=write", data, number=number)

    async def remove_label(self, repository: Repository, number: int, name: str) -> None:
        """Remove a label from a thread; raises `NotFound` if it was not there."""
        path = "/issues/{number}/labels/{name}"
        await self._write(repository, "DELETE", path, "pull_requests=write", number=number, name=name)


def _by(items: Iterable[Any], account: Account) -> list[Any]:
    return [item for item in items if get_path(item, "user.id") == account.id]


def _issue(answer: Any) -> FoundIssue:
    number = parse_answer("malformed issue from GitHub", lambda tree: require_id(tree, "number"), answer)
    is_open = get_path(answer, "state") != "closed"
    # With the fragment that GitHub gives a description, so that no cross-reference is made of the link.
    url = f"{get_text(answer, 'html_url')}#issue-{get_path(answer, 'id')}"
    return FoundIssue(number, is_open, get_text(answer, "body"), url)
