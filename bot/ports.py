"""What the engine needs from the outside: a store that keeps, and a GitHub that answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.domain.check_result import CheckResult
from bot.domain.check_runs import Annotation, CheckText
from bot.domain.commands.replies import Stored
from bot.domain.config_check import ConfigReport
from bot.domain.diff import Comparison
from bot.domain.effects import Effect
from bot.domain.events import Event, Ignored, InlineComment, PullRequestSnapshot, Review
from bot.domain.fixes import Fix
from bot.domain.grounding.observations import BranchState, CheckRun, Text, Tree, Unread
from bot.domain.memory import Record
from bot.domain.memos import Memo
from bot.domain.model import Account, PullRequest, Repository, Sticky
from bot.domain.replied import Replied
from bot.domain.rules import Rules
from bot.domain.suggestions import Suggestion
from bot.domain.thread_effects import Face, Where


@dataclass(frozen=True, slots=True)
class Delivery:
    """One webhook delivery, or a row of the clock's, as it came in."""

    id: str
    event: str
    lane: str
    installation_id: int
    body: bytes
    received_at: datetime
    attempt: int = 0


class Acceptance(StrEnum):
    """What became of a delivery at the door."""

    QUEUED = "queued"
    DUPLICATE = "duplicate"


class RowState(StrEnum):
    """How far a write to GitHub has come."""

    READY = "ready"
    SENDING = "sending"


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A write to GitHub that is still owed."""

    id: str
    lane: str
    effect: Effect
    state: RowState
    sending_at: datetime | None = None

    @property
    def target(self) -> str:
        """The thing on GitHub that it changes; a newer row for it replaces an unsent one."""
        return self.effect.target


@dataclass(frozen=True, slots=True)
class Claim:
    """One lane, owned by one worker until it is released."""

    lane: str
    installation_id: int
    fence: int
    arrivals: int
    attempt: int
    deliveries: tuple[Delivery, ...]
    outbox: tuple[OutboxRow, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn of a lane decided; applied in one transaction."""

    pull_request: PullRequest | None
    effects: tuple[Effect, ...]
    done: tuple[str, ...]
    """Ids of the deliveries that this turn has dealt with."""
    parked: tuple[tuple[str, str], ...] = ()
    """Ids of the deliveries that can't be dealt with, each with the error."""
    memos: tuple[Memo, ...] = ()
    """What is to be remembered or forgotten besides the pull request."""


@dataclass(frozen=True, slots=True)
class Parked:
    """A delivery that was given up on, for the operator."""

    id: str
    event: str
    lane: str
    attempts: int
    error: str
    received_at: datetime
    parked_at: datetime


class DeliveryState(StrEnum):
    """How far a delivery has come."""

    QUEUED = "queued"
    DONE = "done"
    PARKED = "parked"


@dataclass(frozen=True, slots=True)
class Kept:
    """A delivery in the inbox, and what became of it."""

    delivery: Delivery
    state: DeliveryState
    error: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job has come that somebody asked for."""

    done: int = 0
    total: int | None = None
    waits_until: datetime | None = None
    """GitHub is not asked before then."""
    finished: bool = False


class JobFailed(Exception):
    """Why a job was given up on, for whoever asked for it."""


class StoreUnavailable(Exception):
    """The store can't take or give anything right now."""


class Fenced(Exception):
    """The lane belongs to somebody else by now: nothing was written."""


class Memory(Protocol):
    """What is remembered beyond one pull request; written by turns, read here."""

    async def repository(self, repository_id: int) -> Repository | None:
        """The repository as last seen, with its installation; None where the App never was."""
        ...

    async def active(self, since: datetime) -> tuple[Repository, ...]:
        """The repositories in which anything was judged since then."""
        ...

    async def records(
        self, repository_id: int, since: datetime, author_id: int | None = None
    ) -> tuple[Record, ...]:
        """The records of a repository, or of one author in it, that were last active since then."""
        ...

    async def newest(self, repository_id: int, author_id: int, most: int) -> tuple[Record, ...]:
        """An author's latest records in a repository."""
        ...

    async def fixes(self, repository_id: int, author_id: int) -> Mapping[str, Fix]:
        """The latest fix of each tag by an author, however long ago."""
        ...

    async def author(self, repository_id: int, login: str) -> Account | None:
        """The author who has, or last had, this login there."""
        ...

    async def replies(self, lane: str) -> tuple[Replied, ...]:
        """The answers to commands in a thread, oldest first."""
        ...

    async def stored(self, repository_id: int, account_id: int) -> Stored:
        """How much is stored about somebody in a repository."""
        ...

    async def weekly_issue(self, repository_id: int) -> int | None:
        """The number of the repository's summary issue, as far as known."""
        ...

    async def was_told(self, repository_id: int, week: str) -> bool:
        """Whether the clock's run for this week is decided."""
        ...


class Inbox(Protocol):
    """The door's side of the store."""

    async def accept(self, delivery: Delivery) -> Acceptance:
        """Return only when the delivery is safe on disk, or known already."""
        ...


class Store(Inbox, Protocol):
    """Everything that survives a restart."""

    @property
    def wakes(self) -> asyncio.Event:
        """Set when something may have become due; whoever waits for it clears it."""
        ...

    async def claim(self, limit: int) -> tuple[Claim, ...]:
        """Own up to `limit` lanes that are due, oldest first."""
        ...

    async def load(self, lane: str) -> PullRequest | None:
        """What is recorded about the pull request of this lane."""
        ...

    async def apply(self, claim: Claim, turn: Turn) -> tuple[OutboxRow, ...]:
        """Write records, outbox and deliveries in one transaction; return the rows now owed."""
        ...

    async def sending(self, claim: Claim, row: OutboxRow) -> OutboxRow:
        """Commit that this row is about to be sent."""
        ...

    async def unsent(self, claim: Claim, row: OutboxRow) -> OutboxRow:
        """Commit that GitHub certainly did not take this row: it is ready again."""
        ...

    async def sent(
        self, claim: Claim, row: OutboxRow, sticky: Sticky | None, then: tuple[Effect, ...]
    ) -> None:
        """The row is done: forget it, remember the sticky comment, owe what follows from it."""
        ...

    @property
    def memory(self) -> Memory:
        """What is remembered beyond one pull request."""
        ...

    async def replied(
        self, claim: Claim, row: OutboxRow, posted: PostedComment, then: tuple[Effect, ...]
    ) -> None:
        """The answer of this row stands there: forget the row, owe what follows from it."""
        ...

    async def told(
        self, claim: Claim, row: OutboxRow, repository_id: int, number: int, then: tuple[Effect, ...]
    ) -> None:
        """The summary issue has this number: forget the row, owe what follows from it."""
        ...

    async def remember(self, claim: Claim, sticky: Sticky) -> None:
        """This is the sticky comment now, whoever changed it."""
        ...

    async def release(self, claim: Claim, *, retry_after: float | None = None, attempt: int = 0) -> None:
        """Give the lane back: due again after `retry_after`, or when something more arrives."""
        ...

    def abandon(self, claim: Claim) -> None:
        """This turn is over, even if the lane could not be given back: it may be claimed again."""
        ...

    async def pause(self, installation_id: int, until: datetime) -> None:
        """No lane of this installation is due before `until`."""
        ...

    async def spend(self, installation_id: int, priority: int) -> float:
        """Count one content write (0 rejection, 1 reply, 2 summary): 0 to go ahead, else seconds to wait."""
        ...

    async def beat(self) -> None:
        """Say that this instance is alive."""
        ...

    async def beat_age(self) -> float | None:
        """Seconds since this instance's last beat as the store knows it; None where it never beat."""
        ...

    async def parked(self) -> tuple[Parked, ...]:
        """The deliveries given up on, newest first."""
        ...

    async def retry(self, ids: tuple[str, ...]) -> int:
        """Queue parked deliveries again; returns how many."""
        ...

    async def queued(self, lanes: str, ids: str) -> int:
        """How many deliveries wait whose lane and id begin so."""
        ...

    async def sweep(self) -> int:
        """Forget what is older than its retention; returns how many rows changed."""
        ...

    async def next_due(self) -> float | None:
        """Seconds until the next lane is due, None when none is."""
        ...


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment of ours as GitHub stored it."""

    id: int
    node_id: str
    url: str


@dataclass(frozen=True, slots=True)
class FoundIssue:
    """An issue of ours as GitHub shows it."""

    number: int
    open: bool
    body: str


@dataclass(frozen=True, slots=True)
class PullRequestPage:
    """Some of a repository's pull requests, and where the next ones are."""

    pull_requests: tuple[PullRequestSnapshot, ...]
    following: str = ""
    """The next page's address; empty on the last one."""
    total: int | None = None
    """At most so many there are on all pages, where GitHub says so."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many calls an installation has left in this hour."""

    left: int
    limit: int
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class PostedCheck:
    """A check run of ours as GitHub stored it."""

    id: int
    places: str
    """The external id that it was given."""


@dataclass(frozen=True, slots=True)
class KeptConfig:
    """What is remembered of a config file over a restart."""

    good: bytes | None = None
    """The last text without a mistake."""
    broken: str = ""
    """The broken version that was told about, by the hash of its text."""


class ConfigMemory(Protocol):
    """Where the last good text of every config file is kept."""

    async def config(self, key: str) -> KeptConfig | None:
        """What is kept of this file, None where nothing was ever."""
        ...

    async def keep_config(self, key: str, installation_id: int, kept: KeptConfig) -> None:
        """This is what is known of the file now."""
        ...


class GitHubError(Exception):
    """GitHub did not do what was asked."""


class RateLimited(GitHubError):
    """The installation must not ask before `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"rate limited until {until.isoformat()}")
        self.until = until


class Unavailable(GitHubError):
    """5xx, time-out, reset, or a thing GitHub does not show yet: try again later."""


class Gone(GitHubError):
    """404 or 410 of a thing that was there."""


class Forbidden(GitHubError):
    """403 that no waiting mends: locked, archived, suspended, or a permission that was not granted."""

    def __init__(self, message: str = "", permission: str | None = None) -> None:
        super().__init__(message)
        self.permission = permission
        """What the App lacks (`pull_requests=write`), where that is the reason."""


class Refused(GitHubError):
    """422: GitHub understood and will not."""


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


class RuleBook(Protocol):
    """Which rules hold where."""

    async def rules(self, repository: Repository) -> Rules:
        """The rules in force in this repository now."""
        ...

    async def report(self, repository: Repository, head: str) -> ConfigReport | None:
        """What is to be said of the config at this head; None where it is the default branch's own."""
        ...

    async def judged(self, repository: Repository) -> ConfigReport:
        """What is to be said of the default branch's config."""
        ...


Parse = Callable[[Delivery], Event | Ignored]
"""What a delivery says to us."""

Derive = Callable[[Delivery, int, PullRequestSnapshot | None], Delivery]
"""A delivery about a commit as it goes to one of its pull requests."""
