"""How fast is the store? Durable acknowledgements, whole turns, and the way from one to the other."""

from __future__ import annotations

import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime

from benchmarks._servers import postgres
from bot.pull_request.effects import ShowComment
from bot.pull_request.model import PullRequest, StickyComment
from bot.store.model import Delivery, LaneClaim, TurnResult
from bot.store.outbox import mark_sending, mark_sent
from bot.store.pull_requests import load_pull_request
from bot.store.store import Store, open_store
from bot.turn.store import apply_turn
from bot.values import Account, Repository

IN_FLIGHT = 64
ACKS = 10_000
TURNS = 400
AT_ONCE = 8
STARTS = 50
WORKERS = (1, 2, 4)
BODY = random.Random(1).randbytes(12_000)  # what a review weighs; no store can squeeze it

NOW = datetime.now(UTC)
REPOSITORY = Repository(77, "acme", "knowledge", installation_id=5)


def main() -> None:
    rows: list[tuple[str, float, float]] = []
    with tempfile.TemporaryDirectory(prefix="whetstone-bench-") as directory, postgres() as server:
        sqlite = asyncio.run(measure(f"sqlite:///{directory}/store.db"))
        postgresql = asyncio.run(measure(server))
        rows.extend((name, sqlite[name], postgresql[name]) for name in sqlite)
        print(f"{'':44}{'SQLite':>12}{'PostgreSQL':>12}{'ratio':>8}")
        for name, left, right in rows:
            print(f"{name:44}{left:12,.1f}{right:12,.1f}{right / left:8.2f}")
        for workers in WORKERS:
            rate = shared(server, workers)
            print(f"{f'turns/s, {workers} worker processes':44}{'–':>12}{rate:12,.1f}")


async def measure(url: str) -> dict[str, float]:
    async with open_store(url, worker=True) as store:
        return {
            f"durable acks/s, {IN_FLIGHT} in flight": await acks(store),
            f"turns/s (claim to release), {AT_ONCE} at once": await turns(store),
            "ack to start, idle, p50 in ms": await starts(store),
        }


async def acks(store: Store) -> float:
    numbers = iter(range(ACKS))

    async def door() -> None:
        for number in numbers:
            await store.accept(delivery(f"ack-{number}", number % 500))

    began = time.perf_counter()
    await asyncio.gather(*(door() for _ in range(IN_FLIGHT)))
    seconds = time.perf_counter() - began
    await drain(store)
    return ACKS / seconds


async def turns(store: Store) -> float:
    await fill(store)
    began = time.perf_counter()
    await drain(store)
    return TURNS / (time.perf_counter() - began)


async def starts(store: Store) -> float:
    """A worker that waits is woken and has the delivery in hand."""
    taken = []
    for number in range(STARTS):
        store.wakes.clear()
        accepting = asyncio.create_task(store.accept(delivery(f"start-{number}", 100_000 + number)))
        await accepting
        began = time.perf_counter()
        await store.wakes.wait()
        (claim,) = await store.claim(AT_ONCE)
        taken.append(time.perf_counter() - began)
        await turn(store, claim)
    return statistics.median(taken) * 1000


def shared(url: str, workers: int) -> float:
    """Several processes on one database, from the first one's start to the last one's end."""
    asyncio.run(fill_for(url, workers))
    command = [sys.executable, "-m", "benchmarks.store", url]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(workers)]
    spans = [process.communicate()[0].split() for process in processes]
    return TURNS / (max(float(end) for _, end in spans) - min(float(start) for start, _ in spans))


async def fill_for(url: str, workers: int) -> None:
    async with open_store(url, worker=False) as store:
        await fill(store, f"shared-{workers}")


async def work(url: str) -> None:
    """One worker process: says when it began and ended."""
    async with open_store(url, worker=True) as store:
        began = time.time()
        await drain(store)
        print(began, time.time())


async def fill(store: Store, prefix: str = "turn") -> None:
    await asyncio.gather(*(store.accept(delivery(f"{prefix}-{n}", n)) for n in range(TURNS)))


async def drain(store: Store) -> None:
    while claims := await store.claim(AT_ONCE):
        await asyncio.gather(*(turn(store, claim) for claim in claims))


async def turn(store: Store, claim: LaneClaim) -> None:
    """All that the store does for a rejection that posts one comment."""
    number = int(claim.lane.rpartition(":")[2])
    await store.read(load_pull_request, claim.lane)
    known = PullRequest(REPOSITORY, number, Account(1, "rio"), "A title", "main", "0" * 40, NOW, NOW)
    show = ShowComment(REPOSITORY, number, "m", "x" * 6000, "f", ("date_errors",), ("date_errors",))
    done = tuple(one.id for one in claim.deliveries)
    for row in await apply_turn(store, claim, TurnResult(known, (show,), done)):
        sending = await store.write_claimed(claim, mark_sending, row)
        sticky = StickyComment(number, "IC", "https://github.com", "m", "f", ("date_errors",), (), NOW)
        await store.write_claimed(claim, mark_sent, sending, sticky, ())
    await store.release(claim)


def delivery(name: str, number: int) -> Delivery:
    return Delivery(name, "pull_request_review", f"pull:77:{number}", number % 7, BODY, NOW)


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1])) if sys.argv[1:] else main()
