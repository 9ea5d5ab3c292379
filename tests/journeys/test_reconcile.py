"""What GitHub could not deliver is fetched by the server itself, once, politely and not for ever."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.fakegithub.apps import delivery_json
from bot.inbox.reconcile import MAX_REQUESTS
from tests.journeys.server_process import ServerProcess, run_server
from tests.journeys.short_interval import OFTEN

DATE = "<!-- ISSUES: date_errors -->"
LIST = "/app/hook/deliveries"
NOBODY = "http://127.0.0.1:9/webhook"
EVERY_SECOND = ("tests.journeys.short_interval",)


async def missed(harness, pull):
    """A rejecting review whose delivery nobody took; the deliveries that failed."""
    answering, harness.github.webhook_url = harness.github.webhook_url, NOBODY
    harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
    await harness.github.delivered()
    harness.github.webhook_url = answering
    return [each for each in harness.github.deliveries if each.status_code == 0]


def attempts(harness, guid: str) -> int:
    return sum(each.guid == guid for each in harness.github.deliveries)


def runs(harness) -> int:
    """How often the list of deliveries was read; its first page only."""
    return len([each for each in harness.github.asked("GET", LIST) if "cursor" not in each.query])


async def more_runs(harness, count: int) -> None:
    wanted = runs(harness) + count
    await harness.github.until(lambda: runs(harness) >= wanted)


async def test_a_server_fetches_at_its_start_what_was_missed_while_it_was_away(harness, pull):
    lost = await missed(harness, pull)
    async with run_server(harness) as server:
        await harness.github.until(lambda: harness.markers(pull))
        assert [marker["issues"] for marker in harness.markers(pull)] == [["date_errors"]]
        assert [attempts(harness, each.guid) for each in lost] == [2] * len(lost)
        assert server.first_lines[1] == ("Missed deliveries are recovered at start and every 10 minutes.\n")
        seen = await metrics(server, "whetstone_reconcile_last_run_timestamp_seconds")
        assert (seen["whetstone_reconcile_found"], seen["whetstone_reconcile_resent"]) == (
            len(lost),
            len(lost),
        )


async def metrics(server, awaited: str) -> dict[str, float]:
    """The metrics without labels, once they name this one."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(60):
        while True:
            async with session.get(f"http://127.0.0.1:{server.port}/metrics") as answer:
                families = text_string_to_metric_families(await answer.text())
            seen = {each.name: each.value for family in families for each in family.samples}
            if awaited in seen:
                return seen
            await asyncio.sleep(0.2)  # a scrape's answer is kept for two seconds


async def test_a_server_that_stays_up_fetches_what_it_missed_with_the_next_run(harness, pull):
    async with run_server(harness, EVERY_SECOND):
        await more_runs(harness, 1)
        await missed(harness, pull)
        await harness.github.until(lambda: harness.markers(pull))
        await more_runs(harness, 2)
    assert len(harness.comments(pull)) == 1


async def test_a_restarted_server_fetches_what_it_missed_at_its_start(harness, pull):
    async with run_server(harness) as server:
        await harness.github.until(lambda: runs(harness))
        await server.kill(signal.SIGTERM)
        await missed(harness, pull)
        await server.start()
        await harness.github.until(lambda: harness.markers(pull))


async def test_a_delivery_that_keeps_failing_is_asked_for_a_few_times_only(harness, pull):
    async with run_server(harness, EVERY_SECOND):
        harness.github.webhook_url = NOBODY
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        lost = harness.github.deliveries.all[-1]
        await harness.github.until(lambda: attempts(harness, lost.guid) == 1 + MAX_REQUESTS)
        await more_runs(harness, 4)
    assert attempts(harness, lost.guid) == 1 + MAX_REQUESTS


async def test_a_delivery_that_is_in_the_inbox_is_not_asked_for(harness, pull):
    async with run_server(harness, EVERY_SECOND):
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        await harness.github.until(lambda: harness.markers(pull) and harness.github.deliveries.is_idle)
        taken = [each for each in harness.github.deliveries if "queued" in each.answer]
        for each in taken:  # as where the answer came too late for GitHub
            each.status_code, each.status = 0, "timed out"
        await more_runs(harness, 3)
    assert [attempts(harness, each.guid) for each in taken] == [1] * len(taken)
    assert taken != []


@pytest.mark.parametrize("trouble", ["an error", "a rate limit", "no answer to a redelivery"])
async def test_trouble_with_github_ends_neither_the_server_nor_the_next_runs(harness, pull, trouble):
    github = harness.github
    await missed(harness, pull)
    if trouble == "an error":
        github.fail("GET", LIST, status=502, times=2)
    elif trouble == "a rate limit":
        github.limit_secondary(2, method="GET", pattern=LIST)
    else:
        github.reset("POST", f"{LIST}/*", times=2)
    async with run_server(harness, EVERY_SECOND):
        await github.until(lambda: harness.markers(pull))
    limited = [each for each in github.asked("GET", LIST) if each.is_fault]
    assert len(limited) == {"an error": 2, "a rate limit": 1}.get(trouble, 0)


async def test_nothing_is_asked_for_while_the_hours_requests_are_nearly_used_up(harness, pull):
    await missed(harness, pull)
    left = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "1000"}
    listed = [delivery_json(each) for each in reversed(harness.github.deliveries.all)]
    harness.github.fail("GET", LIST, status=200, times=2, headers=left, body=listed)
    async with run_server(harness, EVERY_SECOND):
        await harness.github.until(lambda: runs(harness) == 2)
        assert harness.github.asked("POST", f"{LIST}/*") == []
        await harness.github.until(lambda: harness.markers(pull))


@asynccontextmanager
async def two(harness):
    servers = [ServerProcess(harness, EVERY_SECOND) for _ in range(2)]
    harness.github.webhook_url = f"http://127.0.0.1:{servers[0].port}/webhook"
    try:
        await asyncio.gather(*(server.start() for server in servers))
        yield servers
    finally:
        for server in servers:
            if server.process and server.process.returncode is None:
                await server.kill()


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
async def test_of_two_instances_one_looks_for_missed_deliveries_in_each_interval(harness, pull):
    await missed(harness, pull)
    loop = asyncio.get_running_loop()
    async with two(harness) as servers:
        await harness.github.until(lambda: runs(harness))
        began = loop.time()
        await more_runs(harness, 7)
        # Seven intervals, less the time in which the first run was noticed; two that run each would need half.
        assert loop.time() - began >= 4 * OFTEN.every
        await harness.github.until(lambda: harness.markers(pull))
        await servers[0].kill()
        await more_runs(harness, 2)
    assert len(harness.comments(pull)) == 1


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
async def test_a_process_that_only_takes_deliveries_in_looks_for_none(harness, pull):
    await missed(harness, pull)
    async with run_server(harness, ("bot", "serve", "--web-only")) as server:
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        await harness.github.delivered()
        assert not any("Missed deliveries" in line for line in server.first_lines)
    assert runs(harness) == 0
