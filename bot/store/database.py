"""Transactions on SQLite and PostgreSQL behind one interface, and the store's address."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Double,
    Executable,
    Table,
    bindparam,
    case,
    cast,
    func,
    literal,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from bot.store.model import StoreUnavailable


class StoreConfigError(Exception):
    """The store can't be opened like this; the message tells the operator what to change."""


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A file on this machine, for one worker process."""

    path: Path

    def __str__(self) -> str:
        """What the operator reads at the start."""
        return f"SQLite file {self.path}"


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A server that several instances share."""

    dsn: str

    def __str__(self) -> str:
        """The place without the password."""
        parts = urlsplit(self.dsn)
        return f"PostgreSQL database {parts.path.lstrip('/')} at {parts.hostname or 'a local socket'}"


StoreAddress = SqliteFile | PostgresServer


def parse_store_url(url: str) -> StoreAddress:
    """The database that the URL names; `StoreRefused` where it names none that we know."""
    scheme, separator, rest = url.partition("://")
    if separator and scheme in {"postgresql", "postgres"}:
        return PostgresServer(f"postgresql://{rest}")
    if separator and scheme == "sqlite" and rest.startswith("/") and rest[1:]:
        return SqliteFile(Path(rest[1:]).absolute())
    raise StoreConfigError(
        "DATABASE_URL names no known database; use sqlite:///relative.db, "
        "sqlite:////absolute.db or postgresql://user:password@host/name"
    )


StoreClock = Callable[[], datetime]
WorkResult = TypeVar("WorkResult")

# Machines' clocks differ, so the shared database tells the time. It stands still within a
# statement, so that an index on a time can be used.
_ITS_OWN_TIME = cast(func.extract("epoch", func.statement_timestamp()), Double)
_TOLD_TIME = bindparam("now", type_=Double)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the two databases say differently.

    Building a statement takes longer than most of ours take to run. So one that is needed often is
    built once: by a `@cache`d function of these words, with a `bindparam` for whatever varies.
    """

    shared: bool
    """Several machines may write; else this file is one machine's."""
    passed_time: bool
    """The time is told to each statement, by `Transaction.told`; else the database knows it."""

    @property
    def now(self) -> ColumnElement[float]:
        """The time, in seconds since the epoch."""
        return _TOLD_TIME if self.passed_time else _ITS_OWN_TIME

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """An insert that can say what happens on a conflict."""
        return insert_into(table, shared=self.shared)


@dataclass(frozen=True, slots=True)
class Transaction:
    """All or nothing: statements on one connection, with the database's own time."""

    connection: Connection
    clock: StoreClock | None

    @property
    def shared(self) -> bool:
        """Several machines may write; else this file is one machine's."""
        return self.connection.dialect.name == "postgresql"

    @property
    def words(self) -> Dialect:
        """For a statement that is built once."""
        return Dialect(self.shared, passed_time=self.clock is not None)

    @property
    def told(self) -> dict[str, float]:
        """The time, as a parameter of a statement that was built once with `Words.now`."""
        return {} if self.clock is None else {"now": self.clock().timestamp()}

    @property
    def now(self) -> ColumnElement[float]:
        """The time, in seconds since the epoch, for a statement that is built where it is used."""
        return _ITS_OWN_TIME if self.clock is None else literal(self.clock().timestamp(), Double)

    def execute(
        self, statement: Executable, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> CursorResult[Any]:
        """What the database answers."""
        return self.connection.execute(statement, rows)

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """An insert that can say what happens on a conflict."""
        return insert_into(table, shared=self.shared)


TransactionWork = Callable[[Transaction], WorkResult]
"""What is to be done in one transaction. It never waits for anything but the database, and can be
done again from the start where the transaction was taken back."""


def insert_into(table: Table, *, shared: bool) -> postgresql.Insert | sqlite.Insert:
    """An insert that can say what happens on a conflict, in the words of the database."""
    return postgresql.insert(table) if shared else sqlite.insert(table)


def greater_time(one: ColumnElement[float], other: ColumnElement[float]) -> ColumnElement[float]:
    """The greater of two times, in words that both databases know."""
    return case((one > other, one), else_=other)


def earlier(one: ColumnElement[float], other: ColumnElement[float]) -> ColumnElement[float]:
    """The lesser of two times."""
    return case((one < other, one), else_=other)


def to_datetime(seconds: float) -> datetime:
    """A column's number as a time."""
    return datetime.fromtimestamp(seconds, UTC)


def load_server_version(transaction: Transaction) -> int | None:
    """Return the major version of the PostgreSQL server; None on SQLite."""
    version = transaction.connection.dialect.server_version_info
    return int(version[0]) if version and transaction.shared else None


COMMAND_SECONDS = 8
"""GitHub waits ten seconds for an answer: a store that needs longer is away."""


class Database(Protocol):
    """Runs work in transactions without blocking the event loop."""

    async def write(self, work: TransactionWork[WorkResult]) -> WorkResult:
        """Its result, once it is committed."""
        ...

    async def read(self, work: TransactionWork[WorkResult]) -> WorkResult:
        """Its result; each statement sees what is committed, and waits for no writer."""
        ...

    async def migrate(self, work: TransactionWork[None]) -> None:
        """Done while nobody else does it, however long it takes."""
        ...

    async def scrub(self, *, rewrite: bool = False) -> None:
        """Leave nothing of what was deleted in the database's files, as far as that is ours to do."""
        ...

    async def close(self) -> None:
        """Give every connection back."""
        ...


@contextmanager
def translate_errors() -> Iterator[None]:
    """`StoreUnavailable` for whatever waiting mends; our own mistakes stay what they are."""
    try:
        yield
    except DBAPIError as error:
        if _is_programming_error(error):
            raise
        raise StoreUnavailable(str(error.orig)) from error
    except (OSError, PoolTimeout) as error:  # a time-out is an OSError, too
        raise StoreUnavailable(str(error) or type(error).__name__) from error


_OURS = frozenset({"22", "23", "42", "54"})
"""Classes of errors: a value, a constraint, a statement, a limit of the database itself."""


def _is_programming_error(error: DBAPIError) -> bool:
    """A value or a statement that the database will never take."""
    state = getattr(error.orig, "sqlstate", None) or ""
    return isinstance(error, IntegrityError | DataError | ProgrammingError) or state[:2] in _OURS
