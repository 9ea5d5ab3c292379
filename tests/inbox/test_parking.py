"""A delivery is given up on after its own attempts, whatever its lane went through before."""

import asyncio
from datetime import UTC, datetime

import pytest

from bot.github.errors import GitHubUnavailable
from bot.inbox.heartbeat import Heartbeat
from bot.inbox.retry import MAX_ATTEMPTS
from bot.inbox.runner import LaneRunner
from bot.store.deliveries import load_parked
from tests.store.store_builders import claim_one, claim_with_effects, make_delivery, make_show_comment


class Away:
    """Turns of a GitHub that answers nothing."""

    async def process(self, _claim) -> None:
        raise GitHubUnavailable("GitHub is away")


@pytest.fixture
def runner(store):
    return LaneRunner(store, Away(), lambda: datetime.now(UTC), asyncio.Event(), Heartbeat())


async def test_a_delivery_that_comes_late_in_an_outage_is_tried_again(store, runner):
    claim = await claim_with_effects(store, make_show_comment())
    await store.release(claim, retry_after=0, attempt=MAX_ATTEMPTS + 8)
    await store.accept(make_delivery("fresh"))
    await runner.run(await claim_one(store))
    assert await store.read(load_parked) == ()


async def test_a_delivery_that_failed_often_is_given_up_on_and_the_fresh_one_beside_it_is_not(store, runner):
    await store.accept(make_delivery("old"))
    for attempt in range(1, MAX_ATTEMPTS):
        await store.release(await claim_one(store), retry_after=0, attempt=attempt)
    await store.accept(make_delivery("fresh"))
    await runner.run(await claim_one(store))
    assert [each.id for each in await store.read(load_parked)] == ["old"]
    assert [each.id for each in (await claim_one(store)).deliveries] == ["fresh"]
