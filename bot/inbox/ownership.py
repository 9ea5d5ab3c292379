"""Resolve which installation owns a lane's repository, and relocate its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.inbox.parse import parse_delivery
from bot.inbox.retry import RetryLater
from bot.pull_request.effects import AddRepository, UpdateRepository
from bot.pull_request.events import (
    CheckBackfillEvent,
    Event,
    IgnoredEvent,
    InlineCommentEvent,
    InstallationEvent,
    LabelEvent,
    PastPullRequestEvent,
    PullRequestEvent,
    RepositoryEvent,
    RetryEvent,
    ReviewEvent,
    ReviewThreadEvent,
    WeekDueEvent,
)
from bot.store.model import Delivery, LaneClaim, RepositoryOwnership, TurnResult
from bot.store.store import Store
from bot.turn.store import apply_turn
from bot.values import Repository


def event_repository(event: Event) -> Repository | None:
    """The repository of an event; None if the event does not name one in full."""
    match event:
        case InstallationEvent() | WeekDueEvent() | RetryEvent():
            return None
        case (
            PullRequestEvent()
            | ReviewEvent()
            | InlineCommentEvent()
            | LabelEvent()
            | ReviewThreadEvent()
            | CheckBackfillEvent()
            | PastPullRequestEvent()
        ):
            return event.pull_request.repository
        case _:
            return event.repository


def relocate_event(event: Event, repository: Repository) -> Event:
    """Rewrite the event as the installation would send it that has the repository now."""
    match event:
        case InstallationEvent() | WeekDueEvent() | RetryEvent() | RepositoryEvent():
            return event
        case _:
            changes: dict[str, Any] = {"repository": repository} if hasattr(event, "repository") else {}
            if snapshot := getattr(event, "pull_request", None):
                changes["pull_request"] = replace(snapshot, repository=repository)
            return replace(event, **changes)


OWNERSHIP_RETRY = 60.0
"""Seconds until it is checked again whether an installation has claimed the repository."""
OWNERSHIP_MARGIN = timedelta(minutes=10)
"""GitHub's clock and the store's differ by less."""


async def resolve_installation(claim: LaneClaim, store: Store) -> LaneClaim:
    """Restrict the claim to what can be processed; raises `RetryLater` while nobody has the repository."""
    ownership = claim.ownership
    if ownership is None:
        return claim
    if ownership.repository is not None:
        return replace(claim, installation_id=ownership.repository.installation_id)
    current = tuple(
        delivery
        for delivery in claim.deliveries
        if delivery.installation_id not in ownership.former_installations
    )
    if not current and (regained := _regained_repository(claim.deliveries, ownership)):
        await apply_turn(store, claim, TurnResult(None, (), (), store_commands=(AddRepository(regained),)))
        return replace(claim, ownership=None, outbox=())
    if not current:
        if ownership.is_leaving:
            raise RetryLater(OWNERSHIP_RETRY)
        return claim
    # Sent through another installation, so that one has it: what is stored follows before it is loaded.
    events = (event for each in current if not isinstance(event := parse_delivery(each), IgnoredEvent))
    repository = next(filter(None, map(event_repository, events)), None)
    if repository is not None:
        await apply_turn(
            store, claim, TurnResult(None, (), (), store_commands=(UpdateRepository(repository),))
        )
    return replace(claim, deliveries=current, outbox=())


def _regained_repository(deliveries: Iterable[Delivery], ownership: RepositoryOwnership) -> Repository | None:
    """The repository, if its installation reports what happened well after the loss: it has it again.

    By the event's own time, for what happened before the loss may be delivered again long after it.
    """
    if ownership.lost_at is None:
        return None
    for event in map(parse_delivery, deliveries):
        if isinstance(event, PullRequestEvent | ReviewEvent | InlineCommentEvent | LabelEvent):
            snapshot = event.pull_request
            if snapshot.updated_at > ownership.lost_at + OWNERSHIP_MARGIN:
                return snapshot.repository
    return None


def event_for_owner(
    event: Event | IgnoredEvent, delivery: Delivery, ownership: RepositoryOwnership
) -> Event | IgnoredEvent:
    """Return a delivery's event; an old one as the repository's present installation would have sent it."""
    if isinstance(event, IgnoredEvent):
        return event
    if delivery.installation_id not in ownership.former_installations:
        return event
    if ownership.repository is None:
        return IgnoredEvent("the delivery came through an installation that no longer has the repository")
    return relocate_event(event, ownership.repository)
