"""Open a SQLite file or a PostgreSQL server."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import shlex
import stat
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from sqlite3 import SQLITE_BUSY, OperationalError
from sqlite3 import Connection as DriverConnection
from sqlite3 import Error as DriverError
from threading import get_ident, local
from typing import TYPE_CHECKING, Any, ClassVar, cast

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from bot.store.database import (
    COMMAND_SECONDS,
    StoreClock,
    StoreConfigError,
    Transaction,
    TransactionWork,
    WorkResult,
    set_timer,
    translate_errors,
)
from bot.store.model import StoreUnavailable
from bot.store.prepared import PreparedStatements, run_on_driver

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine


class WorkerLock:
    """A lock of the one process that works on a file; it ends with the process, however that ends."""

    def __init__(self, database: Path) -> None:
        self._descriptor = os.open(f"{database}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with ExitStack() as unlocked:
            unlocked.callback(self.release)
            self._take(database)
            unlocked.pop_all()

    def _take(self, database: Path) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as locked:
            holder = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise StoreConfigError(
                f"process {holder} already uses {database}; stop it first, or set DATABASE_URL "
                "to a PostgreSQL database, which several processes can share"
            ) from locked
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock, so that another process can work on the file."""
        os.close(self._descriptor)


CONNECT_SECONDS = 5
IDLE_TRANSACTION_SECONDS = 5
"""A transaction of ours never waits for anything but the database: one that idles is a process that
was stopped or cut off, and its locks hold up all others. Less than these wait for a command."""
TRANSACTION_SECONDS = 7
"""A process that is stopped between two messages of one statement is not idle to the server, but busy.
So a transaction ends after these seconds, whatever it waits for."""
TRANSACTION_TIMEOUT_VERSION = 17
"""The first version of PostgreSQL that supports it."""
MIGRATION_IDLE_SECONDS = 60
CLOSE_SECONDS = 1.0
"""How long running transactions may take when the store is closed."""
CONNECTION_TRUST_SECONDS = 0.1
"""A connection that idled longer is tested first: the server may have been restarted since."""
MIGRATION_LOCK = 0x77686574
"""The number of the lock: any, but the same for every instance."""


class PostgresDatabase:
    """A server that several instances share; its clock is the store's clock."""

    in_order: ClassVar[bool] = False
    """Transactions run side by side."""

    def __init__(self, url: str, clock: StoreClock | None) -> None:
        self._url = url
        self._clock = clock
        self._running: set[asyncio.Task[Any]] = set()
        self._engine = _postgres_engine(url, clock, COMMAND_SECONDS)
        self._reader = self._engine.execution_options(isolation_level="AUTOCOMMIT")

    async def write(self, work: TransactionWork[WorkResult], *, durable: bool = True) -> WorkResult:  # noqa: ARG002  to say so costs a round trip, which saves no more
        """Run the work and return its result once it is committed."""
        return await self._run(self._engine, work)

    async def read(self, work: TransactionWork[WorkResult]) -> WorkResult:
        """Run work that only reads; each statement sees what is committed, and waits for no writer."""
        return await self._run(self._reader, work)

    async def snapshot(self, work: TransactionWork[WorkResult]) -> WorkResult:
        """Run work that reads everything as it is at one moment, however long it takes."""
        return await self._run_patiently(work, "REPEATABLE READ")

    async def migrate(self, work: TransactionWork[None]) -> None:
        """Run the work in one instance at a time, however long it takes."""

        def alone(transaction: Transaction) -> None:
            transaction.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
            work(transaction)

        await self._run_patiently(alone, "READ COMMITTED")

    async def scrub(self, *, rewrite: bool = False) -> None:
        """Do nothing: the server's own vacuum removes old rows, and its settings decide about its log."""

    async def close(self) -> None:
        """Let running transactions end, then close every connection."""
        if self._running:
            await asyncio.wait(self._running, timeout=CLOSE_SECONDS)
        await self._engine.dispose()

    async def _run_patiently(self, work: TransactionWork[WorkResult], isolation: str) -> WorkResult:
        patient = _postgres_engine(self._url, self._clock, None)
        try:
            return await self._run(patient.execution_options(isolation_level=isolation), work)
        finally:
            await patient.dispose()

    async def _run(self, engine: AsyncEngine, work: TransactionWork[WorkResult]) -> WorkResult:
        # In a task of its own, as SQLite's are in a thread: a connection whose user is cancelled between
        # two messages can only be thrown away, and the pool logs that as an error, with a traceback.
        task = asyncio.create_task(self._transact(engine, work))
        self._running.add(task)
        task.add_done_callback(self._ended)
        await asyncio.wait({task})
        return task.result()

    async def _transact(self, engine: AsyncEngine, work: TransactionWork[WorkResult]) -> WorkResult:
        with translate_errors():
            async with engine.begin() as connection:
                return await connection.run_sync(lambda driver: work(Transaction(driver)))

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # the caller may be gone: nobody else looks at it


def _postgres_engine(url: str, clock: StoreClock | None, patience: float | None) -> AsyncEngine:
    try:
        import asyncpg
    except ModuleNotFoundError as missing:
        raise StoreConfigError(
            "DATABASE_URL is a PostgreSQL database, but its driver is not installed; "
            "run: pip install 'whetstone-bot[postgres]'"
        ) from missing
    # Not loaded for a file: it takes 200 ms and 6 MB.
    from sqlalchemy.ext.asyncio import create_async_engine

    idle = IDLE_TRANSACTION_SECONDS if patience else MIGRATION_IDLE_SECONDS
    at_most = {"idle_in_transaction_session_timeout": f"{idle}s"}

    async def connection() -> Any:
        # The driver reads the address itself, so that sslmode, host=/socket and the rest mean
        # what they mean everywhere.
        try:
            opened = await asyncpg.connect(
                url, timeout=CONNECT_SECONDS, command_timeout=patience, server_settings=at_most
            )
            if patience and opened.get_server_version().major >= TRANSACTION_TIMEOUT_VERSION:
                await opened.execute(f"SET transaction_timeout = '{TRANSACTION_SECONDS}s'")
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailable(str(error) or type(error).__name__) from error
        return opened

    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connection,
        pool_size=10,
        max_overflow=5,
        pool_timeout=COMMAND_SECONDS,
    )
    if clock:
        set_timer(engine.dialect, lambda: clock().timestamp())
    # Not `pool_pre_ping`: it asks the server every time, which costs three ways there and back.
    event.listen(engine.sync_engine, "checkin", _note_use)
    event.listen(engine.sync_engine, "checkout", _ping_after_idling)
    return engine


def _note_use(_connection: Any, entry: ConnectionPoolEntry) -> None:
    entry.info["used"] = time.monotonic()


def _ping_after_idling(connection: Any, entry: ConnectionPoolEntry, _fairy: Any) -> None:
    if time.monotonic() - entry.info.get("used", time.monotonic()) > CONNECTION_TRUST_SECONDS:
        try:
            connection.ping()
        except Exception as gone:
            raise InvalidatePoolError from gone  # and so are the others: each is reopened


READER_THREADS = 4
MAX_WRITES_TOGETHER = 64
"""Transactions that share one commit, at most."""

MAX_LOG_PAGES = 16_384
"""Pages of the write-ahead log, of 4 KB each, with which the writer itself copies them into the file."""
CHECKPOINT_SECONDS = 1.0
"""Seconds after a durable write until another thread copies the log into the file. SQLite itself does that in
the writer, after each thousand pages, while deliveries wait for their answer."""

# FULL survives a power cut; with group commit it costs nothing measurable.
# With secure_delete what is deleted is overwritten with zeros.
PRAGMAS = (
    "busy_timeout=5000",
    "synchronous=FULL",
    "foreign_keys=ON",
    "secure_delete=ON",
    f"wal_autocheckpoint={MAX_LOG_PAGES}",
)
BUSY_RETRY_SECONDS = 0.01
REWRITTEN = 256 * 1024 * 1024
"""Bytes of a file that is rewritten after an erasure; a larger one would hold up deliveries for too long."""
SCRUB_SECONDS = 1
"""How long emptying the log waits for readers; deliveries wait meanwhile."""

logger = logging.getLogger("whetstone.store")


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    work: TransactionWork[Any]
    answer: asyncio.Future[Any]
    durable: bool


@dataclass(frozen=True, slots=True)
class _Outcome:
    result: Any = None
    error: Exception | None = None


class SqliteDatabase:
    """A SQLite file: one thread writes, a few others read."""

    # A driver that hands every call to its thread and back costs some eighty switches a turn;
    # a whole transaction in a thread costs one.

    in_order: ClassVar[bool] = True
    """A write sees whatever was asked to be written before it, also if that is not committed yet."""

    def __init__(self, path: Path, clock: StoreClock | None) -> None:
        _keep_private(path)
        self._path = path
        self._clock = clock or partial(datetime.now, UTC)
        self._time = _TransactionTime()
        self._statements = PreparedStatements(self._time.get)
        # SQLite has room for one writer; that ours queue up here is cheaper than waiting for its lock.
        self._writer = _sqlite_engine(path, self._time.get, 1)
        self._writing = ThreadPoolExecutor(1, "store writer")
        self._waiting: deque[_Waiting] = deque()
        self._durable = True
        self._reader = _sqlite_engine(path, self._time.get, READER_THREADS)
        self._reading = ThreadPoolExecutor(READER_THREADS, "store reader")
        self._connections: dict[tuple[Engine, int], Connection] = {}
        self._checkpoint: asyncio.TimerHandle | None = None

    async def write(self, work: TransactionWork[WorkResult], *, durable: bool = True) -> WorkResult:
        """Run the work and return its result once it is committed, together with what else waits by then.

        What is not `durable` survives the end of the process, but a power cut may undo it: for what is done
        or looked up again in that case.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[WorkResult] = loop.create_future()
        self._waiting.append(_Waiting(work, answer, durable))
        self._writing.submit(self._commit_all, loop)
        result = await answer
        if durable and self._checkpoint is None:
            self._checkpoint = loop.call_later(CHECKPOINT_SECONDS, self._start_checkpoint)
        return result

    async def read(self, work: TransactionWork[WorkResult]) -> WorkResult:
        """Run work that only reads; each statement sees what is committed, and waits for no writer."""
        return await _in(self._reading, partial(self._run, self._reader, work))

    async def snapshot(self, work: TransactionWork[WorkResult]) -> WorkResult:
        """Run work that reads everything as it is at one moment; writers go on meanwhile."""

        def begin(transaction: Transaction) -> WorkResult:
            transaction.connection.exec_driver_sql("BEGIN")
            return work(transaction)

        return await self.read(begin)

    async def migrate(self, work: TransactionWork[None]) -> None:
        """Run the work in a writing transaction, which keeps every other writer out."""
        await self.write(work)

    async def scrub(self, *, rewrite: bool = False) -> None:
        """Empty the write-ahead log; `rewrite` also rewrites the file, unless it is large."""
        await _in(self._writing, partial(self._scrub, rewrite))

    async def close(self) -> None:
        """Finish running transactions, then close the file."""
        if self._checkpoint:
            self._checkpoint.cancel()
        for threads in (self._writing, self._reading):
            await asyncio.to_thread(threads.shutdown)
        for connection in self._connections.values():
            connection.close()
        for engine in (self._writer, self._reader):
            engine.dispose()

    def _commit_all(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run what waits in one transaction, and answer only once it is on disk: one sync for all."""
        batch: list[_Waiting] = []
        while self._waiting and len(batch) < MAX_WRITES_TOGETHER:
            batch.append(self._waiting.popleft())
        if not batch:
            return  # done with the one before
        self._durable = any(waiting.durable for waiting in batch)
        try:
            outcomes = self._run(self._writer, partial(self._run_together, batch))
        except _OneFailed:
            # It rolls back what all did, so each gets a transaction of its own. That is rare; a
            # savepoint for each, all the time, costs as much as what most of them do.
            outcomes = [self._alone(waiting.work) for waiting in batch]
        except Exception as error:  # noqa: BLE001  nothing was committed, and each has to know
            outcomes = [_Outcome(error=error)] * len(batch)
        loop.call_soon_threadsafe(_answer_all, batch, outcomes)

    def _run_together(self, batch: list[_Waiting], transaction: Transaction) -> list[_Outcome]:
        outcomes: list[_Outcome] = []
        try:
            while len(outcomes) < len(batch):
                outcomes.append(_Outcome(batch[len(outcomes)].work(transaction)))
                self._let_join(batch)
        except Exception as error:
            raise _OneFailed from error
        return outcomes

    def _let_join(self, batch: list[_Waiting]) -> None:
        """Take in what came while the batch ran, unless it needs the disk and this commit does not."""
        while self._waiting and len(batch) < MAX_WRITES_TOGETHER:
            if self._waiting[0].durable and not self._durable:
                return
            batch.append(self._waiting.popleft())

    def _begin(self, connection: Connection, driver: DriverConnection) -> None:
        # Only the writer's thread comes here. NORMAL leaves the log in the hands of the system, and the next
        # FULL one writes it to the disk with all that came before.
        if connection.info.get("durable", True) != self._durable:
            run_on_driver(driver, f"PRAGMA synchronous={'FULL' if self._durable else 'NORMAL'}")
            connection.info["durable"] = self._durable
        run_on_driver(driver, "BEGIN IMMEDIATE")

    def _alone(self, work: TransactionWork[Any]) -> _Outcome:
        try:
            return _Outcome(self._run(self._writer, work))
        except Exception as error:  # noqa: BLE001  the caller gets it
            return _Outcome(error=error)

    def _start_checkpoint(self) -> None:
        self._checkpoint = None
        with contextlib.suppress(RuntimeError):  # closed meanwhile
            self._reading.submit(self._copy_log)

    def _copy_log(self) -> None:
        # It waits for nobody, and nobody for it; what it leaves is copied the next time.
        with contextlib.suppress(DriverError):
            _driver_of(self._connection(self._reader)).execute("PRAGMA wal_checkpoint(PASSIVE)").close()

    def _scrub(self, rewrite: bool) -> None:  # noqa: FBT001  called by `partial` alone
        connection = self._connection(self._writer)
        try:
            cursor = _driver_of(connection).cursor()
            cursor.execute(f"PRAGMA busy_timeout={SCRUB_SECONDS * 1000}")
            # Copies of rows that moved to another page are not overwritten by `secure_delete`.
            if rewrite and self._path.stat().st_size <= REWRITTEN:
                cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if any(is_busy for is_busy, *_ in cursor.fetchall()):
                logger.info("the store's write-ahead log is in use; the next hourly sweep empties it")
            cursor.execute(f"PRAGMA {PRAGMAS[0]}")
        except DriverError as error:
            # What was deleted is gone from the tables; the next sweep tries again.
            logger.warning("can't overwrite deleted content in the store's file: %s", error)
            connection.invalidate()

    def _connection(self, engine: Engine) -> Connection:
        """The connection of this thread; to check one out each time takes as long as two statements."""
        key = (engine, get_ident())
        connection = self._connections.get(key)
        if connection is None:
            connection = self._connections[key] = engine.connect()
        return connection

    def _run(self, engine: Engine, work: TransactionWork[WorkResult]) -> WorkResult:
        # Begun and ended on the driver: SQLAlchemy's own way takes as long as five statements. It takes part
        # only if one of its own statements has begun something there.
        with translate_errors():
            connection = self._connection(engine)
            driver = _driver_of(connection)
            self._time.seconds = self._clock().timestamp()
            try:
                if engine is self._writer:
                    self._begin(connection, driver)
                run_prepared = partial(self._statements.execute, driver)
                result = work(Transaction(connection, run_prepared))
                if driver.in_transaction:
                    run_on_driver(driver, "COMMIT")
            finally:
                if driver.in_transaction or connection.in_transaction():
                    connection.rollback()
                    driver.rollback()
            return result


Database = SqliteDatabase | PostgresDatabase
"""Runs work in transactions without blocking the event loop."""


class _TransactionTime(local):
    """The time at which this thread's transaction began."""

    seconds = 0.0

    def get(self) -> float:
        return self.seconds


class _OneFailed(Exception):
    """One of several that share a transaction failed."""


def _answer_all(batch: list[_Waiting], outcomes: list[_Outcome]) -> None:
    for waiting, outcome in zip(batch, outcomes, strict=True):
        if waiting.answer.done():
            continue  # the caller is gone
        if outcome.error is not None:
            waiting.answer.set_exception(outcome.error)
        else:
            waiting.answer.set_result(outcome.result)


async def _in(threads: ThreadPoolExecutor, job: partial[WorkResult]) -> WorkResult:
    return await asyncio.get_running_loop().run_in_executor(threads, job)


def _driver_of(connection: Connection) -> DriverConnection:
    return cast("DriverConnection", connection.connection.driver_connection)


def _keep_private(path: Path) -> None:
    """Create a file that only its owner can read; `StoreConfigError` for one that every user can."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Only a new file: closing one that this process uses already would drop its locks.
    with translate_errors(), contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    # SQLite gives the files beside it the mode of this one.
    for file in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))):
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_mode & stat.S_IRWXO:
                raise StoreConfigError(
                    f"every user of this machine can read {file}; run: chmod 600 {shlex.quote(str(path))}*"
                )


def _sqlite_engine(path: Path, timer: Callable[[], float], connections: int) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}", pool_size=connections, max_overflow=0, pool_timeout=COMMAND_SECONDS
    )
    set_timer(engine.dialect, timer)

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
        time.sleep(BUSY_RETRY_SECONDS)  # in a thread of the store's; nothing tells when the other is done
