"""What do several instances bring? Rejections from end to end: both stores, and 1, 2, 4 worker processes."""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg

from benchmarks._servers import APP, DATE_ERROR, new_database, postgres, serving, whetstone
from bot.fakegithub.deliveries import Exchange
from tests.scripted_github import ScriptedGitHub

WORKERS = (1, 2, 4)
OWNERS = 2
BURST = 40  # a repository's share stays below the eighty writes that an installation has in a minute

_numbers = itertools.count(1)


def main() -> None:
    asyncio.run(measured())


async def measured() -> None:
    print(f"{'':44}{'SQLite':>12}{'PostgreSQL':>12}")
    with tempfile.TemporaryDirectory(prefix="whetstone-bench-") as folder, postgres() as server:
        alone = await burst(f"sqlite:///{folder}/burst.db", 0)
        together = await burst(await new_database(server, f"bench{next(_numbers)}"), 0)
        print(f"{'comments/s of a burst, one process':<44}{alone:>12.1f}{together:>12.1f}")
        for workers in WORKERS:
            rate = await burst(await new_database(server, f"bench{next(_numbers)}"), workers)
            print(f"{f'  one door, {workers} worker processes':<44}{'–':>12}{rate:>12.1f}")
    print(f"(the fake GitHub, the door and all workers share {os.cpu_count()} cores)")


async def burst(url: str, workers: int) -> float:
    """Comments a second, from the first review to the last comment."""
    github = ScriptedGitHub(APP)
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
            github.submit_review(pull, "alice", "CHANGES_REQUESTED", DATE_ERROR)
        await github.until(lambda: count[0] >= len(pulls), 120)
        return len(pulls) / (time.perf_counter() - began)


def posted(github: ScriptedGitHub) -> list[int]:
    """A number that grows with every comment."""
    count = [0]

    def note(exchange: Exchange) -> None:
        count[0] += exchange.method == "POST" and exchange.path.endswith("/comments")

    github.observers.append(note)
    return count


@asynccontextmanager
async def instances(github: ScriptedGitHub, url: str, workers: int) -> AsyncIterator[None]:
    """One whole process, or one door and so many workers, until the block ends."""
    async with AsyncExitStack() as stack:
        door = whetstone("--web-only") if workers else whetstone()
        await stack.enter_async_context(serving(github, door, url))
        for _ in range(workers):
            await stack.enter_async_context(serving(github, whetstone("--worker-only"), url))
        await beating(url, workers)
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
