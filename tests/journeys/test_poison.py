"""A delivery that ends the process or blocks its event loop is parked and named; all others are answered."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from bot.inbox.heartbeat import EXIT_CODE
from tests import forks
from tests.journeys.cluster import redeliver_until_accepted
from tests.journeys.poison import LIMITS
from tests.journeys.server_process import run_server
from tests.journeys.test_crash import DATE

POISONOUS = ("tests.journeys.poison",)
REASON = "the process ended 3 times while handling this delivery alone"
SENTENCE = "Use actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 instead of v4."


@pytest.fixture
def log(tmp_path):
    """The file that the process writes its log to, over all restarts."""
    with (tmp_path / "log").open("ab") as file:
        yield file


@asynccontextmanager
async def supervised(server):
    """Restart the process whenever it ends; the queue has its exit codes."""
    codes: asyncio.Queue[int] = asyncio.Queue()

    async def supervise() -> None:
        while True:
            code = await server.process.wait()
            await server.start()
            codes.put_nowait(code)

    supervisor = asyncio.create_task(supervise())
    yield codes
    supervisor.cancel()


def lines(log, beginning: str) -> list[dict]:
    """The lines of the log whose message begins so."""
    told = [json.loads(line) for line in Path(log.name).read_text("utf-8").splitlines() if line[:1] == "{"]
    return [each for each in told if each["message"].startswith(beginning)]


def delivery_with(github, words: str) -> str:
    """The id of the delivery that has these words."""
    return next(each.guid for each in github.deliveries if words in json.dumps(each.payload))


async def get(server, path: str) -> str:
    wait = aiohttp.ClientTimeout(total=60)
    async with (
        aiohttp.ClientSession(timeout=wait) as session,
        session.get(f"http://127.0.0.1:{server.port}{path}") as answer,
    ):
        assert answer.status == 200
        return await answer.text()


async def parked(server) -> list[dict]:
    """What `whetstone parked` prints."""
    command = (*forks.python(), "-m", "bot", "parked", "--json")
    process = await asyncio.create_subprocess_exec(
        *command, env=server.environment, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    return [json.loads(line) for line in printed.decode().splitlines()]


async def test_the_poisonous_delivery_is_parked_and_the_other_pull_requests_are_answered(
    harness, knowledge, log
):
    github, words = harness.github, "spins here"
    sick, *others = [github.open_pull_request(knowledge, "rio-agent[bot]") for _ in range(4)]
    async with run_server(harness, POISONOUS, stderr=log) as server:
        await redeliver_until_accepted(harness)
        async with supervised(server) as codes:
            github.submit_review(sick, "alice", "CHANGES_REQUESTED", f"This {words}. {DATE}")
            for pull in others:
                github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
            ended = [await asyncio.wait_for(codes.get(), 60) for _ in range(5)]
        await redeliver_until_accepted(harness)
        await github.until(lambda: all(harness.comments(pull) for pull in others))
        github.submit_review(sick, "bob", "CHANGES_REQUESTED", DATE)
        await github.until(lambda: harness.comments(sick))
        metrics, listed = await get(server, "/metrics"), await parked(server)
        assert await server.kill(signal.SIGTERM) == 0
    poison = delivery_with(github, words)
    assert ended == [EXIT_CODE] * 5
    assert [(each["id"], each["error"]) for each in listed] == [(poison, REASON)]
    assert f'whetstone_parked_crashes{{delivery="{poison}",event="pull_request_review"}} 3.0' in metrics
    assert [each["delivery"] for each in lines(log, "a delivery was parked")] == [poison]
    assert [len(harness.comments(pull)) for pull in (sick, *others)] == [1] * 4


class TestWatchdog:
    @pytest.fixture
    def store_url(self, sqlite_url):
        """It is about the process, not about the store."""
        return sqlite_url

    @pytest.mark.parametrize(
        ("words", "where"),
        [("spins here", "in spin"), ("sleeps here", "in <lambda>"), ("backtracks here", "in backtrack")],
    )
    async def test_a_process_whose_event_loop_is_blocked_ends_and_names_the_delivery_and_the_line(
        self, harness, knowledge, log, words, where
    ):
        pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
        async with run_server(harness, POISONOUS, stderr=log) as server:
            await redeliver_until_accepted(harness)
            harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", f"This {words}. {DATE}")
            assert await asyncio.wait_for(server.process.wait(), 60) == EXIT_CODE
        noticed, ended = lines(log, "the event loop has been"), lines(log, "the event loop was")
        for line in (*noticed, *ended):
            assert delivery_with(harness.github, words) in line["deliveries"]
            assert where in line["exception"]
        assert (len(noticed), len(ended)) == (1, 1)

    async def test_a_process_that_was_stopped_for_longer_than_the_limit_goes_on(
        self, harness, knowledge, log
    ):
        pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
        async with run_server(harness, POISONOUS, stderr=log) as server:
            await redeliver_until_accepted(harness)
            server.send_signal(signal.SIGSTOP)
            await asyncio.sleep(2 * LIMITS.exit_after)
            server.send_signal(signal.SIGCONT)
            harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
            await harness.github.until(lambda: harness.comments(pull))
            assert await server.kill(signal.SIGTERM) == 0
        assert lines(log, "the event loop") == []


async def test_a_review_that_names_a_commit_is_answered_and_the_process_stays_healthy(harness, knowledge):
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
    async with run_server(harness) as server:
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", f"{SENTENCE}\n{DATE}")
        await harness.github.until(lambda: harness.comments(pull))
        await get(server, "/healthz")
        assert await server.kill(signal.SIGTERM) == 0
