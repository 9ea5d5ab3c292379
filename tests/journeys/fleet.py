"""Several `whetstone serve` on one PostgreSQL, behind one address, as an operator would run them."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp
from aiohttp import web

from tests.journeys.environment import KEYS, SECRET, Town
from tests.journeys.postgres import Postgres
from tests.journeys.witness import Witness

ROOT = Path(__file__).parent.parent.parent
TRIES = 60
"""Rounds of sending a webhook again; one in which an instance is stopped takes 1.5 seconds."""


class Ship:
    """One instance, which asks GitHub at an address of its own."""

    def __init__(self, alias: str, environment: dict[str, str]) -> None:
        self.alias = alias
        self._environment = environment
        self.url = ""
        self.process: asyncio.subprocess.Process | None = None

    async def launch(self) -> None:
        """Start, and return once it listens."""
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.journeys.short_lease",
            cwd=ROOT,
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(120):
            while b"Listening" not in (line := await self.process.stdout.readline()):
                assert line, "an instance ended before it listened"
        self.url = line.decode().split()[2].rstrip(":")

    @property
    def pid(self) -> int:
        return self.process.pid

    def signal(self, how: signal.Signals) -> None:
        self.process.send_signal(how)

    async def kill(self) -> None:
        """Gone at once, with whatever it was doing."""
        self.process.kill()
        await self.process.wait()

    async def leave(self) -> int:
        """Ask it to stop; return its exit status."""
        self.process.terminate()
        async with asyncio.timeout(60):
            return await self.process.wait()


class Fleet:
    """The instances, and the address at which one of them takes a delivery."""

    def __init__(self, town: Town, postgres: Postgres) -> None:
        self.town = town
        self.postgres = postgres
        self.ships: list[Ship] = []
        self.pids: dict[str, int] = {}
        self.witness = Witness(town.github)
        self._turn = itertools.count()
        self._session: aiohttp.ClientSession | None = None

    async def launch(self, count: int) -> None:
        """Start so many more, all at once."""
        ships = [await self._ship() for _ in range(count)]
        await asyncio.gather(*(ship.launch() for ship in ships))
        self.ships += ships
        self.pids |= {ship.alias: ship.pid for ship in ships}

    async def sink(self, ship: Ship) -> None:
        """Kill one of them; it does not come back."""
        self.ships.remove(ship)
        await ship.kill()

    async def land(self) -> list[int]:
        """Ask all to stop; their exit statuses."""
        ships, self.ships = self.ships, []
        return await asyncio.gather(*(ship.leave() for ship in ships))

    async def strangers(self) -> list:
        """The writes by an instance that did not own the pull request's lane."""
        return await self.witness.strangers(self.postgres, self.pids)

    async def _ship(self) -> Ship:
        site = web.TCPSite(self.town.github._runner, "127.0.0.1", 0)
        await site.start()
        alias = f"127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
        settings = self.town.settings
        return Ship(
            alias,
            {
                "PATH": os.environ["PATH"],
                "GITHUB_APP_ID": str(settings.app_id),
                "GITHUB_PRIVATE_KEY": KEYS.private_pem,
                "GITHUB_WEBHOOK_SECRET": SECRET,
                "GITHUB_API_URL": f"http://{alias}",
                "GITHUB_GRAPHQL_URL": f"http://{alias}/graphql",
                "DATABASE_URL": self.postgres.url,
                "LOG_LEVEL": "CRITICAL",
                "PORT": "0",
            },
        )

    async def _forward(self, request: web.Request) -> web.Response:
        """What the next one that answers says; one that does not is passed over."""
        body = await request.read()
        for _ in self.ships:
            ship = self.ships[next(self._turn) % len(self.ships)]
            with suppress(aiohttp.ClientError, TimeoutError):
                async with self._session.post(
                    f"{ship.url}/webhook", data=body, headers=request.headers
                ) as answer:
                    if answer.status < 500:
                        return web.Response(status=answer.status, body=await answer.read())
        return web.Response(status=502)


@asynccontextmanager
async def fleet(postgres: Postgres, count: int):
    """A town with so many instances at work, and a witness to who writes what."""
    town = Town(postgres.url)
    town.github.deliveries.in_flight = 4
    async with town.github, aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=1.5)) as session:
        ships = Fleet(town, postgres)
        ships._session = session
        balancer = web.Application(client_max_size=2**25)
        balancer.router.add_post("/webhook", ships._forward)
        runner = web.AppRunner(balancer, access_log=None, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        town.github.webhook_url = f"http://127.0.0.1:{runner.addresses[0][1]}/webhook"
        try:
            await ships.launch(count)
            await ships.witness.watch(postgres)
            yield ships
        finally:
            for ship in ships.ships:
                with suppress(ProcessLookupError):
                    await ship.kill()
            await runner.cleanup()


async def delivered(town: Town) -> None:
    """Every webhook was taken; one that nobody took is sent again, as `reconcile` asks for it."""
    for _ in range(TRIES):
        await town.github.until(lambda: town.github.deliveries.is_idle)
        newest = {each.guid: each for each in town.github.deliveries}
        failed = [each for each in newest.values() if not 200 <= (each.status_code or 0) < 300]
        if not failed:
            return
        for each in failed:
            town.github.redeliver(each)
    raise AssertionError(f"nobody took {len(failed)} webhooks")
