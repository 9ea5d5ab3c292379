"""Several instances share one PostgreSQL; they are killed, held up and cut off, and nobody notices."""

from __future__ import annotations

import signal

import pytest

from tests.journeys.cluster import redeliver_until_accepted, run_cluster
from tests.journeys.postgres import run_postgres as a_server

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
    async with run_cluster(postgres, 2) as cluster:
        harness, (one, other) = cluster.harness, cluster.instances
        pulls = opened(harness, 8)
        await rejected(harness, pulls, ONE)
        await written(harness, 4)
        one.send_signal(signal.SIGSTOP)
        await shown(harness, pulls, ["date_errors"])
        await rejected(harness, pulls, BOTH)
        await shown(harness, pulls[:3], ["date_errors", "scope_error"])
        one.send_signal(signal.SIGCONT)
        await cluster.kill_instance(other)
        await shown(harness, pulls, ["date_errors", "scope_error"])
        await judged_by(cluster, pulls)


async def test_of_four_instances_one_is_killed_and_one_stopped_while_postgresql_restarts(postgres):
    async with run_cluster(postgres, 4) as cluster:
        harness, (one, other, *_) = cluster.harness, cluster.instances
        pulls = opened(harness, 12)
        harness.github.lose_answer("POST", COMMENTS, times=2)
        await rejected(harness, pulls, ONE)
        await written(harness, 5)
        other.send_signal(signal.SIGSTOP)
        await cluster.kill_instance(one)
        await written(harness, 8)
        await postgres.stop()
        await postgres.start()
        await shown(harness, pulls, ["date_errors"])
        await rejected(harness, pulls, BOTH)
        await written(harness, 16)
        other.send_signal(signal.SIGCONT)
        await postgres.throw_out()
        await shown(harness, pulls, ["date_errors", "scope_error"])
        await judged_by(cluster, pulls)


def opened(harness, count):
    knowledge = harness.github.repository("acme/knowledge", collaborators={"alice": "write"})
    return [harness.github.open_pull_request(knowledge, "rio-agent[bot]") for _ in range(count)]


async def rejected(harness, pulls, why) -> None:
    harness.advance_clock()
    for pull in pulls:
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", why)


async def written(harness, count) -> None:
    """So many writes have come to GitHub."""
    await harness.github.until(lambda: len(writes(harness)) >= count)


def writes(harness):
    return [
        each
        for each in harness.github.requests
        if each.method in {"POST", "PATCH"} and "/issues/" in each.path
    ]


async def shown(harness, pulls, issues) -> None:
    """Every delivery was taken, and every pull request shows this."""
    await redeliver_until_accepted(harness)
    await harness.github.until(
        lambda: all([each["issues"] for each in harness.markers(pull)] == [issues] for pull in pulls)
    )


async def judged_by(cluster, pulls) -> None:
    """Nothing was lost, nothing came twice, nobody wrote out of turn, and all leave in order."""
    assert [len(cluster.harness.comments(pull)) for pull in pulls] == [1] * len(pulls)
    assert await cluster.foreign_writes() == []
    assert len(cluster.audit.writes) >= 2 * len(pulls)
    assert await cluster.postgres.deadlocks() == 0
    assert set(await cluster.stop_all()) == {0}
