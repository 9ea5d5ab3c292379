# ruff: noqa: T201  it is a command: it prints what it does
"""Does everything hold in the long run? `python -m tests.chaos --seed N --minutes M`


Four instances on one PostgreSQL are killed, held up, cut off from the database and given wrong answers by
GitHub, in an order that the seed decides, while reviews keep coming. Each round ends in peace: every pull
request shows its newest truth, in one comment with a marker, written by whoever owned its lane.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import time

from tests.journeys.fleet import Fleet, delivered, fleet
from tests.journeys.postgres import postgres
from tests.journeys.short_lease import PACE

INSTANCES = 4
PULLS = 16
TAGS = ("date_errors", "scope_error", "broken_wiki_links", "near_duplicate")
WRITES = "/repos/acme/knowledge/issues/*comments*"
PATIENCE = 180


class Chaos:
    """One run: what the seed decides, and what must be true whatever it decided."""

    def __init__(self, ships: Fleet, seed: int) -> None:
        self.ships = ships
        self.github = ships.town.github
        self.chance = random.Random(seed)
        repository = self.github.repository("acme/knowledge", collaborators={"alice": "write"})
        self.pulls = [self.github.open_pull_request(repository, "rio-agent[bot]") for _ in range(PULLS)]
        self.wanted: dict[int, list[str]] = {}

    async def round(self) -> str:
        """Reviews and troubles at once, then peace; returns the troubles' names."""
        names = self.chance.sample(sorted(TROUBLES), k=self.chance.randrange(1, 4))
        reviews = asyncio.create_task(self._reviews(self.chance.randrange(1, 10**9)))
        for name in names:
            await self._pass(self.chance.uniform(0.0, 2.0))
            await TROUBLES[name](self)
        await reviews
        await self._peace()
        return ", ".join(names)

    async def _reviews(self, seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(2):
            self.ships.town.later()
            for pull in chance.sample(self.pulls, k=PULLS // 2):
                tags = chance.sample(TAGS, k=chance.randrange(1, 4))
                self.github.submit_review(
                    pull, "alice", "CHANGES_REQUESTED", f"<!-- ISSUES: {', '.join(tags)} -->"
                )
                self.wanted[pull.number] = tags
            await self._pass(1.0)

    async def _peace(self) -> None:
        await delivered(self.ships.town)
        await self.github.until(self._is_true, timeout=PATIENCE)
        await delivered(self.ships.town)
        strangers = await self.ships.strangers()
        assert strangers == [], f"written out of turn: {strangers}"
        assert await self.ships.postgres.deadlocks() == 0

    def _is_true(self) -> bool:
        return all(
            [marker["issues"] for marker in self.ships.town.markers(pull)] == [self.wanted[pull.number]]
            for pull in self.pulls
            if pull.number in self.wanted
        )

    async def _pass(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def kill(self) -> None:
        """One dies, and another one is started."""
        await self.ships.sink(self.chance.choice(self.ships.ships))
        await self.ships.launch(1)

    async def hold_up(self) -> None:
        """One is stopped for longer than its lease, and goes on."""
        ship = self.chance.choice(self.ships.ships)
        ship.signal(signal.SIGSTOP)
        await self._pass(PACE.lease * self.chance.uniform(0.5, 2.0))
        ship.signal(signal.SIGCONT)

    async def restart_postgres(self) -> None:
        """The database is away for a while."""
        await self.ships.postgres.stop()
        await self._pass(self.chance.uniform(0.0, 4.0))
        await self.ships.postgres.start()

    async def throw_out(self) -> None:
        """Every connection to the database breaks."""
        await self.ships.postgres.throw_out()

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
}


async def run(seed: int, minutes: float) -> None:
    """Rounds until the time is over; raises with the seed where something did not hold."""
    end = time.monotonic() + minutes * 60
    with postgres() as server:
        async with fleet(server, INSTANCES) as ships:
            chaos = Chaos(ships, seed)
            number = 0
            while time.monotonic() < end:
                number += 1
                began = time.monotonic()
                names = await chaos.round()
                print(f"round {number}: {names}; at peace after {time.monotonic() - began:.0f} s", flush=True)
            writes = len(ships.witness.writes)
            assert set(await ships.land()) == {0}
    print(f"seed {seed}: {number} rounds, {writes} writes; nothing lost, nothing twice, nobody out of turn")


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
