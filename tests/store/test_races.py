"""The races of several instances on one PostgreSQL, each brought about on purpose."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg
import pytest

from bot.store import lanes
from bot.store.model import Acceptance
from bot.store.store import open_store
from bot.turn.store import apply_turn
from tests.store.store_builders import LANE, claim_one, make_delivery, make_turn_result

NUMBERS = range(10)
INSERT = """
    INSERT INTO delivery
        (id, lane, state, event, installation_id, body, received_at, accepted_at, position, attempts)
    VALUES ($1, $2, $3, 'pull_request', 5, '', 0, 0, 0, 0)"""
ARRIVE = "UPDATE lane SET arrivals = arrivals + 1 WHERE key = $1"


@pytest.fixture
async def doors(postgres_url):
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_store(postgres_url, worker=True)) for _ in range(2)]


@asynccontextmanager
async def held_up(url, *statements):
    """What another transaction has done but not committed; it waits for so many others to wait for it."""
    mine, watching = [await asyncpg.connect(url) for _ in range(2)]
    transaction = mine.transaction()
    await transaction.start()
    for statement in statements:
        await mine.execute(*statement)

    async def until_blocked(count):
        async with asyncio.timeout(60):
            while await watching.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted") < count:
                pass

    yield until_blocked
    await transaction.commit()
    for connection in (mine, watching):
        await connection.close()


async def accept_all(store, names, lane):
    return await asyncio.gather(*(store.accept(make_delivery(name, lane(name))) for name in names))


async def test_a_delivery_that_is_committed_while_its_lane_is_given_back_has_a_turn(doors, postgres_url):
    store, _ = doors
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    await apply_turn(store, claim, make_turn_result(claim))
    async with held_up(postgres_url, (INSERT, "d2", LANE, "queued"), (ARRIVE, LANE)) as until_blocked:
        releasing = asyncio.create_task(store.release(claim))
        await until_blocked(1)
    await releasing
    assert [one.id for one in (await claim_one(store)).deliveries] == ["d2"]


async def test_two_doors_that_are_given_the_same_deliveries_do_not_deadlock(doors, postgres_url):
    one, other = doors
    names = [f"d{number}" for number in NUMBERS]
    async with held_up(postgres_url, (INSERT, "d5", LANE, "done")) as until_blocked:
        accepting = [
            asyncio.create_task(accept_all(one, names, lambda _: LANE)),
            asyncio.create_task(accept_all(other, names[::-1], lambda _: LANE)),
        ]
        await until_blocked(2)
    first, second = await asyncio.gather(*accepting)
    assert (first + second).count(Acceptance.QUEUED) == 9


async def test_arrivals_in_the_same_lanes_do_not_deadlock_in_whatever_order_they_are_given(
    doors, postgres_url
):
    one, other = doors
    names = [f"pull:1:{number}" for number in NUMBERS]
    arrivals = [(name, 5) for name in names]
    await accept_all(one, names, lambda name: name)
    async with held_up(postgres_url, (ARRIVE, names[5])) as until_blocked:
        arriving = [
            asyncio.create_task(one.database.write(lambda tx: lanes.add_arrivals(tx, arrivals))),
            asyncio.create_task(other.database.write(lambda tx: lanes.add_arrivals(tx, arrivals[::-1]))),
        ]
        await until_blocked(2)
    await asyncio.gather(*arriving)
    assert [claim.arrivals for claim in await one.claim(10)] == [3, 3, 3, 3, 3, 4, 3, 3, 3, 3]


async def test_a_turn_and_a_door_that_repeats_its_deliveries_do_not_deadlock(doors, postgres_url):
    one, other = doors
    await accept_all(one, ["d1", "d2"], lambda _: LANE)
    claim = await claim_one(one)
    async with held_up(postgres_url, (ARRIVE, LANE)) as until_blocked:
        door = asyncio.create_task(accept_all(other, ["d1", "d3", "d2"], lambda _: LANE))
        turn = asyncio.create_task(apply_turn(one, claim, make_turn_result(claim)))
        await until_blocked(2)
    await turn
    assert await door == [Acceptance.DUPLICATE, Acceptance.QUEUED, Acceptance.DUPLICATE]
