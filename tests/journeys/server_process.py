"""`whetstone serve` in a process of its own, for tests that kill, stop or restart it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from contextlib import asynccontextmanager
from typing import IO

from tests import forks
from tests.journeys.harness import KEYS, SECRET


class ServerProcess:
    """`whetstone serve` as an operator runs it, on the same port after a restart."""

    def __init__(
        self, harness, arguments: tuple[str, ...] = ("bot", "serve"), *, forked: bool = True
    ) -> None:
        self.arguments = arguments
        self.forked = forked
        self.first_lines: list[str] = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        settings = harness.settings
        self.environment = {
            "PATH": os.environ["PATH"],
            "GITHUB_APP_ID": str(settings.app_id),
            "GITHUB_PRIVATE_KEY": KEYS.private_pem,
            "GITHUB_WEBHOOK_SECRET": SECRET,
            "GITHUB_API_URL": settings.api_url,
            "GITHUB_GRAPHQL_URL": settings.graphql_url,
            "DATABASE_URL": settings.database_url,
            "PORT": str(self.port),
        }
        self.stderr: IO[bytes] | None = None
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *(forks.python() if self.forked else (sys.executable,)),
            *("-m", *self.arguments),
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=self.stderr,
        )
        self.first_lines = []
        async with asyncio.timeout(120):
            while b"Listening" not in (line := await self.process.stdout.readline()):
                assert line, "the server ended before it listened"
                self.first_lines.append(line.decode())

    def send_signal(self, number: signal.Signals) -> None:
        if self.forked:
            forks.send_signal(self.process, number)
        else:
            self.process.send_signal(number)

    async def kill(self, how: signal.Signals = signal.SIGKILL) -> int:
        self.send_signal(how)
        return await self.process.wait()


@asynccontextmanager
async def run_server(harness, *arguments, stderr: IO[bytes] | None = None, forked: bool = True):
    """Start the server, send it the webhooks, and kill it in the end if it is still there."""
    server = ServerProcess(harness, *arguments, forked=forked)
    server.stderr = stderr
    harness.github.webhook_url = f"http://127.0.0.1:{server.port}/webhook"
    await server.start()
    try:
        yield server
    finally:
        if server.process.returncode is None:
            await server.kill()
