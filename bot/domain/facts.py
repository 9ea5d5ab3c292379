"""What was read from GitHub for one decision, and the moment and place it is made in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.check_runs import Annotation
from bot.domain.config_check import ConfigReport
from bot.domain.detection import Detection
from bot.domain.events import CheckSeen, CommentSeen, LabelSeen
from bot.domain.grounding.observations import Observations
from bot.domain.memory import Record
from bot.domain.model import Account, Revision
from bot.domain.own_events import ValidationSeen
from bot.domain.snapshots import InlineComment, PullRequestSnapshot, Review


@dataclass(frozen=True, slots=True)
class Facts:
    """Reads of the API; `None` where this turn had no reason to read."""

    me: Account
    pull_request: PullRequestSnapshot | None = None
    reviews: tuple[Review, ...] | None = None
    inline_comments: tuple[InlineComment, ...] | None = None
    roles: Mapping[int, str | None] = field(default_factory=dict)
    """Account id → role in the repository, for those whose word may count."""
    revisions: tuple[Revision, ...] = ()
    """Judged heads with what was read of them."""
    heard_at: datetime | None = None
    """When a person with `write` answered an escalation by a plain comment."""
    spoken: tuple[CommentSeen | LabelSeen | CheckSeen | ValidationSeen, ...] = ()
    """What validators said in other ways than by a review, as the events have it."""
    annotations: Mapping[int, tuple[Annotation, ...]] = field(default_factory=dict)
    """Check run id → what it found, for the failed ones among the above."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Path → text at the judged head, where a certain fix can be computed from it."""
    observations: Observations | None = None
    """What was seen of the judged head, where claims about it had to be looked up."""
    recent: tuple[Record, ...] = ()
    """The author's latest records in this repository."""
    framework: str | None = None
    """What the manifests at the judged head ask for, empty for nothing; None where none was read."""
    detection: Detection | None = None
    """What kind of feedback the validators' words are, where this turn worked it out already."""
    forgotten: Mapping[int, datetime] = field(default_factory=dict)
    """Account id → until when what they did here shows no name: they asked to be forgotten."""
    config: ConfigReport | None = None
    """What is to be said of the config that this pull request proposes."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a decision is made, and the identity of what comes out of it."""

    now: datetime
    id: str
