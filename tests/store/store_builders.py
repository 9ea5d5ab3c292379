"""Builders of deliveries, effects and claims."""

from __future__ import annotations

from bot.pull_request.effects import RetireComment, ShowComment
from bot.store.model import Delivery, LaneClaim, TurnResult
from bot.turn.store import apply_turn
from tests.builders import REPOSITORY, START

LANE = "pull:77:212"
OTHER_LANE = "pull:77:213"


def make_delivery(name: str, lane: str = LANE, installation_id: int = 5, **changes) -> Delivery:
    facts = {
        "event": "pull_request_review",
        "body": b'{"action":"submitted"}',
        "received_at": START,
    } | changes
    return Delivery(id=name, lane=lane, installation_id=installation_id, **facts)


def make_show_comment(marker: str = "m1", *, anew: bool = False, body: str = "**Rejected**") -> ShowComment:
    return ShowComment(REPOSITORY, 212, marker, body, f"print of {marker}", ("date_errors",), (), anew=anew)


def make_retire_comment(comment_id: int = 501) -> RetireComment:
    return RetireComment(REPOSITORY, 212, comment_id, f"IC_{comment_id}", "https://github.com/acme/x/pull/1")


def make_turn_result(claim: LaneClaim, *effects, pull_request=None) -> TurnResult:
    """A turn that deals with everything it was given."""
    return TurnResult(pull_request, effects, tuple(one.id for one in claim.deliveries))


async def claim_one(store) -> LaneClaim:
    (claim,) = await store.claim(10)
    return claim


async def claim_with_effects(store, *effects, lane: str = LANE) -> LaneClaim:
    """A claimed lane that owes these effects."""
    await store.accept(make_delivery(f"first of {lane}", lane))
    claim = await claim_one(store)
    await apply_turn(store, claim, make_turn_result(claim, *effects))
    return claim
