"""`/readyz` says what is so, whatever happens to the store, the worker and GitHub."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import aiohttp
import pytest

from bot import app
from bot.inbox.heartbeat import HeartbeatSettings
from tests import forks
from tests.journeys.postgres import run_postgres as a_server
from tests.journeys.server_process import ServerProcess

DATE = "<!-- ISSUES: date_errors -->"
COMMENTS = "/repos/acme/knowledge/issues/*/comments"
READY = (200, {"status": "ready", "store": "ok", "worker": "ok"})


@pytest.fixture(scope="module")
def own_server():
    """A server that may be taken away."""
    with a_server() as started:
        yield started


@pytest.fixture
def store_url(sqlite_url):
    return sqlite_url


async def readiness(address) -> tuple[int, dict]:
    host, port = address
    async with aiohttp.ClientSession() as session, session.get(f"http://{host}:{port}/readyz") as answer:
        return answer.status, await answer.json()


async def test_a_process_is_ready_also_while_github_is_away(harness):
    harness.github.fail("*", "*", status=503, times=1000)
    async with harness.run_bot() as instance:
        await instance.wait_until_idle()
        assert await readiness(instance.address) == READY


async def test_a_store_that_is_away_makes_it_unready_until_it_is_back(harness, own_server):
    harness.database_url = own_server.url
    async with harness.run_bot() as instance:
        await instance.wait_until_idle()
        assert await readiness(instance.address) == READY
        await own_server.stop()
        away = await readiness(instance.address)
        await own_server.start()
        again = await readiness(instance.address)
    assert (away, again) == ((503, {"status": "not ready", "store": "away"}), READY)


async def test_a_web_only_process_is_not_asked_for_a_worker(harness, own_server):
    harness.database_url = own_server.url
    async with app.run_instance(harness.settings, work=False) as instance:
        assert await readiness(instance.address) == (200, {"status": "ready", "store": "ok"})


async def test_a_worker_that_does_not_beat_is_stuck(harness):
    async with app.run_instance(harness.settings, heartbeat=HeartbeatSettings(interval=3600)) as instance:
        await instance.wait_until_idle()
        instance.worker.heartbeat.record(instance.worker.heartbeat.now() - 11)
        assert await readiness(instance.address) == (
            503,
            {"status": "not ready", "store": "ok", "worker": "stuck"},
        )


@asynccontextmanager
async def hanging(harness, knowledge):
    """`whetstone serve`, in the middle of a write that GitHub does not answer."""
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
    fault = harness.github.hang("POST", COMMENTS, times=1)
    server = ServerProcess(harness)
    await server.start()
    try:
        harness.github.webhook_url = f"http://127.0.0.1:{server.port}/webhook"
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        await harness.github.until(lambda: fault.met)
        yield server
    finally:
        if server.process.returncode is None:
            await server.kill()


async def test_a_process_that_was_asked_to_stop_says_so_and_is_gone(harness, knowledge):
    async with hanging(harness, knowledge) as server:
        server.process.terminate()
        while b"Stopping" not in await server.process.stdout.readline():
            pass
        answer = await readiness(("127.0.0.1", server.port))
        status = await server.process.wait()
    assert answer == (503, {"status": "not ready", "store": "ok", "worker": "stopping"})
    assert status == 0


async def test_a_store_that_can_not_be_reached_stops_the_start_with_one_line(harness):
    server = ServerProcess(harness)
    server.environment["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/nothing"
    process = await asyncio.create_subprocess_exec(
        *(*forks.python(), "-m", "bot", "serve"),
        env=server.environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    assert (process.returncode, said.decode().count("\n"), b"Traceback" in said) == (2, 1, False)
