"""What a decision returns: writes to GitHub and commands to the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.pull_request.checks import CheckRunText
from bot.pull_request.diff import Suggestion
from bot.values import Repository


class AnnouncementKind(StrEnum):
    """The word of the marker: never the one that agents read as feedback."""

    ESCALATION = "ESCALATION"
    SELECTION = "SELECTION-REPORT"


@dataclass(frozen=True, slots=True)
class Announce:
    """The thread gets one comment more; it is never edited."""

    repository: Repository
    number: int
    kind: AnnouncementKind
    marker_id: str
    body: str

    @property
    def target(self) -> str:
        """One a kind."""
        return f"announce:{self.kind}"


@dataclass(frozen=True, slots=True)
class ShowCheckRun:
    """The newest run of this name on this head says so; other places than before need a new run."""

    repository: Repository
    said: CheckRunText
    links: bool = False
    """Its summary ends with a link to the sticky comment, once there is one."""
    counted: bool = False
    """It has its part of GitHub's budget already, taken when nobody else wanted it."""

    @property
    def target(self) -> str:
        """One check run a name and head."""
        return f"check:{self.said.name}:{self.said.head}"


@dataclass(frozen=True, slots=True)
class PostSuggestions:
    """One review of ours on this head offers these lines, each to be committed with one click."""

    repository: Repository
    number: int
    head: str
    body: str
    suggestions: tuple[Suggestion, ...]

    @property
    def target(self) -> str:
        """One review a head."""
        return f"suggestions:{self.head}"


REJECTED_LABEL = "whetstone: rejected"
WARNINGS_LABEL = "whetstone: warnings"
DEGRADED_LABEL = "whetstone: degraded"

LABEL_STYLES = {
    REJECTED_LABEL: ("b60205", "Something blocks this pull request"),
    WARNINGS_LABEL: ("fbca04", "Something was found, and none of it blocks"),
    DEGRADED_LABEL: ("d4c5f9", "The last iteration is worse than the one before"),
}


@dataclass(frozen=True, slots=True)
class ShowLabel:
    """Of our labels this one stands on the pull request, and no other; none where it is empty.

    Beside it, while it stands, that the last iteration made things worse.
    """

    repository: Repository
    number: int
    label: str
    degraded: bool = False

    @property
    def target(self) -> str:
        """One label a pull request."""
        return "label"

    @property
    def labels(self) -> tuple[str, ...]:
        """Those that stand there, by name."""
        return tuple(name for name in (self.label, DEGRADED_LABEL if self.degraded else "") if name)


class CommandSource(StrEnum):
    """The kind of text that gave a command."""

    COMMENT = "comment"
    INLINE = "inline"
    REVIEW = "review"


class ReactionKind(StrEnum):
    """GitHub's names of the two reactions that we give."""

    EYES = "eyes"
    CONFUSED = "confused"


@dataclass(frozen=True, slots=True)
class AddReaction:
    """A text gets a reaction of ours."""

    repository: Repository
    where: CommandSource
    id: int
    node_id: str
    face: ReactionKind

    @property
    def target(self) -> str:
        """One reaction of a kind a text."""
        return f"react:{self.where}:{self.id}:{self.face}"


@dataclass(frozen=True, slots=True)
class PostReply:
    """A command gets its one answer: in the thread, or below the inline comment that gave it."""

    repository: Repository
    number: int
    key: str
    """The command that is answered: `comment:81/0`."""
    topic: str
    """What was asked: a later answer to the same folds this one away."""
    account_id: int
    at: datetime
    body: str
    inline: int | None = None
    """The first comment of the inline thread."""

    @property
    def target(self) -> str:
        """One answer a command."""
        return f"reply:{self.key}"


@dataclass(frozen=True, slots=True)
class MinimiseReply:
    """An answer that a newer one repeats is folded away."""

    repository: Repository
    node_id: str

    @property
    def target(self) -> str:
        """Each answer is its own target."""
        return f"minimise:{self.node_id}"


@dataclass(frozen=True, slots=True)
class ShowWeeklyIssue:
    """The repository's one summary issue says `body`; a finished week also adds a comment."""

    repository: Repository
    week: str
    title: str
    labels: tuple[str, ...]
    body: str
    comment: str | None = None

    @property
    def target(self) -> str:
        """One issue a repository."""
        return "issue"


@dataclass(frozen=True, slots=True)
class PostWeekComment:
    """A finished week has its comment in the summary issue."""

    repository: Repository
    number: int
    week: str
    body: str

    @property
    def target(self) -> str:
        """One comment a week."""
        return f"week:{self.week}"


@dataclass(frozen=True, slots=True)
class ShowComment:
    """The sticky comment says `body`; `anew` posts it at the end of the thread and retires the old one."""

    repository: Repository
    number: int
    marker_id: str
    body: str
    fingerprint: str
    issues: tuple[str, ...]
    blocking: tuple[str, ...]
    anew: bool = False
    adopts: bool = False
    """One of ours may stand there, of which nothing is known: it is looked for first."""

    @property
    def target(self) -> str:
        """One sticky comment a pull request."""
        return "comment"


@dataclass(frozen=True, slots=True)
class RetireComment:
    """A comment of ours is reduced to a line that names its successor, and minimised."""

    repository: Repository
    number: int
    comment_id: int
    node_id: str
    successor_url: str

    @property
    def target(self) -> str:
        """Each retired comment is its own target."""
        return f"retire:{self.comment_id}"


@dataclass(frozen=True, slots=True)
class CancelWrite:
    """Whatever was still to be written to this target is no longer wanted."""

    target: str


Effect = (
    ShowComment
    | RetireComment
    | CancelWrite
    | AddReaction
    | PostReply
    | MinimiseReply
    | ShowWeeklyIssue
    | PostWeekComment
    | Announce
    | ShowCheckRun
    | PostSuggestions
    | ShowLabel
)


@dataclass(frozen=True, slots=True)
class StoreDocument:
    """The whole actionable-feedback document that a comment carries a copy of."""

    id: str
    at: datetime
    body: str
    """JSON."""


@dataclass(frozen=True, slots=True)
class ForgetPerson:
    """Somebody wants to be forgotten in a repository: counts stay, without a name."""

    repository_id: int
    account_id: int
    login: str
    at: datetime
    key: str


@dataclass(frozen=True, slots=True)
class RecordWeeklyRun:
    """The clock's run for a week has been decided."""

    repository_id: int
    week: str
    at: datetime
    is_published: bool
    """Enough happened in that week to publish a summary."""


@dataclass(frozen=True, slots=True)
class UpdateRepository:
    """A repository has this name, owner and visibility now, as its installation sees it."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class AddRepository:
    """An installation has the repository from now on; whatever is remembered of it goes along."""

    repository: Repository
    """Its `default_branch` is empty where GitHub did not name it."""
    transferred: bool = False
    """GitHub may tell the former owner's installation of a transfer, too."""


@dataclass(frozen=True, slots=True)
class RemoveRepository:
    """An installation may no longer touch the repository: its memory is out of sight, then goes."""

    repository_id: int
    installation_id: int


@dataclass(frozen=True, slots=True)
class DeleteRepository:
    """The repository is no more: all about it goes at once."""

    repository_id: int
    installation_id: int


@dataclass(frozen=True, slots=True)
class SetHistorySharing:
    """A repository's config says whether it shares its history."""

    repository_id: int
    shared: bool


@dataclass(frozen=True, slots=True)
class RemoveInstallation:
    """The App was uninstalled: all that came through this installation is out of sight, then goes."""

    installation_id: int


StoreCommand = (
    StoreDocument
    | ForgetPerson
    | RecordWeeklyRun
    | UpdateRepository
    | AddRepository
    | RemoveRepository
    | DeleteRepository
    | SetHistorySharing
    | RemoveInstallation
)


@dataclass(frozen=True, slots=True)
class PostedReply:
    """One answer; without a comment while it is still to be posted."""

    key: str
    topic: str
    account_id: int
    at: datetime
    comment_id: int | None = None
    node_id: str | None = None


def join_topics(topics: Iterable[str]) -> str:
    """The topic of an answer to several questions; that of a single one has no line end."""
    return "\n".join(topics)


def is_superseded(older: str, newer: str) -> bool:
    """Whether an answer on the newer topic answers all that one on the older did."""
    return set(older.split("\n")) <= set(newer.split("\n"))
