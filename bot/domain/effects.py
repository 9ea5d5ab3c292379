"""What should be true on GitHub, as values: compared in tests, printed dry, replayed after a crash."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.announcement import Announce
from bot.domain.check_effects import ShowCheck, Suggest
from bot.domain.label_effects import ShowLabel
from bot.domain.model import Repository
from bot.domain.thread_effects import MinimiseReply, React, Reply, ShowIssue, WeekComment


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
class Withdraw:
    """Whatever was still to be written to this target is no longer wanted."""

    target: str


Effect = (
    ShowComment
    | RetireComment
    | Withdraw
    | React
    | Reply
    | MinimiseReply
    | ShowIssue
    | WeekComment
    | Announce
    | ShowCheck
    | Suggest
    | ShowLabel
)
