# ruff: noqa: T201  it is a command: it prints what it does
"""Does everything hold in the long run? `python -m tests.chaos --seed N --minutes M`

Four instances on one PostgreSQL are killed, held up, cut off from the database and given wrong answers by
GitHub, in an order that the seed decides, while reviews keep coming; so are poisonous texts, and strangers
hold connections with large bodies open. Beside them the clock of an instance on SQLite jumps. Each round ends
in peace: every pull request shows its newest truth, in one comment with a marker, written by whoever owned its
lane; nothing is parked, and no health check took longer than two seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import tempfile
import time
from collections import Counter
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import aiohttp

from bot.store.deliveries import count_queued, load_parked
from bot.store.store import open_store
from tests.hostile import SHAPES
from tests.journeys.cluster import Cluster, Instance, redeliver_until_accepted, run_cluster
from tests.journeys.harness import Harness
from tests.journeys.jumped_clock import clock_file
from tests.journeys.postgres import run_postgres
from tests.journeys.server_process import ServerProcess, run_server
from tests.journeys.short_lease import HEARTBEAT

INSTANCES = 4
PULLS = 16
TAGS = ("date_errors", "scope_error", "broken_wiki_links", "near_duplicate")
WRITES = "/repos/acme/knowledge/issues/*comments*"
PATIENCE = 180
POISONED = 4
"""Pull requests that get texts which are made to keep their reader busy."""
LONGEST_TEXT = 60_000
HEALTHY_WITHIN = 2.0
"""Seconds in which every health check is answered, of a process that is not stopped."""
STRANGERS = 50
"""Connections that hold a large body open."""


class Place:
    """A GitHub of its own, its pull requests, and what each of them must show."""

    def __init__(self, harness: Harness, count: int) -> None:
        self.harness = harness
        self.github = harness.github
        repository = self.github.repository("acme/knowledge", collaborators={"alice": "write"})
        self.pulls = [self.github.open_pull_request(repository, "rio-agent[bot]") for _ in range(count)]
        self.poisoned = [self.github.open_pull_request(repository, "rio-agent[bot]") for _ in range(POISONED)]
        self.wanted: dict[int, list[str]] = {}

    async def review(self, chance: random.Random) -> None:
        """Twice, half of the pull requests are rejected for other reasons."""
        for _ in range(2):
            self.harness.advance_clock()
            for pull in chance.sample(self.pulls, k=len(self.pulls) // 2):
                tags = chance.sample(TAGS, k=chance.randrange(1, 4))
                issues = f"<!-- ISSUES: {', '.join(tags)} -->"
                self.github.submit_review(pull, "alice", "CHANGES_REQUESTED", issues)
                # A review of the same head adds; what it repeats moves to the end.
                before = [tag for tag in self.wanted.get(pull.number, []) if tag not in tags]
                self.wanted[pull.number] = before + tags
            await asyncio.sleep(1.0)

    def poison(self, chance: random.Random) -> None:
        """Hostile texts in reviews and comments."""
        for pull in self.poisoned:
            review, comment = (_hostile(chance) for _ in range(2))
            self.github.submit_review(pull, "alice", "CHANGES_REQUESTED", f"[date_errors]\n\n{review}")
            self.github.comment(pull, "alice", comment)

    async def peace(self) -> None:
        """Return once every webhook was taken, and every pull request shows its newest truth."""
        await redeliver_until_accepted(self.harness)
        await self.github.until(self._is_true, timeout=PATIENCE)
        await redeliver_until_accepted(self.harness)
        async with open_store(self.harness.database_url, worker=False) as store, asyncio.timeout(PATIENCE):
            while await store.read(count_queued, "", ""):  # noqa: ASYNC110  another process works on them
                await asyncio.sleep(0.1)
            parked = [(each.id, each.lane, each.error) for each in await store.read(load_parked)]
        assert parked == [], f"parked: {parked}"

    def _is_true(self) -> bool:
        return all(
            [marker["issues"] for marker in self.harness.markers(pull)] == [self.wanted[pull.number]]
            for pull in self.pulls
            if pull.number in self.wanted
        )


def _hostile(chance: random.Random) -> str:
    text = SHAPES[chance.choice(sorted(SHAPES))](LONGEST_TEXT)
    return text.encode("utf-8", "replace").decode()


class Chaos:
    """One run: what the seed decides, and what must be true whatever it decided."""

    def __init__(self, cluster: Cluster, alone: Place, server: ServerProcess, seed: int) -> None:
        self.cluster = cluster
        self.github = cluster.harness.github
        self.chance = random.Random(seed)
        self.places = (Place(cluster.harness, PULLS), alone)
        self.alone, self.server = alone, server
        self.stops: Counter[Instance] = Counter()
        self.stopped: set[Instance] = set()
        self.slowest = 0.0

    async def round(self) -> str:
        """Reviews and troubles at once, then peace; returns the troubles' names."""
        names = self.chance.sample(sorted(TROUBLES), k=self.chance.randrange(1, 4))
        async with asyncio.TaskGroup() as reviews:
            for place in self.places:
                reviews.create_task(place.review(random.Random(self.chance.randrange(1, 10**9))))
            for name in names:
                await self._pass(self.chance.uniform(0.0, 2.0))
                await TROUBLES[name](self)
        for place in self.places:
            await place.peace()
        strangers = await self.cluster.foreign_writes()
        assert strangers == [], f"written out of turn: {strangers}"
        assert await self.cluster.postgres.deadlocks() == 0
        assert self.slowest <= HEALTHY_WITHIN, f"a health check took {self.slowest:.1f} s"
        return ", ".join(names)

    async def watch_health(self) -> None:
        """Ask every process that is not stopped for its health, all the time."""
        wait = aiohttp.ClientTimeout(total=5 * HEALTHY_WITHIN)
        async with aiohttp.ClientSession(timeout=wait) as session:
            while True:
                running = [instance for instance in self.cluster.instances if instance not in self.stopped]
                await asyncio.gather(*(self._ask(session, instance) for instance in running))
                await self._pass(0.25)

    async def _ask(self, session: aiohttp.ClientSession, instance: Instance) -> None:
        began, stops = time.monotonic(), self.stops[instance]
        with suppress(aiohttp.ClientError, TimeoutError):
            async with session.get(f"{instance.url}/healthz") as answer:
                await answer.read()
        was_running = (
            instance not in self.stopped
            and self.stops[instance] == stops
            and instance in self.cluster.instances
        )
        if was_running:
            self.slowest = max(self.slowest, time.monotonic() - began)

    async def _pass(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def kill(self) -> None:
        """One dies, and another one is started."""
        await self.cluster.kill_instance(self.chance.choice(self.cluster.instances))
        await self.cluster.start(1)

    async def hold_up(self) -> None:
        """One is stopped for longer than its lease, and goes on."""
        instance = self.chance.choice(self.cluster.instances)
        self.stops[instance] += 1
        self.stopped.add(instance)
        instance.send_signal(signal.SIGSTOP)
        await self._pass(HEARTBEAT.lease * self.chance.uniform(0.5, 2.0))
        instance.send_signal(signal.SIGCONT)
        self.stopped.discard(instance)

    async def poison(self) -> None:
        """Texts come that are made to keep their reader busy."""
        for place in self.places:
            place.poison(self.chance)

    async def hold_bodies(self) -> None:
        """Strangers hold many connections with large bodies open."""
        address = urlsplit(self.chance.choice(self.cluster.instances).url)
        head = (
            f"POST /webhook HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
            "X-GitHub-Event: push\r\nX-Hub-Signature-256: sha256=0\r\nContent-Length: 20000000\r\n\r\n"
        )
        async with asyncio.TaskGroup() as group:
            for _ in range(STRANGERS):
                group.create_task(self._hold_body(address.hostname, address.port, head.encode()))

    async def _hold_body(self, host: str, port: int, head: bytes) -> None:
        with suppress(OSError):  # it may have been refused: that is as good
            _, writer = await asyncio.open_connection(host, port)
            writer.write(head)
            for _ in range(20):
                writer.write(b"[" * 100_000)
                await writer.drain()
                await self._pass(0.2)
            writer.close()

    async def jump_clock(self) -> None:
        """The clock of the one on SQLite is days ahead, which may be killed meanwhile, and is put right."""
        file = clock_file(self.alone.harness.database_url)
        file.write_text(str(self.chance.randrange(3600, 3 * 86_400)), "utf-8")
        await self._pass(self.chance.uniform(1.0, 4.0))
        if self.chance.random() < 0.5:
            await self.server.kill()
            file.write_text("0", "utf-8")
            await self.server.start()
        file.write_text("0", "utf-8")

    async def restart_postgres(self) -> None:
        """The database is away for a while."""
        await self.cluster.postgres.stop()
        await self._pass(self.chance.uniform(0.0, 4.0))
        await self.cluster.postgres.start()

    async def throw_out(self) -> None:
        """Every connection to the database breaks."""
        await self.cluster.postgres.throw_out()

    async def lose_answers(self) -> None:
        """GitHub writes, and its answers are lost."""
        self.github.lose_answer("*", WRITES, times=self.chance.randrange(1, 4))

    async def reset(self) -> None:
        """GitHub hangs up without having done anything."""
        self.github.reset("*", WRITES, times=self.chance.randrange(1, 4))

    async def fail(self) -> None:
        """GitHub writes, and says that it failed."""
        self.github.fail("POST", WRITES, status=502, times=self.chance.randrange(1, 4), after=True)

    async def limit(self) -> None:
        """GitHub wants to be left alone for a while."""
        self.github.limit_secondary(self.chance.randrange(1, 4), pattern=WRITES)


TROUBLES = {
    "kill -9": Chaos.kill,
    "SIGSTOP": Chaos.hold_up,
    "PostgreSQL restarted": Chaos.restart_postgres,
    "connections closed": Chaos.throw_out,
    "answers lost": Chaos.lose_answers,
    "connections to GitHub reset": Chaos.reset,
    "502 after the write": Chaos.fail,
    "secondary rate limit": Chaos.limit,
    "poisonous texts": Chaos.poison,
    "bodies held open": Chaos.hold_bodies,
    "clock jumped": Chaos.jump_clock,
}


@asynccontextmanager
async def on_sqlite():
    """A GitHub with one instance on SQLite, whose clock can be made to jump."""
    with tempfile.TemporaryDirectory() as folder:
        harness = Harness(f"sqlite:///{folder}/bot.db")
        async with (
            harness.github,
            run_server(harness, ("tests.journeys.jumped_clock",), forked=False) as server,
        ):
            yield Place(harness, PULLS // 4), server


async def run(seed: int, minutes: float) -> None:
    """Rounds until the time is over; raises with the seed where something did not hold."""
    end = time.monotonic() + minutes * 60
    with run_postgres() as database:
        async with run_cluster(database, INSTANCES) as cluster, on_sqlite() as (alone, server):
            chaos = Chaos(cluster, alone, server, seed)
            health = asyncio.create_task(chaos.watch_health())
            number = 0
            while time.monotonic() < end:
                number += 1
                began = time.monotonic()
                names = await chaos.round()
                print(f"round {number}: {names}; at peace after {time.monotonic() - began:.0f} s", flush=True)
            health.cancel()
            writes = len(cluster.audit.writes)
            assert set(await cluster.stop_all()) == {0}
    held = "nothing lost, nothing twice, nobody out of turn, nothing parked"
    print(
        f"seed {seed}: {number} rounds, {writes} writes; {held}; slowest health check {chaos.slowest:.2f} s"
    )


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--minutes", type=float, default=5.0)
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    try:
        asyncio.run(run(chosen.seed, chosen.minutes))
    except (AssertionError, TimeoutError) as broken:
        raise SystemExit(f"seed {chosen.seed}: {broken}") from broken


if __name__ == "__main__":
    main()
