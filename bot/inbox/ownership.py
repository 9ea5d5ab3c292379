"""Resolve which installation owns a lane's repository, and relocate its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from bot.inbox.parse import ParseDelivery
from bot.inbox.retry import RetryLater
from bot.pull_request.effects import AddRepository, UpdateRepository
from bot.pull_request.events import (
    BackfillStep,
    CheckBackfillStep,
    CheckEvent,
    CommentEvent,
    ConfigBrokenEvent,
    ConfigPushEvent,
    Event,
    IgnoredEvent,
    InlineCommentEvent,
    InstallationEvent,
    LabelEvent,
    PullRequestEvent,
    PullRequestSnapshot,
    RepositoryEvent,
    RetryEvent,
    ReviewEvent,
    ValidationEvent,
    WeekDueEvent,
)
from bot.store.model import Delivery, LaneClaim, RepositoryOwnership, TurnResult
from bot.store.store import Store
from bot.turn.store import apply_turn
from bot.values import Repository

EventWithSnapshot = TypeVar("EventWithSnapshot", PullRequestSnapshot, PullRequestSnapshot | None)


def event_repository(event: Event) -> Repository | None:
    """The repository in which it happened, as the event has it; None where it names none in full."""
    match event:
        case InstallationEvent() | WeekDueEvent() | RetryEvent():
            return None
        case (
            RepositoryEvent()
            | CommentEvent()
            | CheckEvent()
            | ConfigPushEvent()
            | ConfigBrokenEvent()
            | ValidationEvent()
            | BackfillStep()
            | CheckBackfillStep()
        ):
            return event.repository
        case _:
            return event.pull_request.repository


def relocate_event(event: Event, now: Repository) -> Event:
    """The event as the installation would tell it that has the repository now."""
    match event:
        case InstallationEvent() | WeekDueEvent() | RetryEvent() | RepositoryEvent():
            return event
        case CommentEvent() | ConfigBrokenEvent() | ValidationEvent() | BackfillStep() | CheckBackfillStep():
            return replace(event, repository=now)
        case CheckEvent():
            return replace(event, repository=now, pull_request=_there(event.pull_request, now))
        case ConfigPushEvent():
            return replace(event, repository=now, pull_request=_there(event.pull_request, now))
        case _:
            return replace(event, pull_request=_there(event.pull_request, now))


def _there(seen: EventWithSnapshot, now: Repository) -> EventWithSnapshot:
    return replace(seen, repository=now) if seen else seen


OWNERSHIP_RETRY = 60.0
"""Seconds after which is looked again whether somebody has claimed the repository."""
OWNERSHIP_MARGIN = timedelta(minutes=10)
"""GitHub's clock and the store's differ by less."""


async def resolve_installation(claim: LaneClaim, store: Store, parse: ParseDelivery) -> LaneClaim:
    """The claim with what can be worked on; raises `NotYet` while nobody has the repository."""
    home = claim.ownership
    if home is None:
        return claim
    if home.repository is not None:
        return replace(claim, installation_id=home.repository.installation_id)
    fresh = tuple(each for each in claim.deliveries if each.installation_id not in home.former_installations)
    if not fresh and (again := _had_again(claim.deliveries, home, parse)):
        await apply_turn(store, claim, TurnResult(None, (), (), store_commands=(AddRepository(again),)))
        return replace(claim, ownership=None, outbox=())
    if not fresh:
        if home.is_leaving:
            raise RetryLater(OWNERSHIP_RETRY)
        return claim
    # Told through another installation, so that has it: what is remembered follows before it is loaded.
    events = (event for each in fresh if not isinstance(event := parse(each), IgnoredEvent))
    where = next(filter(None, map(event_repository, events)), None)
    if where is not None:
        await apply_turn(store, claim, TurnResult(None, (), (), store_commands=(UpdateRepository(where),)))
    return replace(claim, deliveries=fresh, outbox=())


def _had_again(
    deliveries: Iterable[Delivery], home: RepositoryOwnership, parse: ParseDelivery
) -> Repository | None:
    """The repository, where its installation tells of what happened well after the loss: so it has it again.

    By the event's own time, for what happened before the loss may be delivered again long after it.
    """
    if home.lost_at is None:
        return None
    for event in map(parse, deliveries):
        if isinstance(event, PullRequestEvent | ReviewEvent | InlineCommentEvent | LabelEvent):
            seen = event.pull_request
            if seen.updated_at > home.lost_at + OWNERSHIP_MARGIN:
                return seen.repository
    return None


def relocating_parser(parse: ParseDelivery, home: RepositoryOwnership | None) -> ParseDelivery:
    """How the lane's deliveries are read: old ones as their repository's present installation tells them."""
    if home is None:
        return parse

    def read(delivery: Delivery) -> Event | IgnoredEvent:
        event = parse(delivery)
        if isinstance(event, IgnoredEvent) or delivery.installation_id not in home.former_installations:
            return event
        if home.repository is None:
            return IgnoredEvent("told through an installation that has lost the repository")
        return relocate_event(event, home.repository)

    return read
