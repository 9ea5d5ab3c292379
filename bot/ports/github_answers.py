"""What does GitHub answer where no value of the domain says it?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.snapshots import PullRequestSnapshot


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment of ours as GitHub stored it."""

    id: int
    node_id: str
    url: str


@dataclass(frozen=True, slots=True)
class FoundComment:
    """A comment of ours as GitHub shows it."""

    posted: PostedComment
    body: str


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
