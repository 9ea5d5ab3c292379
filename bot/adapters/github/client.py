"""What the engine asks of GitHub, in GitHub's words and back in ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
from cachetools import TTLCache

from bot.adapters.github import revision_reads
from bot.adapters.github.app_key import AppKey
from bot.adapters.github.archive import ArchiveCalls
from bot.adapters.github.asking import REPO, asked_in, names_of, posted_comment
from bot.adapters.github.callers import Callers, Paused, never
from bot.adapters.github.conversations import ThreadCalls
from bot.adapters.github.errors import Asked, Refusals
from bot.adapters.github.markers import carries
from bot.adapters.github.reads import RevisionCalls
from bot.adapters.github.roles import role
from bot.adapters.github.wire import Wire, remembered
from bot.adapters.payloads import things
from bot.adapters.payloads.fields import Json, Odd, find, text
from bot.domain.check_result import CheckResult
from bot.domain.diff import Comparison
from bot.domain.model import GHOST, Account, Repository
from bot.domain.snapshots import InlineComment, PullRequestSnapshot, Review, ReviewState
from bot.ports import Gone, PostedComment, Unavailable

_READS = "pull_requests=read"
_WRITES = "pull_requests=write"
_NEWEST = 500
_ROLE_SECONDS = 60
_MINIMISE = """
mutation($node: ID!) {
  minimizeComment(input: {subjectId: $node, classifier: OUTDATED}) { minimizedComment { isMinimized } }
}
"""


def _utc_now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def connect(  # noqa: PLR0913  each is one choice about the connections
    key: AppKey,
    api_url: str,
    graphql_url: str,
    *,
    now: Callable[[], datetime] = _utc_now,
    seconds: float = 10,
    tracing: Sequence[aiohttp.TraceConfig] = (),
    may_write: Callable[[], bool] = lambda: True,
    paused: Paused = never,
) -> AsyncIterator[GitHubClient]:
    """A client with connections of its own; a request may take so many seconds."""
    connector = aiohttp.TCPConnector(limit=50)  # GitHub takes 100 at once
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, trace_configs=list(tracing)
    ) as session:
        wire = Wire(session, api_url, graphql_url, Refusals(now), remembered(), may_write)
        yield GitHubClient(key, wire, now, paused)


class GitHubClient(RevisionCalls, ThreadCalls, ArchiveCalls):
    """`ports.GitHub` over HTTP, for every installation of one App."""

    def __init__(
        self, key: AppKey, wire: Wire, now: Callable[[], datetime] = _utc_now, paused: Paused = never
    ) -> None:
        super().__init__()
        self._callers = Callers(key, wire, now, paused)
        self._roles: TTLCache[tuple[int, int], tuple[str | None]] = TTLCache(
            10_000, _ROLE_SECONDS, timer=lambda: now().timestamp()
        )
        self._me: Account | None = None
        self._meeting = asyncio.Lock()

    async def me(self) -> Account:
        """The App's own bot account; asked for once."""
        async with self._meeting:
            if self._me is None:
                self._me = await self._ask_me()
        return self._me

    async def pull_request(self, repository: Repository, number: int) -> PullRequestSnapshot:
        """The pull request as GitHub shows it now."""
        path = f"{REPO}/pulls/{{number}}"
        names = {**names_of(repository), "number": number}
        tree = await self._callers.as_installation(
            asked_in(repository, "GET", path, _READS), lambda api: api.get(path, **names)
        )
        try:
            return things.pull_request_of(repository, tree)
        except Odd as error:
            raise Unavailable(f"GitHub's pull request can't be read: {error}") from error

    async def reviews(self, repository: Repository, number: int) -> tuple[Review, ...]:
        """All submitted reviews, oldest first."""
        found = await self._list(repository, f"{REPO}/pulls/{{number}}/reviews?per_page=100", number=number)
        # Anybody may write as much as they like: reading it must not hold up everybody else.
        return await asyncio.to_thread(_submitted, found)

    async def inline_comments(self, repository: Repository, number: int) -> tuple[InlineComment, ...]:
        """The newest inline comments, at most 500, oldest first."""
        path = f"{REPO}/pulls/{{number}}/comments?sort=created&direction=desc&per_page=100"
        found = await self._list(repository, path, _NEWEST, number=number)
        return await asyncio.to_thread(_inline_comments, found)

    async def comparison(self, repository: Repository, base: str, head: str) -> Comparison:
        """What the head changes against where it left the base."""
        path = revision_reads.COMPARE
        answer = await self._get(repository, path, "contents=read", basehead=f"{base}...{head}")
        return revision_reads.comparison(answer, head)

    async def check_results(self, repository: Repository, head: str) -> tuple[CheckResult, ...]:
        """How the checks and statuses of a commit ended."""
        runs = await self._get(repository, revision_reads.CHECK_RUNS, "checks=read", sha=head)
        statuses = await self._get(repository, revision_reads.STATUS, "statuses=read", sha=head)
        return revision_reads.check_results(runs, statuses)

    async def role(self, repository: Repository, account: Account, *, fresh: bool = False) -> str | None:
        """What the account may do; known for a minute, unless it has to be fresh."""
        if account.id == GHOST.id:
            return None
        key = (repository.id, account.id)
        known = None if fresh else self._roles.get(key)
        if known is None:
            known = self._roles[key] = (await self._ask_role(repository, account),)
        return known[0]

    async def create_comment(self, repository: Repository, number: int, body: str) -> PostedComment:
        """Post a comment in the thread."""
        path = f"{REPO}/issues/{{number}}/comments"
        return await self._write(repository, "POST", path, body, number=number)

    async def edit_comment(self, repository: Repository, comment_id: int, body: str) -> PostedComment:
        """Replace a comment's text; `Gone` where somebody deleted it."""
        path = f"{REPO}/issues/comments/{{comment}}"
        return await self._write(repository, "PATCH", path, body, comment=comment_id)

    async def minimise(self, repository: Repository, node_id: str) -> None:
        """Fold a comment away as outdated."""
        asked = Asked("minimise a comment", _WRITES, repository.installation_id, repository.id)
        await self._callers.as_installation(asked, lambda api: api.mutate(_MINIMISE, node=node_id))

    async def find_comment(
        self, repository: Repository, number: int, marker_id: str, since: datetime
    ) -> PostedComment | None:
        """Our own comment whose marker has this id, the oldest where there are several."""
        ours = (await self.me()).id
        path = f"{REPO}/issues/{{number}}/comments?since={{since}}&per_page=100"
        at = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found = await self._list(repository, path, number=number, since=at)
        posted = [
            posted_comment(comment)
            for comment in found
            if find(comment, "user.id") == ours and carries(text(comment, "body"), marker_id)
        ]
        return min(posted, key=lambda comment: comment.id, default=None)

    async def _get(self, repository: Repository, path: str, permission: str, **gaps: str | int) -> Any:
        asked = asked_in(repository, "GET", path, permission)
        names = {**names_of(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.get(path, **names))

    async def _list(
        self, repository: Repository, path: str, limit: int | None = None, **gaps: str | int
    ) -> list[Any]:
        asked = asked_in(repository, "GET", path, _READS)
        return await self._callers.as_installation(
            asked, lambda api: api.items(path, limit, **names_of(repository), **gaps)
        )

    async def _write(
        self, repository: Repository, method: str, path: str, body: str, **gaps: int
    ) -> PostedComment:
        asked = asked_in(repository, method, path, _WRITES)
        names = {**names_of(repository), **gaps}
        return posted_comment(
            await self._callers.as_installation(
                asked, lambda api: api.write(method, path, {"body": body}, **names)
            )
        )

    async def _ask_me(self) -> Account:
        slug = text(await self._callers.as_app(Asked("GET /app", "", 0), lambda api: api.get("/app")), "slug")
        path, login = "/users/{login}", f"{slug}[bot]"
        asked = Asked(f"GET {path}", "metadata=read", 0)
        answer = await self._callers.as_anybody(asked, lambda api: api.get(path, login=login))
        found = things.account({"user": answer}, "user")
        if found == GHOST:
            raise Unavailable(f"{asked.what}: {login} can't be read")
        return found

    async def _ask_role(self, repository: Repository, account: Account) -> str | None:
        path = f"{REPO}/collaborators/{{login}}/permission"
        asked = asked_in(repository, "GET", path, "metadata=read")
        names = {**names_of(repository), "login": account.login}
        try:
            answer = await self._callers.as_installation(asked, lambda api: api.get(path, **names))
        except Gone:
            return None
        return role(answer, account)


def _submitted(found: list[Any]) -> tuple[Review, ...]:
    reviews = (review for review in map(_review, found) if review is not None)
    submitted = [review for review in reviews if review.state is not ReviewState.PENDING]
    return tuple(sorted(submitted, key=lambda review: (review.submitted_at, review.id)))


def _inline_comments(found: list[Any]) -> tuple[InlineComment, ...]:
    return tuple(comment for comment in map(_inline_comment, reversed(found)) if comment is not None)


def _review(tree: Json) -> Review | None:
    try:
        return things.review(tree)
    except Odd:  # a pending one, or of a kind that is not known yet
        return None


def _inline_comment(tree: Json) -> InlineComment | None:
    try:
        return things.inline_comment(tree)
    except Odd:
        return None
