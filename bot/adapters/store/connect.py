"""How is each database opened?"""

from __future__ import annotations

from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.adapters.store.address import Address, PostgresServer, SqliteFile, StoreRefused
from bot.adapters.store.database import Clock, Database
from bot.ports import StoreUnavailable

CONNECT_SECONDS = 5
COMMAND_SECONDS = 8
"""GitHub waits ten seconds for an answer: a store that needs longer is away."""


def connect(where: Address, clock: Clock | None, patience: float | None = COMMAND_SECONDS) -> Database:
    """The database at this address; nothing is opened before its first use."""
    if isinstance(where, PostgresServer):
        engine = _postgres(where, patience)
        return Database(engine, engine.execution_options(isolation_level="AUTOCOMMIT"), clock)
    where.path.parent.mkdir(parents=True, exist_ok=True)
    # SQLite has room for one writer; that ours queue up here is cheaper than waiting for its lock.
    writer = _sqlite(where, connections=1)
    event.listen(
        writer.sync_engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE")
    )
    return Database(writer, _sqlite(where, connections=4), clock)


def _sqlite(where: SqliteFile, connections: int) -> AsyncEngine:
    engine = create_async_engine(
        f"sqlite+aiosqlite:///{where.path}",
        pool_size=connections,
        max_overflow=0,
        pool_timeout=COMMAND_SECONDS,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # else the driver opens transactions as it sees fit
        cursor = connection.cursor()
        # FULL survives a power cut; with group commit it costs nothing measurable.
        for pragma in ("busy_timeout=5000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def _postgres(where: PostgresServer, patience: float | None) -> AsyncEngine:
    try:
        import asyncpg
    except ModuleNotFoundError as missing:
        raise StoreRefused(
            "DATABASE_URL names PostgreSQL; its driver is missing: pip install 'whetstone-bot[postgres]'"
        ) from missing

    async def connection() -> Any:
        # The driver reads the address itself, so that sslmode, host=/socket and the rest mean
        # what they mean everywhere.
        try:
            return await asyncpg.connect(where.dsn, timeout=CONNECT_SECONDS, command_timeout=patience)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailable(str(error) or type(error).__name__) from error

    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connection,
        pool_size=10,
        max_overflow=5,
        pool_timeout=COMMAND_SECONDS,
        pool_pre_ping=True,  # the server may have been restarted since
    )
