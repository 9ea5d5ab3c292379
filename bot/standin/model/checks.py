"""What do checks and statuses say about a commit?"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from bot.standin.model.accounts import Account, App
from bot.standin.model.repositories import Repository


@dataclass(slots=True, eq=False)
class Annotation:
    """A check's finding at a place."""

    path: str
    start_line: int
    end_line: int
    annotation_level: str
    message: str
    title: str | None = None
    raw_details: str | None = None
    start_column: int | None = None
    end_column: int | None = None


@dataclass(slots=True, eq=False)
class CheckRun:
    """A check on a commit, by an App."""

    id: int
    suite_id: int
    repository: Repository
    app: App
    name: str
    head_sha: str
    status: str
    conclusion: str | None
    started_at: datetime
    completed_at: datetime | None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    external_id: str = ""
    details_url: str | None = None
    annotations: list[Annotation] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Status:
    """A commit status."""

    id: int
    sha: str
    context: str
    state: str
    description: str | None
    target_url: str | None
    creator: Account
    created_at: datetime
