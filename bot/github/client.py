"""Call GitHub on behalf of an installation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Protocol

import aiohttp
import msgspec
from cachetools import TTLCache

from bot import regex
from bot.github import payloads
from bot.github.auth import AppKey, Authenticator, PauseCheck, never_paused
from bot.github.errors import ApiRequest, ErrorMapper, GitHubUnavailable, NotFound
from bot.github.model import FoundComment, FoundIssue, PostedCheck, PostedComment, PullRequestPage, RateBudget
from bot.github.payloads import JsonObject, PayloadError, get_path, get_text, parse_role
from bot.github.revision_api import RevisionApi
from bot.github.thread_api import RepositoryApi, ThreadApi
from bot.github.transport import (
    REPO_PATH,
    Transport,
    parse_posted_comment,
    path_parameters,
    repository_request,
    response_cache,
)
from bot.pull_request.checks import CheckAnnotation, CheckResult, CheckRunText
from bot.pull_request.diff import Comparison, Suggestion
from bot.pull_request.effects import CommandSource, ReactionKind
from bot.pull_request.events import (
    CheckEvent,
    InlineCommentSnapshot,
    PullRequestSnapshot,
    ReviewSnapshot,
    ReviewState,
)
from bot.pull_request.facts import BranchState, FileText, ObservedCheckRun, Tree, UnreadableFile
from bot.values import GHOST, Account, Repository

_MARKER = regex.Regex(r"<!-- [A-Z]+(?:-[A-Z]+)*: (\{.*?\}) -->")


def has_marker_id(body: str, marker_id: str) -> bool:
    """Whether the first line is a marker with this id."""
    found = _MARKER.match(body.partition("\n")[0])
    if not found:
        return False
    try:
        return bool(get_path(msgspec.json.decode(found[1]), "id") == marker_id)
    except (msgspec.DecodeError, RecursionError):
        return False


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
async def connect_github(  # noqa: PLR0913  each is one choice about the connections
    key: AppKey,
    api_url: str,
    graphql_url: str,
    *,
    now: Callable[[], datetime] = _utc_now,
    seconds: float = 10,
    tracing: Sequence[aiohttp.TraceConfig] = (),
    may_write: Callable[[], bool] = lambda: True,
    paused: PauseCheck = never_paused,
) -> AsyncIterator[GitHubClient]:
    """A client with connections of its own; a request may take so many seconds."""
    connector = aiohttp.TCPConnector(limit=50)  # GitHub takes 100 at once
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, trace_configs=list(tracing)
    ) as session:
        wire = Transport(session, api_url, graphql_url, ErrorMapper(now), response_cache(), may_write)
        yield GitHubClient(key, wire, now, paused)


class GitHubClient(RevisionApi, ThreadApi, RepositoryApi):
    """`ports.GitHub` over HTTP, for every installation of one App."""

    def __init__(
        self,
        key: AppKey,
        wire: Transport,
        now: Callable[[], datetime] = _utc_now,
        paused: PauseCheck = never_paused,
    ) -> None:
        super().__init__()
        self._callers = Authenticator(key, wire, now, paused)
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
        path = f"{REPO_PATH}/pulls/{{number}}"
        names = {**path_parameters(repository), "number": number}
        tree = await self._callers.as_installation(
            repository_request(repository, "GET", path, _READS), lambda api: api.get(path, **names)
        )
        try:
            return payloads.parse_pull_request(repository, tree)
        except PayloadError as error:
            raise GitHubUnavailable(f"GitHub's pull request can't be read: {error}") from error

    async def reviews(self, repository: Repository, number: int) -> tuple[ReviewSnapshot, ...]:
        """All submitted reviews, oldest first."""
        found = await self._list(
            repository, f"{REPO_PATH}/pulls/{{number}}/reviews?per_page=100", number=number
        )
        # Anybody may write as much as they like: reading it must not hold up everybody else.
        return await asyncio.to_thread(_submitted, found)

    async def inline_comments(self, repository: Repository, number: int) -> tuple[InlineCommentSnapshot, ...]:
        """The newest inline comments, at most 500, oldest first."""
        path = f"{REPO_PATH}/pulls/{{number}}/comments?sort=created&direction=desc&per_page=100"
        found = await self._list(repository, path, _NEWEST, number=number)
        return await asyncio.to_thread(_inline_comments, found)

    async def comparison(self, repository: Repository, base: str, head: str) -> Comparison:
        """What the head changes against where it left the base."""
        path = payloads.COMPARE_PATH
        answer = await self._get(repository, path, "contents=read", basehead=f"{base}...{head}")
        return payloads.parse_comparison(answer, head)

    async def check_results(self, repository: Repository, head: str) -> tuple[CheckResult, ...]:
        """How the checks and statuses of a commit ended."""
        runs = await self._get(repository, payloads.CHECK_RUNS_PATH, "checks=read", sha=head)
        statuses = await self._get(repository, payloads.STATUS_PATH, "statuses=read", sha=head)
        return payloads.parse_check_results(runs, statuses)

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
        path = f"{REPO_PATH}/issues/{{number}}/comments"
        return await self._write(repository, "POST", path, body, number=number)

    async def edit_comment(self, repository: Repository, comment_id: int, body: str) -> PostedComment:
        """Replace a comment's text; `Gone` where somebody deleted it."""
        path = f"{REPO_PATH}/issues/comments/{{comment}}"
        return await self._write(repository, "PATCH", path, body, comment=comment_id)

    async def minimise(self, repository: Repository, node_id: str) -> None:
        """Fold a comment away as outdated."""
        asked = ApiRequest("minimise a comment", _WRITES, repository.installation_id, repository.id)
        await self._callers.as_installation(asked, lambda api: api.mutate(_MINIMISE, node=node_id))

    async def find_comment(
        self, repository: Repository, number: int, marker_id: str, since: datetime
    ) -> PostedComment | None:
        """Our own comment whose marker has this id, the oldest where there are several."""
        ours = (await self.me()).id
        path = f"{REPO_PATH}/issues/{{number}}/comments?since={{since}}&per_page=100"
        at = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found = await self._list(repository, path, number=number, since=at)
        posted = [
            parse_posted_comment(comment)
            for comment in found
            if get_path(comment, "user.id") == ours and has_marker_id(get_text(comment, "body"), marker_id)
        ]
        return min(posted, key=lambda comment: comment.id, default=None)

    async def _get(self, repository: Repository, path: str, permission: str, **gaps: str | int) -> Any:
        asked = repository_request(repository, "GET", path, permission)
        names = {**path_parameters(repository), **gaps}
        return await self._callers.as_installation(asked, lambda api: api.get(path, **names))

    async def _list(
        self, repository: Repository, path: str, limit: int | None = None, **gaps: str | int
    ) -> list[Any]:
        asked = repository_request(repository, "GET", path, _READS)
        return await self._callers.as_installation(
            asked, lambda api: api.items(path, limit, **path_parameters(repository), **gaps)
        )

    async def _write(
        self, repository: Repository, method: str, path: str, body: str, **gaps: int
    ) -> PostedComment:
        asked = repository_request(repository, method, path, _WRITES)
        names = {**path_parameters(repository), **gaps}
        return parse_posted_comment(
            await self._callers.as_installation(
                asked, lambda api: api.write(method, path, {"body": body}, **names)
            )
        )

    async def _ask_me(self) -> Account:
        slug = get_text(
            await self._callers.as_app(ApiRequest("GET /app", "", 0), lambda api: api.get("/app")), "slug"
        )
        path, login = "/users/{login}", f"{slug}[bot]"
        asked = ApiRequest(f"GET {path}", "metadata=read", 0)
        answer = await self._callers.as_anybody(asked, lambda api: api.get(path, login=login))
        found = payloads.parse_account({"user": answer}, "user")
        if found == GHOST:
            raise GitHubUnavailable(f"{asked.what}: {login} can't be read")
        return found

    async def _ask_role(self, repository: Repository, account: Account) -> str | None:
        path = f"{REPO_PATH}/collaborators/{{login}}/permission"
        asked = repository_request(repository, "GET", path, "metadata=read")
        names = {**path_parameters(repository), "login": account.login}
        try:
            answer = await self._callers.as_installation(asked, lambda api: api.get(path, **names))
        except NotFound:
            return None
        return parse_role(answer, account)


def _submitted(found: list[Any]) -> tuple[ReviewSnapshot, ...]:
    reviews = (review for review in map(_review, found) if review is not None)
    submitted = [review for review in reviews if review.state is not ReviewState.PENDING]
    return tuple(sorted(submitted, key=lambda review: (review.submitted_at, review.id)))


def _inline_comments(found: list[Any]) -> tuple[InlineCommentSnapshot, ...]:
    return tuple(comment for comment in map(_inline_comment, reversed(found)) if comment is not None)


def _review(tree: JsonObject) -> ReviewSnapshot | None:
    try:
        return payloads.parse_review(tree)
    except PayloadError:  # a pending one, or of a kind that is not known yet
        return None


def _inline_comment(tree: JsonObject) -> InlineCommentSnapshot | None:
    try:
        return payloads.parse_inline_comment(tree)
    except PayloadError:
        return None


class CommitsProtocol(Protocol):
    """What the engine asks of GitHub about commits, their files and checks."""

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        """A file at a ref, or of the default branch; None where there is no such file."""
        ...

    async def covers(self, owner: str, name: str) -> bool:
        """Whether the App is installed in this repository."""
        ...

    async def branch_head(self, repository: Repository) -> str:
        """The newest commit of the default branch."""
        ...

    async def pull_requests_at(self, repository: Repository, sha: str) -> tuple[PullRequestSnapshot, ...]:
        """The open pull requests with this head, also from forks."""
        ...

    async def ended_checks(self, repository: Repository, sha: str) -> tuple[CheckEvent, ...]:
        """The checks and statuses of a commit that have ended."""
        ...

    async def annotations(self, repository: Repository, run_id: int) -> tuple[CheckAnnotation, ...]:
        """What a check run found, and where."""
        ...

    async def changed_files(self, repository: Repository, number: int) -> dict[str, str]:
        """The files that a pull request changes, each with its patch."""
        ...

    async def check_run(self, repository: Repository, sha: str, name: str) -> PostedCheck | None:
        """The newest run of ours with this name on a commit."""
        ...

    async def create_check_run(
        self, repository: Repository, said: CheckRunText, link: str = ""
    ) -> PostedCheck:
        """A new run that has ended, with its annotations."""
        ...

    async def update_check_run(
        self, repository: Repository, run_id: int, said: CheckRunText, link: str = ""
    ) -> PostedCheck:
        """Other words for a run of ours; its annotations stay."""
        ...

    async def create_review(
        self, repository: Repository, number: int, head: str, body: str, suggestions: tuple[Suggestion, ...]
    ) -> None:
        """A review of ours that neither approves nor rejects, with suggestions at their lines."""
        ...


class ThreadsProtocol(Protocol):
    """What the engine asks of GitHub about conversations and the summary issue."""

    async def react(
        self, repository: Repository, where: CommandSource, number: int, node_id: str, face: ReactionKind
    ) -> None:
        """Put our reaction on a text; a second one of the same kind is the first."""
        ...

    async def reply_inline(self, repository: Repository, number: int, first: int, body: str) -> PostedComment:
        """Answer below the first comment of an inline thread."""
        ...

    async def find_text(
        self, repository: Repository, number: int, mark: str, since: datetime, *, inline: bool = False
    ) -> PostedComment | None:
        """Our own comment in which this mark stands, among those written since then."""
        ...

    async def own_comments(self, repository: Repository, number: int, mark: str) -> tuple[FoundComment, ...]:
        """Our own comments in which this mark stands, oldest first, among the first 500 of the thread."""
        ...

    async def issue(self, repository: Repository, number: int) -> FoundIssue:
        """An issue as it is now; `Gone` where somebody deleted it."""
        ...

    async def issues_labelled(self, repository: Repository, label: str) -> tuple[FoundIssue, ...]:
        """Our own issues with this label, open and closed, oldest first."""
        ...

    async def create_issue(
        self, repository: Repository, title: str, body: str, labels: tuple[str, ...]
    ) -> FoundIssue:
        """A new issue."""
        ...

    async def edit_issue(self, repository: Repository, number: int, body: str) -> None:
        """Another description of an issue of ours."""
        ...

    async def labels(self, repository: Repository, number: int) -> tuple[str, ...]:
        """The names of the labels of a thread."""
        ...

    async def make_label(self, repository: Repository, name: str, colour: str, description: str) -> None:
        """A label of this name is in the repository; one that is there stays as it is."""
        ...

    async def add_label(self, repository: Repository, number: int, name: str) -> None:
        """One label more on a thread."""
        ...

    async def remove_label(self, repository: Repository, number: int, name: str) -> None:
        """One label less; `Gone` where it was not there."""
        ...


class ContentsProtocol(Protocol):
    """What the engine asks of GitHub about what stands in a revision."""

    async def tree(self, repository: Repository, head: str) -> Tree:
        """Every path of a revision, or as many as GitHub lists."""
        ...

    async def text(
        self, repository: Repository, head: str, path: str, blob: str | None, *, names: bool = False
    ) -> FileText | UnreadableFile | None:
        """A file's lines, and where wanted the names that it defines; None where there is no such file."""
        ...

    async def check_runs(self, repository: Repository, head: str) -> tuple[ObservedCheckRun, ...]:
        """The newest run of every check on a revision, at most 100, without annotations."""
        ...

    async def branch_state(self, repository: Repository, number: int) -> BranchState:
        """Whether the pull request can be merged, as GitHub sees it now."""
        ...

    async def behind_by(self, repository: Repository, base: str, head: str) -> int | None:
        """How many commits of the base the head does not have."""
        ...


class ArchiveProtocol(Protocol):
    """What the engine asks of GitHub about the time before it was told of anything."""

    async def repository(self, owner: str, name: str, installation_id: int) -> Repository:
        """A repository as this installation sees it."""
        ...

    async def pull_requests_page(self, repository: Repository, page: str) -> PullRequestPage:
        """The pull requests of this page, or of the first one, the last changed first."""
        ...

    async def open_pull_requests_page(self, repository: Repository, page: str) -> PullRequestPage:
        """The open pull requests of this page, or of the first one, the oldest first."""
        ...

    async def repositories_page(self, installation_id: int, page: str) -> tuple[tuple[Repository, ...], str]:
        """The repositories of an installation on this page, or on the first one, and the next page."""
        ...

    async def budget(self, repository: Repository) -> RateBudget | None:
        """What the installation may still ask in this hour; None where nothing is counted."""
        ...


class GitHub(ContentsProtocol, CommitsProtocol, ThreadsProtocol, ArchiveProtocol, Protocol):
    """What the engine asks of GitHub, on behalf of an installation."""

    async def me(self) -> Account:
        """The App's own bot account."""
        ...

    async def pull_request(self, repository: Repository, number: int) -> PullRequestSnapshot:
        """The pull request as GitHub shows it now."""
        ...

    async def reviews(self, repository: Repository, number: int) -> tuple[ReviewSnapshot, ...]:
        """All submitted reviews, oldest first."""
        ...

    async def inline_comments(self, repository: Repository, number: int) -> tuple[InlineCommentSnapshot, ...]:
        """The newest inline comments, at most 500."""
        ...

    async def comparison(self, repository: Repository, base: str, head: str) -> Comparison:
        """What the head changes against where it left the base; `Gone` where GitHub has no such commit."""
        ...

    async def check_results(self, repository: Repository, head: str) -> tuple[CheckResult, ...]:
        """How the checks and statuses of a commit ended, at most 100 of each."""
        ...

    async def role(self, repository: Repository, account: Account, *, fresh: bool = False) -> str | None:
        """`read`, `triage`, `write`, `maintain`, `admin` (or a custom role's base), None for none."""
        ...

    async def create_comment(self, repository: Repository, number: int, body: str) -> PostedComment:
        """Post a comment in the thread."""
        ...

    async def edit_comment(self, repository: Repository, comment_id: int, body: str) -> PostedComment:
        """Replace a comment's text; `Gone` where somebody deleted it."""
        ...

    async def minimise(self, repository: Repository, node_id: str) -> None:
        """Fold a comment away as outdated."""
        ...

    async def find_comment(
        self, repository: Repository, number: int, marker_id: str, since: datetime
    ) -> PostedComment | None:
        """Our own comment whose marker has this id, among those written since then."""
        ...
