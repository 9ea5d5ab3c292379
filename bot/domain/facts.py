"""What was read from GitHub for one decision, and the moment and place it is made in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.events import InlineComment, PullRequestSnapshot, Review
from bot.domain.model import Account, Revision


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


@dataclass(frozen=True, slots=True)
class Moment:
    """When a decision is made, and the identity of what comes out of it."""

    now: datetime
    id: str
