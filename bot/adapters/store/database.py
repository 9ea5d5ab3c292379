"""How do both databases look the same: transactions, one clock, one kind of error?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Double, Table, case, cast, func, literal
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.ports import StoreUnavailable

Clock = Callable[[], datetime]


class Database:
    """Transactions on a database, whichever it is; time is the database's own."""

    def __init__(self, writer: AsyncEngine, reader: AsyncEngine, clock: Clock | None) -> None:
        self._writer = writer
        self._reader = reader
        self.shared = writer.dialect.name == "postgresql"
        """Several machines may write; else this file is one machine's."""
        # Machines' clocks differ, so a shared database tells the time; a file has only our own.
        self._clock = clock or (None if self.shared else lambda: datetime.now(UTC))

    def write(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """One transaction that may write, committed at the end of the block."""
        return _transaction(self._writer)

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection to read with: each statement sees what is committed, and waits for no writer."""
        return _transaction(self._reader)

    @property
    def now(self) -> ColumnElement[float]:
        """The time, in seconds since the epoch."""
        if self._clock is None:
            # Stable within a statement, so that an index on a time can be used.
            return cast(func.extract("epoch", func.statement_timestamp()), Double)
        return literal(self._clock().timestamp(), Double)

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """An insert that can say what happens on a conflict."""
        return insert_into(table, shared=self.shared)

    async def close(self) -> None:
        """Give every connection back."""
        await self._writer.dispose()
        await self._reader.dispose()


def insert_into(table: Table, *, shared: bool) -> postgresql.Insert | sqlite.Insert:
    """An insert that can say what happens on a conflict, in the words of the database."""
    return postgresql.insert(table) if shared else sqlite.insert(table)


def later(one: ColumnElement[float], other: ColumnElement[float]) -> ColumnElement[float]:
    """The greater of two times, in words that both databases know."""
    return case((one > other, one), else_=other)


def moment(seconds: float) -> datetime:
    """A column's number as a time."""
    return datetime.fromtimestamp(seconds, UTC)


@asynccontextmanager
async def _transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    try:
        async with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        if _is_our_mistake(error):
            raise
        raise StoreUnavailable(str(error.orig)) from error
    except (OSError, PoolTimeout) as error:  # a time-out is an OSError, too
        raise StoreUnavailable(str(error) or type(error).__name__) from error


def _is_our_mistake(error: DBAPIError) -> bool:
    """A value or a statement that no waiting mends; all else is the database being away."""
    state = getattr(error.orig, "sqlstate", None) or ""
    return isinstance(error, IntegrityError | DataError | ProgrammingError) or state[:2] in {"22", "23", "42"}
