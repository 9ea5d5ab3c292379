"""How is a PostgreSQL database opened and shared?"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from sqlalchemy import event, text
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from bot.adapters.store.address import PostgresServer, StoreRefused
from bot.adapters.store.database import COMMAND_SECONDS, one_kind_of_error
from bot.adapters.store.transaction import Clock, Result, Transaction, Work
from bot.ports import StoreUnavailable

CONNECT_SECONDS = 5
IDLE_SECONDS = 5
"""A transaction of ours never waits for anything but the database: one that idles is a process that
was stopped or cut off, and its locks hold up all others. Less than these wait for a command."""
TRANSACTION_SECONDS = 7
"""A process that is stopped between two messages of one statement is not idle to the server, but busy.
So a transaction ends after these seconds, whatever it waits for."""
ENDS_TRANSACTIONS = 17
"""The first version of PostgreSQL that can do so."""
MIGRATION_IDLE_SECONDS = 60
CLOSE_SECONDS = 1.0
"""What transactions under way get when the store is closed."""
TRUSTED_SECONDS = 0.1
"""A connection that idled longer is tried first: the server may have been restarted since."""
MIGRATION = 0x77686574
"""A lock's number: any, as long as every instance asks for the same one."""


class PostgresDatabase:
    """A server that several instances share; it tells the time."""

    def __init__(self, server: PostgresServer, clock: Clock | None) -> None:
        self._server = server
        self._clock = clock
        self._running: set[asyncio.Task[Any]] = set()
        self._engine = _engine(server, COMMAND_SECONDS)
        self._reader = self._engine.execution_options(isolation_level="AUTOCOMMIT")

    async def write(self, work: Work[Result]) -> Result:
        """Its result, once it is committed."""
        return await self._run(self._engine, work)

    async def read(self, work: Work[Result]) -> Result:
        """Its result; each statement sees what is committed, and waits for no writer."""
        return await self._run(self._reader, work)

    async def migrate(self, work: Work[None]) -> None:
        """One instance at a time, however long it takes."""

        def alone(transaction: Transaction) -> None:
            transaction.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION})"))
            work(transaction)

        patient = _engine(self._server, None)
        try:
            await self._run(patient, alone)
        finally:
            await patient.dispose()

    async def scrub(self, *, rewrite: bool = False) -> None:
        """Nothing: old versions of rows go with the server's own vacuum, its log with its own settings."""

    async def close(self) -> None:
        """Give every connection back."""
        if self._running:
            await asyncio.wait(self._running, timeout=CLOSE_SECONDS)
        await self._engine.dispose()

    async def _run(self, engine: AsyncEngine, work: Work[Result]) -> Result:
        # In a task of its own, as SQLite's are in a thread: a connection whose user is cancelled between
        # two messages can only be thrown away, and the pool logs that as an error, with a traceback.
        task = asyncio.create_task(self._transact(engine, work))
        self._running.add(task)
        task.add_done_callback(self._ended)
        await asyncio.wait({task})
        return task.result()

    async def _transact(self, engine: AsyncEngine, work: Work[Result]) -> Result:
        with one_kind_of_error():
            async with engine.begin() as connection:
                return await connection.run_sync(lambda driver: work(Transaction(driver, self._clock)))

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # whoever asked may have gone: nobody else looks at it


def _engine(server: PostgresServer, patience: float | None) -> AsyncEngine:
    try:
        import asyncpg
    except ModuleNotFoundError as missing:
        raise StoreRefused(
            "DATABASE_URL names PostgreSQL; its driver is missing: pip install 'whetstone-bot[postgres]'"
        ) from missing

    idle = IDLE_SECONDS if patience else MIGRATION_IDLE_SECONDS
    at_most = {"idle_in_transaction_session_timeout": f"{idle}s"}

    async def connection() -> Any:
        # The driver reads the address itself, so that sslmode, host=/socket and the rest mean
        # what they mean everywhere.
        try:
            made = await asyncpg.connect(
                server.dsn, timeout=CONNECT_SECONDS, command_timeout=patience, server_settings=at_most
            )
            if patience and made.get_server_version().major >= ENDS_TRANSACTIONS:
                await made.execute(f"SET transaction_timeout = '{TRANSACTION_SECONDS}s'")
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailable(str(error) or type(error).__name__) from error
        return made

    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connection,
        pool_size=10,
        max_overflow=5,
        pool_timeout=COMMAND_SECONDS,
    )
    # Not `pool_pre_ping`: it asks the server every time, which costs three ways there and back.
    event.listen(engine.sync_engine, "checkin", _note_use)
    event.listen(engine.sync_engine, "checkout", _try_after_a_rest)
    return engine


def _note_use(_connection: Any, entry: ConnectionPoolEntry) -> None:
    entry.info["used"] = time.monotonic()


def _try_after_a_rest(connection: Any, entry: ConnectionPoolEntry, _fairy: Any) -> None:
    if time.monotonic() - entry.info.get("used", time.monotonic()) > TRUSTED_SECONDS:
        try:
            connection.ping()
        except Exception as gone:
            raise InvalidatePoolError from gone  # and so are the others: each is opened anew
