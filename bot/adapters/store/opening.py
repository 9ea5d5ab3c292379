"""How is the store opened and closed again?"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from bot.adapters.store.address import Address, PostgresServer, SqliteFile, address
from bot.adapters.store.database import Database
from bot.adapters.store.inbox import GroupCommit
from bot.adapters.store.lanes import LEASE
from bot.adapters.store.lock import WorkerLock
from bot.adapters.store.migration import migrate
from bot.adapters.store.store import SqlStore
from bot.adapters.store.transaction import Clock
from bot.adapters.store.wakes import Wakes
from bot.ports import StoreUnavailable


@asynccontextmanager
async def open_store(
    url: str,
    *,
    worker: bool,
    clock: Clock | None = None,
    instance: str | None = None,
    lease: float = LEASE,
) -> AsyncIterator[SqlStore]:
    """The store at this address, migrated; a worker's may claim, every other reads and accepts."""
    where = address(url)
    async with AsyncExitStack() as stack:
        database = connect(where, clock)
        stack.push_async_callback(database.close)
        if worker and isinstance(where, SqliteFile):
            stack.callback(WorkerLock(where.path).release)
        await migrate(database)
        wakes = Wakes()
        stack.push_async_callback(wakes.close)
        inbox = GroupCommit(database, wakes)
        stack.push_async_callback(inbox.close)
        store = SqlStore(database, inbox, wakes, instance or _name(), lease)
        if worker:
            await store.start(alone=isinstance(where, SqliteFile))
            stack.push_async_callback(_left, store)
            if isinstance(where, PostgresServer):
                await wakes.listen(where.dsn)
        yield store


async def _left(store: SqlStore) -> None:
    with suppress(StoreUnavailable):  # then the others notice after a while
        await store.leave()


def connect(where: Address, clock: Clock | None) -> Database:
    """The database at this address; nothing is opened before its first use."""
    if isinstance(where, PostgresServer):
        from bot.adapters.store.postgres import PostgresDatabase

        return PostgresDatabase(where, clock)
    from bot.adapters.store.sqlite import SqliteDatabase

    return SqliteDatabase(where.path, clock)


def _name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
