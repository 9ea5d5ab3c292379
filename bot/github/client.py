"""Call GitHub on behalf of an installation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

import aiohttp
import msgspec
from cachetools import TTLCache

from bot import regex
from bot.github import payloads
from bot.github.auth import (
    AppKey,
    Authenticator,
    PauseCheck,
    never_paused,
    parse_posted_comment,
)
from bot.github.errors import ErrorMapper, NotFound, parse_answer
from bot.github.model import PostedComment, WorkflowRun
from bot.github.payloads import get_integer, get_list, get_path, get_text, parse_each, parse_role
from bot.github.revision_api import RevisionApi
from bot.github.thread_api import ThreadApi
from bot.github.transport import RequestCounter, Transport, response_cache
from bot.pull_request.checks import CheckResult
from bot.pull_request.diff import Comparison
from bot.pull_request.events import (
    InlineCommentSnapshot,
    PullRequestSnapshot,
    ReviewSnapshot,
    ReviewState,
)
from bot.values import GHOST, Account, Repository

_MARKER = regex.Regex(r"<!-- [A-Z]+(?:-[A-Z]+)*: (\{.*?\}) -->")


def has_marker_id(body: str, marker_id: str) -> bool:
    """Whether the first line is a marker with this id."""
    marker = _MARKER.match(body.partition("\n")[0])
    if not marker:
        return False
    try:
        return bool(get_path(msgspec.json.decode(marker[1]), "id") == marker_id)
    except (msgspec.DecodeError, RecursionError):
        return False


_READ = "pull_requests=read"
_WRITE = "pull_requests=write"
_MAX_INLINE_COMMENTS = 500
_ROLE_SECONDS = 60
_MINIMISE = """
mutation($node: ID!) {
  minimizeComment(input: {subjectId: $node, classifier: OUTDATED}) { minimizedComment { isMinimized } }
}
"""


def _utc_now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def connect_github(  # noqa: PLR0913  each is one choice about the connections
    key: AppKey,
    api_url: str,
    graphql_url: str,
    *,
    now: Callable[[], datetime] = _utc_now,
    seconds: float = 10,
    count: RequestCounter | None = None,
    may_write: Callable[[], bool] = lambda: True,
    paused: PauseCheck = never_paused,
) -> AsyncIterator[GitHub]:
    """Open a client with its own connections; `seconds` is the time limit of one request."""
    connector = aiohttp.TCPConnector(limit=50)  # GitHub takes 100 at once
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(
        connector=connector,
        timeout=timeout,
        cookie_jar=aiohttp.DummyCookieJar(),  # GitHub's API has none
    ) as session:
        transport = Transport(
            session, api_url, graphql_url, ErrorMapper(now), response_cache(), may_write, count
        )
        yield GitHub(Authenticator(key, transport, now, paused), now)


class GitHub(RevisionApi, ThreadApi):
    """GitHub's API over HTTP, for every installation of one App."""

    def __init__(self, authenticator: Authenticator, now: Callable[[], datetime]) -> None:
        super().__init__(authenticator)
        self._roles: TTLCache[tuple[int, int], tuple[str | None]] = TTLCache(
            10_000, _ROLE_SECONDS, timer=lambda: now().timestamp()
        )

    async def pull_request(self, repository: Repository, number: int) -> PullRequestSnapshot:
        """The pull request as GitHub shows it now."""
        tree = await self._get(repository, "/pulls/{number}", _READ, number=number)
        return parse_answer(
            "malformed pull request from GitHub",
            lambda tree: payloads.parse_pull_request(repository, tree),
            tree,
        )

    async def reviews(self, repository: Repository, number: int) -> tuple[ReviewSnapshot, ...]:
        """All submitted reviews, oldest first."""
        path = "/pulls/{number}/reviews?per_page=100"
        items = await self._list(repository, path, _READ, number=number)
        return await _parse_list(_submitted, items)

    async def inline_comments(self, repository: Repository, number: int) -> tuple[InlineCommentSnapshot, ...]:
        """The newest inline comments, at most 500, oldest first."""
        path = "/pulls/{number}/comments?sort=created&direction=desc&per_page=100"
        items = await self._list(repository, path, _READ, _MAX_INLINE_COMMENTS, number=number)
        return await _parse_list(_inline_comments, items)

    async def comparison(self, repository: Repository, base: str, head: str) -> Comparison:
        """Compare the head with its merge base; raises `NotFound` if GitHub has no such commit."""
        answer = await self._get(
            repository, "/compare/{basehead}", "contents=read", basehead=f"{base}...{head}"
        )
        return payloads.parse_comparison(answer, head)

    async def check_results(self, repository: Repository, head: str) -> tuple[CheckResult, ...]:
        """The results of a commit's checks and statuses, at most 100 of each."""
        return payloads.parse_check_results(*await self._checks_of(repository, head))

    async def workflow_run(self, repository: Repository, run_id: int) -> WorkflowRun:
        """A run of a workflow; raises `NotFound` if the repository has none of this id."""
        tree = await self._get(repository, "/actions/runs/{run}", "actions=read", run=run_id)
        called = get_list(tree, "referenced_workflows")
        return WorkflowRun(
            get_text(tree, "head_sha"),
            get_integer(tree, "head_repository.id"),
            tuple(get_text(workflow, "path") for workflow in called),
        )

    async def role(self, repository: Repository, account: Account, *, fresh: bool = False) -> str | None:
        """The account's role, or its custom role's base; cached for a minute unless `fresh`."""
        if account.id == GHOST.id:
            return None
        key = (repository.id, account.id)
        cached = None if fresh else self._roles.get(key)
        if cached is None:
            cached = self._roles[key] = (await self._fetch_role(repository, account),)
        return cached[0]

    async def create_comment(self, repository: Repository, number: int, body: str) -> PostedComment:
        """Post a comment in the thread."""
        path = "/issues/{number}/comments"
        return parse_posted_comment(
            await self._write(repository, "POST", path, _WRITE, {"body": body}, number=number)
        )

    async def edit_comment(self, repository: Repository, comment_id: int, body: str) -> PostedComment:
        """Replace a comment's text; raises `NotFound` if somebody deleted it."""
        path = "/issues/comments/{comment}"
        return parse_posted_comment(
            await self._write(repository, "PATCH", path, _WRITE, {"body": body}, comment=comment_id)
        )

    async def minimise(self, repository: Repository, node_id: str) -> None:
        """Fold a comment away as outdated."""
        await self._mutate(repository, "minimise a comment", _MINIMISE, node=node_id)

    async def find_comment(
        self, repository: Repository, number: int, marker_id: str, since: datetime
    ) -> PostedComment | None:
        """Find the bot's own comment whose marker has this id; the oldest if there are several."""
        return await self._find_own(
            repository, "issues", number, since, lambda body: has_marker_id(body, marker_id)
        )

    async def _fetch_role(self, repository: Repository, account: Account) -> str | None:
        path = "/collaborators/{login}/permission"
        try:
            answer = await self._get(repository, path, "metadata=read", login=account.login)
        except NotFound:
            return None
        return parse_role(answer, account)


_PARSED_AT_ONCE = 10_000
"""Characters of comments that are parsed in less time than it takes to hand them to a thread."""

Parsed = TypeVar("Parsed")


async def _parse_list(parse: Callable[[list[Any]], Parsed], items: list[Any]) -> Parsed:
    """Parse a list; anybody may write as much as they like, which must not hold up everybody else."""
    if sum(100 + len(get_text(item, "body")) for item in items) <= _PARSED_AT_ONCE:
        return parse(items)
    return await asyncio.to_thread(parse, items)


def _submitted(items: list[Any]) -> tuple[ReviewSnapshot, ...]:
    # A pending one has no time, and can't be parsed; nor can one of a kind that is not known yet.
    reviews = parse_each(payloads.parse_review, items)
    submitted = [review for review in reviews if review.state is not ReviewState.PENDING]
    return tuple(sorted(submitted, key=lambda review: (review.submitted_at, review.id)))


def _inline_comments(items: list[Any]) -> tuple[InlineCommentSnapshot, ...]:
    return tuple(parse_each(payloads.parse_inline_comment, reversed(items)))
