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

from tests.journeys.harness import KEYS, SECRET, Harness
from tests.journeys.lane_ownership import LaneOwnershipAudit
from tests.journeys.postgres import PostgresServer

ROOT = Path(__file__).parent.parent.parent
TRIES = 60
"""Rounds of sending a webhook again; one in which an instance is stopped takes 1.5 seconds."""


class Instance:
    """One instance, which asks GitHub at an address of its own."""

    def __init__(self, alias: str, environment: dict[str, str]) -> None:
        self.alias = alias
        self._environment = environment
        self.url = ""
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
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

    def send_signal(self, how: signal.Signals) -> None:
        self.process.send_signal(how)

    async def kill(self) -> None:
        """Gone at once, with whatever it was doing."""
        self.process.kill()
        await self.process.wait()

    async def stop(self) -> int:
        """Ask it to stop; return its exit status."""
        self.process.terminate()
        async with asyncio.timeout(60):
            return await self.process.wait()


class Cluster:
    """The instances, and the address at which one of them takes a delivery."""

    def __init__(self, harness: Harness, postgres: PostgresServer) -> None:
        self.harness = harness
        self.postgres = postgres
        self.instances: list[Instance] = []
        self.pids: dict[str, int] = {}
        self.audit = LaneOwnershipAudit(harness.github)
        self._turn = itertools.count()
        self._session: aiohttp.ClientSession | None = None

    async def start(self, count: int) -> None:
        """Start this many more instances at once."""
        instances = [await self._new_instance() for _ in range(count)]
        await asyncio.gather(*(instance.start() for instance in instances))
        self.instances += instances
        self.pids |= {instance.alias: instance.pid for instance in instances}

    async def kill_instance(self, instance: Instance) -> None:
        """Kill one of them; it does not come back."""
        self.instances.remove(instance)
        await instance.kill()

    async def stop_all(self) -> list[int]:
        """Ask all to stop; their exit statuses."""
        instances, self.instances = self.instances, []
        return await asyncio.gather(*(instance.stop() for instance in instances))

    async def foreign_writes(self) -> list:
        """The writes by an instance that did not own the pull request's lane."""
        return await self.audit.foreign_writes(self.postgres, self.pids)

    async def _new_instance(self) -> Instance:
        site = web.TCPSite(self.harness.github._runner, "127.0.0.1", 0)
        await site.start()
        alias = f"127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
        settings = self.harness.settings
        return Instance(
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
        for _ in self.instances:
            instance = self.instances[next(self._turn) % len(self.instances)]
            with suppress(aiohttp.ClientError, TimeoutError):
                async with self._session.post(
                    f"{instance.url}/webhook", data=body, headers=request.headers
                ) as answer:
                    if answer.status < 500:
                        return web.Response(status=answer.status, body=await answer.read())
        return web.Response(status=502)


@asynccontextmanager
async def run_cluster(postgres: PostgresServer, count: int):
    """Run this many instances on one PostgreSQL, and audit their writes."""
    harness = Harness(postgres.url)
    harness.github.deliveries.in_flight = 4
    async with harness.github, aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=1.5)) as session:
        cluster = Cluster(harness, postgres)
        cluster._session = session
        balancer = web.Application(client_max_size=2**25)
        balancer.router.add_post("/webhook", cluster._forward)
        runner = web.AppRunner(balancer, access_log=None, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        harness.github.webhook_url = f"http://127.0.0.1:{runner.addresses[0][1]}/webhook"
        try:
            await cluster.start(count)
            await cluster.audit.install(postgres)
            yield cluster
        finally:
            for instance in cluster.instances:
                with suppress(ProcessLookupError):
                    await instance.kill()
            await runner.cleanup()


async def redeliver_until_accepted(harness: Harness) -> None:
    """Every webhook was taken; one that nobody took is sent again, as `reconcile` asks for it."""
    for _ in range(TRIES):
        await harness.github.until(lambda: harness.github.deliveries.is_idle)
        newest = {each.guid: each for each in harness.github.deliveries}
        failed = [each for each in newest.values() if not 200 <= (each.status_code or 0) < 300]
        if not failed:
            return
        for each in failed:
            harness.github.redeliver(each)
    raise AssertionError(f"nobody took {len(failed)} webhooks")
