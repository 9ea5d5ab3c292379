"""What one delivery costs from end to end: acknowledgement, comment on the wire, calls, memory."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil

from benchmarks.store import postgres
from bot.fakegithub.model import PullRequest
from bot.fakegithub.registration import new_key_pair
from bot.fakegithub.server import FakeGitHub
from bot.fakegithub.world import AppRegistration
from bot.store.store import open_store

KEYS = new_key_pair()
FACTS = AppRegistration(public_pem=KEYS.public_pem)
IN_FLIGHT = 64
KNOCKS = 6_000
ROUNDS = 25
DATE = "<!-- ISSUES: date_errors -->"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, postgres() as shared:
        left = asyncio.run(measured(f"sqlite:///{folder}/bench.db"))
        right = asyncio.run(measured(shared))
    print(f"{'':44}{'SQLite':>18}{'PostgreSQL':>18}")
    for name, value in left.items():
        print(f"{name:44}{value:>18}{right[name]:>18}")
    print(f"(the fake GitHub, the client, the server and PostgreSQL share {os.cpu_count()} cores)")


async def measured(database_url: str) -> dict[str, str]:
    async with open_store(database_url, worker=False):
        pass  # the tables are made here: only a first start loads what makes them
    async with FakeGitHub(FACTS) as github, server(github, database_url) as (process, url):
        repository = github.repository("acme/knowledge", collaborators={"alice": "write"})
        pulls = [github.open_pull_request(repository, "rio-agent[bot]") for _ in range(ROUNDS + 1)]
        await github.until(lambda: github.deliveries.is_idle)
        cold, waits, calls = await rejections(github, pulls)
        memory = psutil.Process(process.pid).memory_info().rss / 2**20
        flood = await acknowledgements(github, process.pid, url)
        grown = psutil.Process(process.pid).memory_info().rss / 2**20
    return {
        f"durable acks/s, {IN_FLIGHT} in flight, worker beside": f"{flood.rate:,.0f}",
        "  p99 of an ack, ms": f"{flood.slowest * 1000:.1f}",
        "  of the server's own time an ack, ms": f"{flood.cost * 1000:.2f}",
        "  refused (503), so sent again": f"{flood.refused}",
        "idle delivery to comment on the wire, p50 ms": f"{statistics.median(waits) * 1000:.1f}",
        "  p95 ms": f"{statistics.quantiles(waits, n=20)[-1] * 1000:.1f}",
        "  the first one, with token and account, ms": f"{cold * 1000:.1f}",
        "API calls of a warm rejection": calls,
        "resident memory, MB": f"{memory:.0f}",
        "  after the flood, MB": f"{grown:.0f}",
    }


@asynccontextmanager
async def server(github: FakeGitHub, database_url: str) -> AsyncIterator[tuple[Process, str]]:
    environment = {
        **os.environ,
        "GITHUB_APP_ID": str(FACTS.id),
        "GITHUB_PRIVATE_KEY": KEYS.private_pem,
        "GITHUB_WEBHOOK_SECRET": FACTS.webhook_secret,
        "GITHUB_API_URL": github.api_url,
        "GITHUB_GRAPHQL_URL": github.graphql_url,
        "DATABASE_URL": database_url,
        "LOG_LEVEL": "WARNING",
        "PORT": "0",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        while "Listening on" not in (line := (await process.stdout.readline()).decode()):
            if not line:
                raise SystemExit("the server did not start")
        url = line.split()[2].rstrip(":") + "/webhook"
        github.webhook_url = url
        yield process, url
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def rejections(github: FakeGitHub, pulls: list[PullRequest]) -> tuple[float, list[float], str]:
    waits = []
    calls = ""
    for pull in pulls:
        before = len(github.requests)
        start = time.perf_counter()
        github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        await github.until(lambda pull=pull: github.comments_of(pull))
        waits.append(time.perf_counter() - start)
        await github.until(lambda: github.deliveries.is_idle)
        made = [each.method for each in github.requests[before:]]
        calls = f"{made.count('GET')} reads, {len(made) - made.count('GET')} write"
    return waits[0], waits[1:], calls


@dataclass(frozen=True)
class Flood:
    """How a burst of deliveries was acknowledged."""

    rate: float
    slowest: float
    cost: float
    """Seconds of a core that the server used for each: unlike the rate, little changed by other programs."""
    refused: int


async def acknowledgements(github: FakeGitHub, pid: int, url: str) -> Flood:
    """Knock as fast as the door answers; the requests are made beforehand, so the client costs little."""
    waiting = list(signed(github, url))
    took: list[float] = []
    refused = 0
    host, port = urlsplit(url).hostname, urlsplit(url).port

    async def knock() -> None:
        nonlocal refused
        reader, writer = await asyncio.open_connection(host, port)
        while waiting:
            request = waiting.pop()
            begun = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            answer = await reader.readexactly(length)
            if head.startswith(b"HTTP/1.1 503"):
                refused += 1
                waiting.append(request)
                continue
            # A refused one may have come to rest after all.
            if not head.startswith(b"HTTP/1.1 202") and not (refused and b"duplicate" in answer):
                raise SystemExit(f"not acknowledged: {answer.decode()}")
            took.append(time.perf_counter() - begun)
        writer.close()

    used, start = busy(pid), time.perf_counter()
    await asyncio.gather(*(knock() for _ in range(IN_FLIGHT)))
    seconds = time.perf_counter() - start
    cost = (busy(pid) - used) / len(took)
    return Flood(len(took) / seconds, statistics.quantiles(took, n=100)[-1], cost, refused)


def busy(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def signed(github: FakeGitHub, url: str) -> Iterator[bytes]:
    """Deliveries of one pull request each, as GitHub would put them on the wire."""
    payload = next(each.payload for each in github.deliveries if each.event == "pull_request")
    for number in range(100_000, 100_000 + KNOCKS):
        pull = {**payload["pull_request"], "number": number}
        body = json.dumps({**payload, "number": number, "pull_request": pull}).encode()
        signature = hmac.new(FACTS.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
        head = (
            f"POST /webhook HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nX-GitHub-Event: pull_request\r\n"
            f"X-GitHub-Delivery: bench-{number}\r\nX-Hub-Signature-256: sha256={signature}\r\n\r\n"
        )
        yield head.encode() + body
