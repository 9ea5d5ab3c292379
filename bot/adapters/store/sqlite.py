"""How is a SQLite file opened, and who may write to it when?"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shlex
import stat
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from sqlite3 import SQLITE_BUSY, OperationalError
from sqlite3 import Connection as DriverConnection
from sqlite3 import Error as DriverError
from typing import Any

from sqlalchemy import Engine, create_engine, event

from bot.adapters.store.address import StoreRefused
from bot.adapters.store.database import COMMAND_SECONDS, one_kind_of_error
from bot.adapters.store.transaction import Clock, Result, Transaction, Work

READERS = 4
TOGETHER = 64
"""Transactions that share one commit at the most."""

# FULL survives a power cut; with group commit it costs nothing measurable.
# With secure_delete what is deleted is overwritten with zeros.
PRAGMAS = ("busy_timeout=5000", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON")
LOOK_AGAIN = 0.01
REWRITTEN = 256 * 1024 * 1024
"""Bytes of a file that is rewritten after an erasure; a larger one would hold up deliveries for too long."""
SCRUB_SECONDS = 1
"""How long emptying the log waits for readers; deliveries wait meanwhile."""

logger = logging.getLogger("whetstone.store")


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    work: Work[Any]
    answer: asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class _Outcome:
    result: Any = None
    error: Exception | None = None


class SqliteDatabase:
    """A file: one thread writes, a few others read."""

    # A driver that hands every call to its thread and back costs some eighty switches a turn;
    # a whole transaction in a thread costs one.

    def __init__(self, path: Path, clock: Clock | None) -> None:
        _keep_private(path)
        self._path = path
        self._clock = clock or _process_clock
        # SQLite has room for one writer; that ours queue up here is cheaper than waiting for its lock.
        self._writer = _engine(path, 1)
        self._writing = ThreadPoolExecutor(1, "store writer")
        self._waiting: deque[_Waiting] = deque()
        event.listen(self._writer, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        self._reader = _engine(path, READERS)
        self._reading = ThreadPoolExecutor(READERS, "store reader")

    async def write(self, work: Work[Result]) -> Result:
        """Its result, once it is committed, together with whatever else waits by then."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        self._waiting.append(_Waiting(work, answer))
        self._writing.submit(self._commit_all, loop)
        return await answer

    async def read(self, work: Work[Result]) -> Result:
        """Its result; each statement sees what is committed, and waits for no writer."""
        return await _in(self._reading, partial(self._run, self._reader, work))

    async def migrate(self, work: Work[None]) -> None:
        """A transaction that may write keeps every other writer out."""
        await self.write(work)

    async def scrub(self, *, rewrite: bool = False) -> None:
        """Empty the write-ahead log; `rewrite` also rewrites the file, unless it is large."""
        await _in(self._writing, partial(self._scrub, rewrite))

    async def close(self) -> None:
        """Finish what was begun, then close the file."""
        for threads in (self._writing, self._reading):
            await asyncio.to_thread(threads.shutdown)
        for engine in (self._writer, self._reader):
            engine.dispose()

    def _commit_all(self, loop: asyncio.AbstractEventLoop) -> None:
        """Do what waits in one transaction, and answer only once it is on disk: one sync for all."""
        batch: list[_Waiting] = []
        while self._waiting and len(batch) < TOGETHER:
            batch.append(self._waiting.popleft())
        if not batch:
            return  # done with the one before
        try:
            outcomes = self._run(self._writer, partial(_together, batch))
        except _OneFailed:
            # It takes back what all did, so each gets a transaction of its own. That is rare; a
            # savepoint for each, all the time, costs as much as what most of them do.
            outcomes = [self._alone(each.work) for each in batch]
        except Exception as error:  # noqa: BLE001  nothing was committed, and each has to know
            outcomes = [_Outcome(error=error)] * len(batch)
        loop.call_soon_threadsafe(_answer_all, batch, outcomes)

    def _alone(self, work: Work[Any]) -> _Outcome:
        try:
            return _Outcome(self._run(self._writer, work))
        except Exception as error:  # noqa: BLE001  it goes to whoever asked
            return _Outcome(error=error)

    def _scrub(self, rewrite: bool) -> None:  # noqa: FBT001  called by `partial` alone
        connection = self._writer.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA busy_timeout={SCRUB_SECONDS * 1000}")
            # Copies of rows that moved to another page are not overwritten by `secure_delete`.
            if rewrite and self._path.stat().st_size <= REWRITTEN:
                cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if any(is_busy for is_busy, *_ in cursor.fetchall()):
                logger.info("the log of the store is in use: it is emptied by the next hourly sweep")
            cursor.execute(f"PRAGMA {PRAGMAS[0]}")
        except DriverError as error:
            # What was deleted is gone from the tables; the next sweep tries again.
            logger.warning("the store's file can't be scrubbed: %s", error)
            connection.invalidate()
        finally:
            connection.close()

    def _run(self, engine: Engine, work: Work[Result]) -> Result:
        with one_kind_of_error(), engine.begin() as connection:
            return work(Transaction(connection, self._clock))


class _OneFailed(Exception):
    """Of several that share a transaction."""


def _together(batch: list[_Waiting], transaction: Transaction) -> list[_Outcome]:
    try:
        return [_Outcome(each.work(transaction)) for each in batch]
    except Exception as error:
        raise _OneFailed from error


def _answer_all(batch: list[_Waiting], outcomes: list[_Outcome]) -> None:
    for waiting, outcome in zip(batch, outcomes, strict=True):
        if waiting.answer.done():
            continue  # whoever asked has gone
        if outcome.error is not None:
            waiting.answer.set_exception(outcome.error)
        else:
            waiting.answer.set_result(outcome.result)


async def _in(threads: ThreadPoolExecutor, job: partial[Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(threads, job)


def _keep_private(path: Path) -> None:
    """Create a file that only its owner can read; `StoreRefused` for one that every user can."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Only a new file: closing one that this process uses already would drop its locks.
    with one_kind_of_error(), contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    # SQLite gives the files beside it the mode of this one.
    for each in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))):
        with contextlib.suppress(FileNotFoundError):
            if each.stat().st_mode & stat.S_IRWXO:
                raise StoreRefused(
                    f"every user of this machine can read {each}; run: chmod 600 {shlex.quote(str(path))}*"
                )


def _engine(path: Path, connections: int) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}", pool_size=connections, max_overflow=0, pool_timeout=COMMAND_SECONDS
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: DriverConnection, _record: object) -> None:
        connection.isolation_level = None  # else the driver opens transactions as it sees fit
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").close()
        _write_ahead(connection)

    return engine


def _write_ahead(connection: DriverConnection) -> None:
    """Readers wait for no writer. Where two begin a file at once, SQLite turns one away without a wait."""
    until = time.monotonic() + COMMAND_SECONDS
    while True:
        try:
            return connection.execute("PRAGMA journal_mode=WAL").close()
        except OperationalError as refused:
            if refused.sqlite_errorcode != SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(LOOK_AGAIN)  # in a thread of the store's; nothing tells when the other is done


def _process_clock() -> datetime:
    return datetime.now(UTC)
