"""How does GitHub show a pull request, its reviews and its inline comments?"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.domain.model import Account, Item, Repository


@dataclass(frozen=True, slots=True)
class PullRequestSnapshot:
    """A pull request as one payload shows it."""

    repository: Repository
    number: int
    author: Account
    title: str
    base: str
    head: str
    created_at: datetime
    updated_at: datetime
    open: bool
    merged: bool
    draft: bool
    closed_at: datetime | None
    base_sha: str = field(default="", compare=False)
    """The base's newest commit then; two payloads of one state may differ in it."""


class ReviewState(StrEnum):
    """GitHub's review states; the case of the letters differs between its doors."""

    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    COMMENTED = "commented"
    DISMISSED = "dismissed"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Review:
    """A review as GitHub shows it now."""

    id: int
    author: Account
    state: ReviewState
    body: str
    submitted_at: datetime
    head: str | None
    url: str
    documents: tuple[Item, ...] = ()
    """The items of the feedback documents in its fences."""
    node_id: str = ""


@dataclass(frozen=True, slots=True)
class InlineComment:
    """A review comment that stands at a place of the diff."""

    id: int
    review_id: int | None
    author: Account
    body: str
    path: str
    line: int | None
    start_line: int | None
    diff_hunk: str
    created_at: datetime
    url: str
    documents: tuple[Item, ...] = ()
    in_reply_to: int | None = None
    """The first comment of its thread, where that is another one."""
