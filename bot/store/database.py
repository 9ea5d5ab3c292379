"""Transactions on SQLite and PostgreSQL behind one interface, and the store's address."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar
from urllib.parse import urlsplit

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    Executable,
    Result,
    Table,
    bindparam,
    case,
    cast,
    func,
    literal,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from bot.store.model import StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql


class StoreConfigError(Exception):
    """The store can't be opened with these settings; the message tells the operator what to change."""


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A file on this machine, for one worker process."""

    path: Path

    def __str__(self) -> str:
        """Describe it for the operator."""
        return f"SQLite file {self.path}"


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A server that several instances share."""

    dsn: str

    def __str__(self) -> str:
        """Describe it for the operator, without the password."""
        parts = urlsplit(self.dsn)
        return f"PostgreSQL database {parts.path.lstrip('/')} at {parts.hostname or 'a local socket'}"


StoreAddress = SqliteFile | PostgresServer


def parse_store_url(url: str) -> StoreAddress:
    """Parse a database URL; `StoreConfigError` where it names no supported database."""
    scheme, separator, rest = url.partition("://")
    if separator and scheme in {"postgresql", "postgres"}:
        return PostgresServer(f"postgresql://{rest}")
    if separator and scheme == "sqlite" and rest.startswith("/") and rest[1:]:
        return SqliteFile(Path(rest[1:]).absolute())
    raise StoreConfigError(
        "DATABASE_URL is not a supported database; use sqlite:///relative.db, "
        "sqlite:////absolute.db or postgresql://user:password@host/name"
    )


StoreClock = Callable[[], datetime]
WorkResult = TypeVar("WorkResult")

# Machines' clocks differ, so the shared database tells the time. It stands still within a
# statement, so that an index on a time can be used.
_DATABASE_TIME = cast(func.extract("epoch", func.statement_timestamp()), Double)
_PASSED_TIME = bindparam("now", type_=Double)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between the two databases.

    Building a statement takes longer than most of ours take to run. So one that is needed often is
    built once: by a `@cache`d function of the dialect, with a `bindparam` for whatever varies.
    """

    shared: bool
    """Several machines may write; else this file is one machine's."""
    passed_time: bool
    """The time is passed to each statement, by `Transaction.passed_time`; else the database has it."""

    @property
    def now(self) -> ColumnElement[float]:
        """The time, in seconds since the epoch."""
        return _PASSED_TIME if self.passed_time else _DATABASE_TIME

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """Build an insert that supports ON CONFLICT."""
        return insert_into(table, shared=self.shared)


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction: statements on one connection, with the database's own time."""

    connection: Connection
    clock: StoreClock | None
    run_prepared: Callable[[Executable, Sequence[Mapping[str, Any]]], Result[Any] | None] | None = None
    """Runs a statement that was built once; returns None for any other."""

    @property
    def shared(self) -> bool:
        """Several machines may write; else this file is one machine's."""
        return self.connection.dialect.name == "postgresql"

    @property
    def dialect(self) -> Dialect:
        """For a statement that is built once."""
        return Dialect(self.shared, passed_time=self.clock is not None)

    @property
    def passed_time(self) -> dict[str, float]:
        """The time, as a parameter of a statement that was built once with `Dialect.now`."""
        return {} if self.clock is None else {"now": self.clock().timestamp()}

    @property
    def now(self) -> ColumnElement[float]:
        """The time, in seconds since the epoch, for a statement that is built where it is used."""
        return _DATABASE_TIME if self.clock is None else literal(self.clock().timestamp(), Double)

    def execute(
        self, statement: Executable, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> Result[Any]:
        """Execute a statement and return its result."""
        if self.run_prepared:
            several = (rows,) if isinstance(rows, Mapping) else rows or ({},)
            if (result := self.run_prepared(statement, several)) is not None:
                return result
        return self.connection.execute(statement, rows)

    def change(self, statement: Executable) -> int:
        """Execute a statement that changes rows; returns how many."""
        return self.connection.execute(statement).rowcount

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """Build an insert that supports ON CONFLICT."""
        return insert_into(table, shared=self.shared)


TransactionWork = Callable[[Transaction], WorkResult]
"""What runs in one transaction. It never waits for anything but the database, and can be run again
from the start where the transaction was rolled back."""


def insert_into(table: Table, *, shared: bool) -> postgresql.Insert | sqlite.Insert:
    """Build an insert that supports ON CONFLICT, for this database."""
    if not shared:
        return sqlite.insert(table)
    # Not loaded for a file: it takes 90 ms and 3 MB.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def greater_time(one: ColumnElement[float], other: ColumnElement[float]) -> ColumnElement[float]:
    """The greater of two times, in SQL that both databases know."""
    return case((one > other, one), else_=other)


def earlier(one: ColumnElement[float], other: ColumnElement[float]) -> ColumnElement[float]:
    """The lesser of two times."""
    return case((one < other, one), else_=other)


def to_datetime(seconds: float) -> datetime:
    """Convert a column's seconds to a time."""
    return datetime.fromtimestamp(seconds, UTC)


def load_server_version(transaction: Transaction) -> int | None:
    """Return the major version of the PostgreSQL server; None on SQLite."""
    version = transaction.connection.dialect.server_version_info
    return int(version[0]) if version and transaction.shared else None


COMMAND_SECONDS = 8
"""GitHub waits ten seconds for an answer: a store that needs longer is away."""


class Database(Protocol):
    """Runs work in transactions without blocking the event loop."""

    in_order: ClassVar[bool]
    """Whether a write sees what was asked to be written before it, also if that is not committed yet."""

    async def write(self, work: TransactionWork[WorkResult], *, durable: bool = True) -> WorkResult:
        """Run the work and return its result once it is committed.

        What is not `durable` survives the end of the process, but a power cut may undo it: for what is done
        or looked up again in that case.
        """
        ...

    async def read(self, work: TransactionWork[WorkResult]) -> WorkResult:
        """Run work that only reads; each statement sees what is committed, and waits for no writer."""
        ...

    async def snapshot(self, work: TransactionWork[WorkResult]) -> WorkResult:
        """Run work that reads everything as it is at one moment, however long it takes."""
        ...

    async def migrate(self, work: TransactionWork[None]) -> None:
        """Run the work while no other instance migrates, however long it takes."""
        ...

    async def scrub(self, *, rewrite: bool = False) -> None:
        """Leave nothing of what was deleted in the database's files, as far as the bot controls them."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise `StoreUnavailable` for errors that go away by waiting; programming errors stay as they are."""
    try:
        yield
    except DBAPIError as error:
        if _is_programming_error(error):
            raise
        raise StoreUnavailable(str(error.orig)) from error
    except (OSError, PoolTimeout) as error:  # a time-out is an OSError, too
        raise StoreUnavailable(str(error) or type(error).__name__) from error


_PERMANENT_ERRORS = frozenset({"22", "23", "42", "54"})
"""Classes of errors: a value, a constraint, a statement, a limit of the database itself."""


def _is_programming_error(error: DBAPIError) -> bool:
    """Whether the database will never accept this value or statement."""
    state = getattr(error.orig, "sqlstate", None) or ""
    return isinstance(error, IntegrityError | DataError | ProgrammingError) or state[:2] in _PERMANENT_ERRORS
