"""What does a turn work on whose repository an installation has lost: moved on, or nobody's for now?"""

from __future__ import annotations

from dataclasses import replace

from bot.domain.events import Event, Ignored
from bot.domain.memos import RepositorySeen
from bot.domain.moving import moved, repository_of
from bot.engine.settling import NotYet
from bot.ports import Claim, Delivery, Home, Parse, Store, Turn

REST = 60.0
"""Seconds after which is looked again whether somebody has claimed the repository."""


async def at_home(claim: Claim, store: Store, parse: Parse) -> Claim:
    """The claim with what can be worked on; raises `NotYet` while nobody has the repository."""
    home = claim.home
    if home is None:
        return claim
    if home.repository is not None:
        return replace(claim, installation_id=home.repository.installation_id)
    fresh = tuple(each for each in claim.deliveries if each.installation_id not in home.former)
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
