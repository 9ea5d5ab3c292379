"""Several instances share one PostgreSQL; they are killed, held up and cut off, and nobody notices."""

from __future__ import annotations

import signal

import pytest

from tests.journeys.fleet import delivered, fleet
from tests.journeys.postgres import postgres as a_server

BOTH = "<!-- ISSUES: date_errors, scope_error -->"
ONE = "<!-- ISSUES: date_errors -->"
COMMENTS = "/repos/acme/knowledge/issues/*/comments"


@pytest.fixture(scope="module")
def server():
    """A server of our own: it is stopped, which nobody else's tests would like."""
    with a_server() as started:
        yield started


@pytest.fixture
async def postgres(server, request):
    """A database without tables: the instances make them, all at once."""
    return await server.with_database(f"fleet{abs(hash(request.node.name))}")


async def test_of_two_instances_one_is_stopped_past_its_lease_and_the_other_killed(postgres):
    async with fleet(postgres, 2) as ships:
        town, (one, other) = ships.town, ships.ships
        pulls = opened(town, 8)
        await rejected(town, pulls, BOTH)
        await written(town, 4)
        one.signal(signal.SIGSTOP)
        await shown(town, pulls, ["date_errors", "scope_error"])
        await rejected(town, pulls, ONE)
        await shown(town, pulls[:3], ["date_errors"])
        one.signal(signal.SIGCONT)
        await ships.sink(other)
        await shown(town, pulls, ["date_errors"])
        await judged_by(ships, pulls)


async def test_of_four_instances_one_is_killed_and_one_stopped_while_postgresql_restarts(postgres):
    async with fleet(postgres, 4) as ships:
        town, (one, other, *_) = ships.town, ships.ships
        pulls = opened(town, 12)
        town.github.lose_answer("POST", COMMENTS, times=2)
        await rejected(town, pulls, BOTH)
        await written(town, 5)
        other.signal(signal.SIGSTOP)
        await ships.sink(one)
        await written(town, 8)
        await postgres.stop()
        await postgres.start()
        await shown(town, pulls, ["date_errors", "scope_error"])
        await rejected(town, pulls, ONE)
        await written(town, 16)
        other.signal(signal.SIGCONT)
        await postgres.throw_out()
        await shown(town, pulls, ["date_errors"])
        await judged_by(ships, pulls)


def opened(town, count):
    knowledge = town.github.repository("acme/knowledge", collaborators={"alice": "write"})
    return [town.github.open_pull_request(knowledge, "rio-agent[bot]") for _ in range(count)]


async def rejected(town, pulls, why) -> None:
    town.later()
    for pull in pulls:
        town.github.submit_review(pull, "alice", "CHANGES_REQUESTED", why)


async def written(town, count) -> None:
    """So many writes have come to GitHub."""
    await town.github.until(lambda: len(writes(town)) >= count)


def writes(town):
    return [
        each for each in town.github.requests if each.method in {"POST", "PATCH"} and "/issues/" in each.path
    ]


async def shown(town, pulls, issues) -> None:
    """Every delivery was taken, and every pull request shows this."""
    await delivered(town)
    await town.github.until(
        lambda: all([each["issues"] for each in town.markers(pull)] == [issues] for pull in pulls)
    )


async def judged_by(ships, pulls) -> None:
    """Nothing was lost, nothing came twice, nobody wrote out of turn, and all leave in order."""
    assert [len(ships.town.comments(pull)) for pull in pulls] == [1] * len(pulls)
    assert await ships.strangers() == []
    assert len(ships.witness.writes) >= 2 * len(pulls)
    assert await ships.postgres.deadlocks() == 0
    assert set(await ships.land()) == {0}
