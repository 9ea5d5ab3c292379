"""What does a turn work on whose repository an installation has lost: moved on, or nobody's for now?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from bot.domain.events import Event, Ignored, InlineCommentSeen, LabelSeen, PullRequestSeen, ReviewSeen
from bot.domain.memos import RepositoryGained, RepositorySeen
from bot.domain.model import Repository
from bot.domain.moving import moved, repository_of
from bot.engine.settling import NotYet
from bot.ports import Claim, Delivery, Home, Parse, Store, Turn

REST = 60.0
"""Seconds after which is looked again whether somebody has claimed the repository."""
CLEARLY_LATER = timedelta(minutes=10)
"""GitHub's clock and the store's differ by less."""


async def at_home(claim: Claim, store: Store, parse: Parse) -> Claim:
    """The claim with what can be worked on; raises `NotYet` while nobody has the repository."""
    home = claim.home
    if home is None:
        return claim
    if home.repository is not None:
        return replace(claim, installation_id=home.repository.installation_id)
    fresh = tuple(each for each in claim.deliveries if each.installation_id not in home.former)
    if not fresh and (again := _had_again(claim.deliveries, home, parse)):
        await store.apply(claim, Turn(None, (), (), memos=(RepositoryGained(again),)))
        return replace(claim, home=None, outbox=())
    if not fresh:
        if home.leaving:
            raise NotYet(REST)
        return claim
    # Told through another installation, so that has it: what is remembered follows before it is loaded.
    events = (event for each in fresh if not isinstance(event := parse(each), Ignored))
    where = next(filter(None, map(repository_of, events)), None)
    if where is not None:
        await store.apply(claim, Turn(None, (), (), memos=(RepositorySeen(where),)))
    return replace(claim, deliveries=fresh, outbox=())


def _had_again(deliveries: Iterable[Delivery], home: Home, parse: Parse) -> Repository | None:
    """The repository, where its installation tells of what happened well after the loss: so it has it again.

    By the event's own time, for what happened before the loss may be delivered again long after it.
    """
    if home.lost_at is None:
        return None
    for event in map(parse, deliveries):
        if isinstance(event, PullRequestSeen | ReviewSeen | InlineCommentSeen | LabelSeen):
            seen = event.pull_request
            if seen.updated_at > home.lost_at + CLEARLY_LATER:
                return seen.repository
    return None


def reading(parse: Parse, home: Home | None) -> Parse:
    """How the lane's deliveries are read: old ones as their repository's present installation tells them."""
    if home is None:
        return parse

    def read(delivery: Delivery) -> Event | Ignored:
        event = parse(delivery)
        if isinstance(event, Ignored) or delivery.installation_id not in home.former:
            return event
        if home.repository is None:
            return Ignored("told through an installation that has lost the repository")
        return moved(event, home.repository)

    return read
