"""What a decision returns: writes to GitHub and commands to the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from bot.pull_request.checks import CheckRunText
from bot.pull_request.diff import Suggestion
from bot.values import Repository


class AnnouncementKind(StrEnum):
    """The keyword of the marker: never the one that agents read as feedback."""

    ESCALATION = "ESCALATION"
    SELECTION = "SELECTION-REPORT"


class TargetedEffect:
    """A write to a target on GitHub; a newer one for the same target replaces one that was not sent yet."""

    __slots__ = ()
    target_format: ClassVar[str]

    @property
    def target(self) -> str:
        """The target's name."""
        return self.target_format.format(self)


@dataclass(frozen=True, slots=True)
class Announce(TargetedEffect):
    """Post one more comment in the thread; it is edited only by `CloseAnnouncement`."""

    target_format = "announce:{0.kind}"  # one announcement of each kind
    repository: Repository
    number: int
    kind: AnnouncementKind
    marker_id: str
    body: str


@dataclass(frozen=True, slots=True)
class CloseAnnouncement(TargetedEffect):
    """Replace the text of the announcement of this kind, if it was posted: once it is out of date."""

    target_format = "announce:{0.kind}"  # the announcement's own: one that was not sent yet need not be
    repository: Repository
    number: int
    kind: AnnouncementKind
    since: datetime
    """When it was posted at the earliest."""
    body: str


@dataclass(frozen=True, slots=True)
class ShowCheckRun(TargetedEffect):
    """Show this text in the newest run of this name and head; other annotations need a new run."""

    target_format = "check:{0.said.name}:{0.said.head}"  # one check run per name and head
    repository: Repository
    said: CheckRunText
    links: bool = False
    """Its summary ends with a link to the sticky comment, once there is one."""
    counted: bool = False
    """Its request is already counted in GitHub's rate limit."""


@dataclass(frozen=True, slots=True)
class PostSuggestions(TargetedEffect):
    """Post one review on this head with suggestions, each to be committed with one click."""

    target_format = "suggestions:{0.head}"  # one review per head
    repository: Repository
    number: int
    head: str
    body: str
    suggestions: tuple[Suggestion, ...]


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
class ShowLabel(TargetedEffect):
    """Show these of the bot's labels on the pull request, and no other: the heading's, and whose turn it is.

    With `degraded`, the label for a worse last iteration is shown beside them.
    """

    target_format = "label"  # one set of labels per pull request
    repository: Repository
    number: int
    label: str
    degraded: bool = False
    turn: str = ""

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
class AddReaction(TargetedEffect):
    """Add a reaction to a comment or review."""

    target_format = "react:{0.where}:{0.id}:{0.face}"  # one reaction of each kind per text
    repository: Repository
    where: CommandSource
    id: int
    node_id: str
    face: ReactionKind


@dataclass(frozen=True, slots=True)
class PostReply(TargetedEffect):
    """Answer a command, once: in the thread, or below the inline comment that gave it."""

    target_format = "reply:{0.key}"  # one answer per command
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


@dataclass(frozen=True, slots=True)
class MinimiseReply(TargetedEffect):
    """Minimise an answer that a newer one supersedes."""

    target_format = "minimise:{0.node_id}"  # each answer is its own target
    repository: Repository
    node_id: str


@dataclass(frozen=True, slots=True)
class ShowWeeklyIssue(TargetedEffect):
    """Show `body` in the repository's summary issue; a finished week also adds a comment."""

    target_format = "issue"  # one issue per repository
    repository: Repository
    week: str
    title: str
    labels: tuple[str, ...]
    body: str
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class PostWeekComment(TargetedEffect):
    """Post the comment of a finished week in the summary issue."""

    target_format = "week:{0.week}"  # one comment per week
    repository: Repository
    number: int
    week: str
    body: str


@dataclass(frozen=True, slots=True)
class ShowComment(TargetedEffect):
    """Show `body` in the sticky comment; with `anew`, repost it at the end and supersede the old one."""

    target_format = "comment"  # one sticky comment per pull request
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


@dataclass(frozen=True, slots=True)
class RetireComment(TargetedEffect):
    """Reduce a comment to a line that names its successor, and minimise it."""

    target_format = "retire:{0.comment_id}"  # each retired comment is its own target
    repository: Repository
    number: int
    comment_id: int
    node_id: str
    successor_url: str


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
    is_deleted: bool = False
    """The repository itself was deleted, so everything about it goes at once."""


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
