"""Where did an event happen, and what does it say once its repository has moved?"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from bot.domain.events import CheckSeen, CommentSeen, ConfigPushed, Event, InstallationSeen, RepositoryChanged
from bot.domain.model import Repository
from bot.domain.own_events import BackfillDue, ConfigBroken, HeadsDue, RetryDue, ValidationSeen, WeekDue
from bot.domain.snapshots import PullRequestSnapshot

Snapshot = TypeVar("Snapshot", PullRequestSnapshot, PullRequestSnapshot | None)


def repository_of(event: Event) -> Repository | None:
    """The repository in which it happened, as the event has it; None where it names none in full."""
    match event:
        case InstallationSeen() | WeekDue() | RetryDue():
            return None
        case (
            RepositoryChanged()
            | CommentSeen()
            | CheckSeen()
            | ConfigPushed()
            | ConfigBroken()
            | ValidationSeen()
            | BackfillDue()
            | HeadsDue()
        ):
            return event.repository
        case _:
            return event.pull_request.repository


def moved(event: Event, now: Repository) -> Event:
    """The event as the installation would tell it that has the repository now."""
    match event:
        case InstallationSeen() | WeekDue() | RetryDue() | RepositoryChanged():
            return event
        case CommentSeen() | ConfigBroken() | ValidationSeen() | BackfillDue() | HeadsDue():
            return replace(event, repository=now)
        case CheckSeen():
            return replace(event, repository=now, pull_request=_there(event.pull_request, now))
        case ConfigPushed():
            return replace(event, repository=now, pull_request=_there(event.pull_request, now))
        case _:
            return replace(event, pull_request=_there(event.pull_request, now))


def _there(seen: Snapshot, now: Repository) -> Snapshot:
    return replace(seen, repository=now) if seen else seen
