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
    """The keyword of the marker: never the one that agents read as feedback."""

    ESCALATION = "ESCALATION"
    SELECTION = "SELECTION-REPORT"


@dataclass(frozen=True, slots=True)
class Announce:
    """Post one more comment in the thread; it is edited only by `CloseAnnouncement`."""

    repository: Repository
    number: int
    kind: AnnouncementKind
    marker_id: str
    body: str

    @property
    def target(self) -> str:
        """One announcement of each kind."""
        return f"announce:{self.kind}"


@dataclass(frozen=True, slots=True)
class CloseAnnouncement:
    """Replace the text of the announcement of this kind, if it was posted: once it is out of date."""

    repository: Repository
    number: int
    kind: AnnouncementKind
    since: datetime
    """When it was posted at the earliest."""
    body: str

    @property
    def target(self) -> str:
        """The announcement's own: one that was not sent yet need not be."""
        return f"announce:{self.kind}"


@dataclass(frozen=True, slots=True)
class ShowCheckRun:
    """Show this text in the newest run of this name and head; other annotations need a new run."""

    repository: Repository
    said: CheckRunText
    links: bool = False
    """Its summary ends with a link to the sticky comment, once there is one."""
    counted: bool = False
    """Its request is already counted in GitHub's rate limit."""

    @property
    def target(self) -> str:
        """One check run per name and head."""
        return f"check:{self.said.name}:{self.said.head}"


@dataclass(frozen=True, slots=True)
class PostSuggestions:
    """Post one review on this head with suggestions, each to be committed with one click."""

    repository: Repository
    number: int
    head: str
    body: str
    suggestions: tuple[Suggestion, ...]

    @property
    def target(self) -> str:
        """One review per head."""
        return f"suggestions:{self.head}"


REJECTED_LABEL = "whetstone: rejected"
WARNINGS_LABEL = "whetstone: warnings"
DEGRADED_LABEL = "whetstone: degraded"
TURN_LABELS = {
    "author": "whetstone: author's turn",
    "reviewer": "whetstone: reviewer's turn",
    "checks": "whetstone: waiting for checks",
    "maintainer": "whetstone: maintainer's turn",
}
"""The label for whose turn it is; none once it is closed."""

LABEL_STYLES = {
    REJECTED_LABEL: ("b60205", "Something blocks this pull request"),
    WARNINGS_LABEL: ("fbca04", "There are findings, but none of them is blocking"),
    DEGRADED_LABEL: ("d4c5f9", "The last iteration is worse than the one before"),
    TURN_LABELS["author"]: ("bfd4f2", "The author has something to change or answer"),
    TURN_LABELS["reviewer"]: ("bfd4f2", "A reviewer has to look again"),
    TURN_LABELS["checks"]: ("bfd4f2", "Checks have no result yet"),
    TURN_LABELS["maintainer"]: ("bfd4f2", "A maintainer has to decide or merge"),
}
"""Label → colour and description, where the repository has no label of this name yet."""


@dataclass(frozen=True, slots=True)
class ShowLabel:
    """Show these of the bot's labels on the pull request, and no other: the heading's, and whose turn it is.

    With `degraded`, the label for a worse last iteration is shown beside them.
    """

    repository: Repository
    number: int
    label: str
    degraded: bool = False
    turn: str = ""

    @property
    def target(self) -> str:
        """One set of labels per pull request."""
        return "label"

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels to show."""
        degraded = DEGRADED_LABEL if self.degraded else ""
        return tuple(name for name in (self.label, degraded, self.turn) if name)


class CommandSource(StrEnum):
    """The kind of text that gave a command."""

    COMMENT = "comment"
    INLINE = "inline"
    REVIEW = "review"


class ReactionKind(StrEnum):
    """GitHub's names of the two reactions that the bot gives."""

    EYES = "eyes"
    CONFUSED = "confused"


@dataclass(frozen=True, slots=True)
class AddReaction:
    """Add a reaction to a comment or review."""

    repository: Repository
    where: CommandSource
    id: int
    node_id: str
    face: ReactionKind

    @property
    def target(self) -> str:
        """One reaction of each kind per text."""
        return f"react:{self.where}:{self.id}:{self.face}"


@dataclass(frozen=True, slots=True)
class PostReply:
    """Answer a command, once: in the thread, or below the inline comment that gave it."""

    repository: Repository
    number: int
    key: str
    """The command that is answered: `comment:81/0`."""
    topic: str
    """The subject: a later answer on the same topic minimises this one."""
    account_id: int
    at: datetime
    body: str
    inline: int | None = None
    """The first comment of the inline thread."""

    @property
    def target(self) -> str:
        """One answer per command."""
        return f"reply:{self.key}"


@dataclass(frozen=True, slots=True)
class MinimiseReply:
    """Minimise an answer that a newer one supersedes."""

    repository: Repository
    node_id: str

    @property
    def target(self) -> str:
        """Each answer is its own target."""
        return f"minimise:{self.node_id}"


@dataclass(frozen=True, slots=True)
class ShowWeeklyIssue:
    """Show `body` in the repository's summary issue; a finished week also adds a comment."""

    repository: Repository
    week: str
    title: str
    labels: tuple[str, ...]
    body: str
    comment: str | None = None

    @property
    def target(self) -> str:
        """One issue per repository."""
        return "issue"


@dataclass(frozen=True, slots=True)
class PostWeekComment:
    """Post the comment of a finished week in the summary issue."""

    repository: Repository
    number: int
    week: str
    body: str

    @property
    def target(self) -> str:
        """One comment per week."""
        return f"week:{self.week}"


@dataclass(frozen=True, slots=True)
class ShowComment:
    """Show `body` in the sticky comment; with `anew`, repost it at the end and supersede the old one."""

    repository: Repository
    number: int
    marker_id: str
    body: str
    fingerprint: str
    issues: tuple[str, ...]
    blocking: tuple[str, ...]
    anew: bool = False
    adopts: bool = False
    """The thread may have an unrecorded comment of the bot: it is looked for first."""

    @property
    def target(self) -> str:
        """One sticky comment per pull request."""
        return "comment"


@dataclass(frozen=True, slots=True)
class RetireComment:
    """Reduce a comment to a line that names its successor, and minimise it."""

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
    """Cancel whatever was still to be written to this target."""

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
    | CloseAnnouncement
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
    """Forget a person in a repository: counts stay, without a name."""

    repository_id: int
    account_id: int
    login: str
    at: datetime
    key: str


@dataclass(frozen=True, slots=True)
class RecordWeeklyRun:
    """Record the scheduled run of a week."""

    repository_id: int
    week: str
    at: datetime
    is_published: bool
    """Enough happened in that week to publish a summary."""


@dataclass(frozen=True, slots=True)
class UpdateRepository:
    """Update a repository's name, owner and visibility."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class AddRepository:
    """Add the repository to an installation, with everything stored about it."""

    repository: Repository
    """Its `default_branch` is empty where GitHub did not name it."""
    transferred: bool = False
    """GitHub may also notify the former owner's installation of a transfer."""


@dataclass(frozen=True, slots=True)
class RemoveRepository:
    """Remove the repository from an installation: its data is hidden, then deleted."""

    repository_id: int
    installation_id: int


@dataclass(frozen=True, slots=True)
class DeleteRepository:
    """Delete everything about a repository that was deleted."""

    repository_id: int
    installation_id: int


@dataclass(frozen=True, slots=True)
class SetHistorySharing:
    """Record whether a repository's config shares its history."""

    repository_id: int
    shared: bool


@dataclass(frozen=True, slots=True)
class RemoveInstallation:
    """Remove an uninstalled installation: its data is hidden, then deleted."""

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
    """An answer to a command; without a comment id until it is posted."""

    key: str
    topic: str
    account_id: int
    at: datetime
    comment_id: int | None = None
    node_id: str | None = None


def join_topics(topics: Iterable[str]) -> str:
    """Return the topic of an answer to several questions; a single topic has no line end."""
    return "\n".join(topics)


def is_superseded(older: str, newer: str) -> bool:
    """Whether an answer on the newer topic answers all that one on the older did."""
    return set(older.split("\n")) <= set(newer.split("\n"))
