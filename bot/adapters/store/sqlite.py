"""How is a SQLite file opened, and who may write to it when?"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from sqlite3 import Connection as DriverConnection

from sqlalchemy import Engine, create_engine, event

from bot.adapters.store.database import COMMAND_SECONDS, one_kind_of_error
from bot.adapters.store.transaction import Clock, Result, Transaction, Work

READERS = 4

# FULL survives a power cut; with group commit it costs nothing measurable.
PRAGMAS = ("busy_timeout=5000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")


class SqliteDatabase:
    """A file: one thread writes, a few others read."""

    # A driver that hands every call to its thread and back costs some eighty switches a turn;
    # a whole transaction in a thread costs one.

    def __init__(self, path: Path, clock: Clock | None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._clock = clock or _process_clock
        # SQLite has room for one writer; that ours queue up here is cheaper than waiting for its lock.
        self._writer = _engine(path, 1)
        self._writing = ThreadPoolExecutor(1, "store writer")
        event.listen(self._writer, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        self._reader = _engine(path, READERS)
        self._reading = ThreadPoolExecutor(READERS, "store reader")

    async def write(self, work: Work[Result]) -> Result:
        """Its result, once it is committed."""
        return await _in(self._writing, partial(self._run, self._writer, work))

    async def read(self, work: Work[Result]) -> Result:
        """Its result; each statement sees what is committed, and waits for no writer."""
        return await _in(self._reading, partial(self._run, self._reader, work))

    async def migrate(self, work: Work[None]) -> None:
        """A transaction that may write keeps every other writer out."""
        await self.write(work)

    async def close(self) -> None:
        """Finish what was begun, then close the file."""
        for threads in (self._writing, self._reading):
            await asyncio.to_thread(threads.shutdown)
        for engine in (self._writer, self._reader):
            engine.dispose()

    def _run(self, engine: Engine, work: Work[Result]) -> Result:
        with one_kind_of_error(), engine.begin() as connection:
            return work(Transaction(connection, self._clock))


async def _in(threads: ThreadPoolExecutor, job: partial[Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(threads, job)


def _engine(path: Path, connections: int) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}", pool_size=connections, max_overflow=0, pool_timeout=COMMAND_SECONDS
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: DriverConnection, _record: object) -> None:
        connection.isolation_level = None  # else the driver opens transactions as it sees fit
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").close()

    return engine


def _process_clock() -> datetime:
    return datetime.now(UTC)
