"""Transactions on SQLite and PostgreSQL behind one interface, and the store's address."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Double,
    Executable,
    Result,
    Table,
    bindparam,
    case,
    cast,
    func,
    or_,
)
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.dialects.sqlite.dml import OnConflictClause
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from bot.store.model import StoreUnavailable


class StoreConfigError(Exception):
    """The store can't be opened with these settings; the message tells the operator what to change."""


StoreAddress = Path | str
"""A SQLite file on this machine, for one worker process; or the URL of a PostgreSQL server, for several."""


def parse_store_url(url: str) -> StoreAddress:
    """Parse a database URL; `StoreConfigError` where it names no supported database."""
    scheme, separator, rest = url.partition("://")
    if separator and scheme in {"postgresql", "postgres"}:
        return f"postgresql://{rest}"
    if separator and scheme == "sqlite" and rest.startswith("/") and rest[1:]:
        return Path(rest[1:]).absolute()
    raise StoreConfigError(
        "DATABASE_URL is not a supported database; use sqlite:///relative.db, "
        "sqlite:////absolute.db or postgresql://user:password@host/name"
    )


StoreClock = Callable[[], datetime]
WorkResult = TypeVar("WorkResult")


class _Now(ColumnElement[float]):
    type = Double()
    inherit_cache = True
    _traverse_internals = []  # noqa: RUF012  without them, no statement with the time is cached


NOW: ColumnElement[float] = _Now()
"""The time, in seconds since the epoch. It stands still within a statement, so that an index can be used."""

# Machines' clocks differ, so a shared database tells the time.
_DATABASE_TIME = cast(func.extract("epoch", func.statement_timestamp()), Double)


@compiles(_Now)
def _compile_now(_now: _Now, compiler: SQLCompiler, **options: Any) -> str:
    timer = getattr(compiler.dialect, "store_timer", None)
    time = bindparam("now", type_=Double, callable_=timer) if timer else _DATABASE_TIME
    return compiler.process(time, **options)


def set_timer(dialect: Dialect, timer: Callable[[], float]) -> None:
    """Have the statements of a dialect get the time from here, not from the database."""
    dialect.store_timer = timer  # type: ignore[attr-defined]


# What SQLite's ON CONFLICT lacks for PostgreSQL's compiler. One insert for both: PostgreSQL's own takes 90 ms
# and 3 MB to load, even if the store is a file.
OnConflictClause.constraint_target = None  # type: ignore[attr-defined]


@cache
def upsert(table: Table) -> Insert:
    """Build an insert that replaces a row with the same key; one that says the same is not written again."""
    statement = insert(table)
    newer = {column.name: statement.excluded[column.name] for column in table.c if not column.primary_key}
    changed = or_(*(table.c[name].is_distinct_from(value) for name, value in newer.items()))
    return statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=newer, where=changed)


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction: statements on one connection."""

    connection: Connection
    run_prepared: Callable[[Executable, Sequence[Mapping[str, Any]]], Result[Any] | None] | None = None
    """Runs a statement that was built once; returns None for any other."""

    @property
    def shared(self) -> bool:
        """Several machines may write; else this file is one machine's."""
        return self.connection.dialect.name == "postgresql"

    def execute(
        self, statement: Executable, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> Result[Any]:
        """Execute a statement and return its result.

        Building a statement takes longer than most of ours take to run. So one that is needed often is built
        once, with a `bindparam` for whatever varies.
        """
        if self.run_prepared:
            several = (rows,) if isinstance(rows, Mapping) else rows or ({},)
            if (result := self.run_prepared(statement, several)) is not None:
                return result
        return self.connection.execute(statement, rows)

    def change(self, statement: Executable) -> int:
        """Execute a statement that changes rows; returns how many."""
        return self.connection.execute(statement).rowcount


TransactionWork = Callable[[Transaction], WorkResult]
"""What runs in one transaction. It never waits for anything but the database, and can be run again
from the start where the transaction was rolled back."""


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
