"""What the engine needs from the outside: a store that keeps, and a GitHub that answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.domain.check_result import CheckResult
from bot.domain.check_runs import Annotation, CheckText
from bot.domain.diff import Comparison
from bot.domain.effects import Effect
from bot.domain.events import Event, Ignored, InlineComment, PullRequestSnapshot, Review
from bot.domain.model import Account, PullRequest, Repository, Sticky
from bot.domain.rules import Rules
from bot.domain.suggestions import Suggestion


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


class StoreUnavailable(Exception):
    """The store can't take or give anything right now."""


class Fenced(Exception):
    """The lane belongs to somebody else by now: nothing was written."""


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


class GitHub(Commits, Protocol):
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


Parse = Callable[[Delivery], Event | Ignored]
"""What a delivery says to us."""
