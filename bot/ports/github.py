"""What does the engine ask of GitHub?"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.domain.check_result import CheckResult
from bot.domain.check_runs import Annotation, CheckText
from bot.domain.diff import Comparison
from bot.domain.events import CheckSeen
from bot.domain.grounding.observations import BranchState, CheckRun, Text, Tree, Unread
from bot.domain.model import Account, Repository
from bot.domain.snapshots import InlineComment, PullRequestSnapshot, Review
from bot.domain.suggestions import Suggestion
from bot.domain.thread_effects import Face, Where
from bot.ports.github_answers import (
    Budget,
    FoundComment,
    FoundIssue,
    PostedCheck,
    PostedComment,
    PullRequestPage,
)


class Commits(Protocol):
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

    async def ended_checks(self, repository: Repository, sha: str) -> tuple[CheckSeen, ...]:
        """The checks and statuses of a commit that have ended."""
        ...

    async def annotations(self, repository: Repository, run_id: int) -> tuple[Annotation, ...]:
        """What a check run found, and where."""
        ...

    async def changed_files(self, repository: Repository, number: int) -> dict[str, str]:
        """The files that a pull request changes, each with its patch."""
        ...

    async def check_run(self, repository: Repository, sha: str, name: str) -> PostedCheck | None:
        """The newest run of ours with this name on a commit."""
        ...

    async def create_check_run(self, repository: Repository, said: CheckText, link: str = "") -> PostedCheck:
        """A new run that has ended, with its annotations."""
        ...

    async def update_check_run(
        self, repository: Repository, run_id: int, said: CheckText, link: str = ""
    ) -> PostedCheck:
        """Other words for a run of ours; its annotations stay."""
        ...

    async def create_review(
        self, repository: Repository, number: int, head: str, body: str, suggestions: tuple[Suggestion, ...]
    ) -> None:
        """A review of ours that neither approves nor rejects, with suggestions at their lines."""
        ...


class Threads(Protocol):
    """What the engine asks of GitHub about conversations and the summary issue."""

    async def react(
        self, repository: Repository, where: Where, number: int, node_id: str, face: Face
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


class Contents(Protocol):
    """What the engine asks of GitHub about what stands in a revision."""

    async def tree(self, repository: Repository, head: str) -> Tree:
        """Every path of a revision, or as many as GitHub lists."""
        ...

    async def text(
        self, repository: Repository, head: str, path: str, blob: str | None, *, names: bool = False
    ) -> Text | Unread | None:
        """A file's lines, and where wanted the names that it defines; None where there is no such file."""
        ...

    async def check_runs(self, repository: Repository, head: str) -> tuple[CheckRun, ...]:
        """The newest run of every check on a revision, at most 100, without annotations."""
        ...

    async def branch_state(self, repository: Repository, number: int) -> BranchState:
        """Whether the pull request can be merged, as GitHub sees it now."""
        ...

    async def behind_by(self, repository: Repository, base: str, head: str) -> int | None:
        """How many commits of the base the head does not have."""
        ...


class Archive(Protocol):
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

    async def budget(self, repository: Repository) -> Budget | None:
        """What the installation may still ask in this hour; None where nothing is counted."""
        ...


class GitHub(Contents, Commits, Threads, Archive, Protocol):
    """What the engine asks of GitHub, on behalf of an installation."""

    async def me(self) -> Account:
        """The App's own bot account."""
        ...

    async def pull_request(self, repository: Repository, number: int) -> PullRequestSnapshot:
        """The pull request as GitHub shows it now."""
        ...

    async def reviews(self, repository: Repository, number: int) -> tuple[Review, ...]:
        """All submitted reviews, oldest first."""
        ...

    async def inline_comments(self, repository: Repository, number: int) -> tuple[InlineComment, ...]:
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
