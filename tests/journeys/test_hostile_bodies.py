"""Floods of hostile bodies against a real server: its memory stays small, and GitHub is still heard."""

from __future__ import annotations

import asyncio
import hmac
import json

import aiohttp
import pytest

from tests.journeys.harness import SECRET
from tests.journeys.json_bombs import JSON_BOMBS, MIB, HealthProbe, peak_memory, throw_bombs
from tests.journeys.server_process import run_server

MOST_MEMORY = 350
"""MB that the process may have had at its peak."""


@pytest.fixture
def store_url(sqlite_url):
    """The embedded store: what is attacked comes before any store."""
    return sqlite_url


@pytest.fixture
async def server(harness, pull):
    """`whetstone serve`, which has seen the repository."""
    async with run_server(harness, forked=False) as server:  # its memory is its own
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: date_errors -->")
        await harness.github.until(lambda: harness.comments(pull), timeout=60)
        yield server


async def metrics(server):
    url = f"http://127.0.0.1:{server.port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return await answer.text()


@pytest.mark.parametrize("name", JSON_BOMBS)
async def test_twelve_json_bombs_at_once_neither_fill_the_memory_nor_silence_the_server(
    harness, server, pull, name
):
    url = f"http://127.0.0.1:{server.port}/api/v1/repos/acme/knowledge/pulls/{pull.number}/validations"
    health = HealthProbe(server.port)
    with health.running():  # how soon it answers is measured by `make bench ARGS=responsiveness`
        statuses = await throw_bombs(name, url, harness.github.user_token("alice"))
    assert set(statuses) <= JSON_BOMBS[name][1]
    assert peak_memory(server.process.pid) < MOST_MEMORY
    assert health.seconds != []


def delivery(number):
    """A delivery as GitHub sends it: signed, 10 to 30 kB."""
    payload = {
        "action": "edited",
        "repository": {"id": 7},
        "pull_request": {"number": number, "body": "x" * (10_000 + number * 270)},
        "installation": {"id": 9},
    }
    body = json.dumps(payload).encode()
    headers = {
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": f"genuine-{number}",
        "X-Hub-Signature-256": "sha256=" + hmac.digest(SECRET.encode(), body, "sha256").hex(),
    }
    return body, headers


# Together 64 MiB less 4 KiB: with this in memory no delivery would fit.
HELD = [3 * MIB // 2] * 40 + [2 * MIB >> step for step in range(10)]


async def hold_open(port, source, size):
    """A stranger's connection: 25 MiB are announced, some of it comes, and then nothing more."""
    _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    writer.transport.set_write_buffer_limits(0)
    writer.write(b"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (25 * MIB))
    writer.write(b"x" * size)
    await writer.drain()
    return writer


@pytest.mark.parametrize("addresses", [1, 50])
async def test_strangers_who_hold_large_bodies_open_keep_no_delivery_of_github_out(server, addresses):
    sources = [f"127.0.0.{2 + number % addresses}" for number in range(50)]
    held = await asyncio.gather(*map(hold_open, [server.port] * 50, sources, HELD))
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as session:
            for _ in range(20):  # the server has read what was sent to it
                async with session.get("/healthz") as answer:
                    assert answer.status == 200

            async def deliver(number):
                body, headers = delivery(number)
                async with session.post("/webhook", data=body, headers=headers) as answer:
                    return answer.status

            assert await asyncio.gather(*map(deliver, range(1, 73))) == [202] * 72
    finally:
        for writer in held:
            writer.close()
    reason = "caller" if addresses == 1 else "memory"
    assert f'whetstone_bodies_refused_total{{reason="{reason}"}}' in await metrics(server)
