"""How do both databases look the same to a statement?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

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

Clock = Callable[[], datetime]
Result = TypeVar("Result")

# Machines' clocks differ, so the shared database tells the time. It stands still within a
# statement, so that an index on a time can be used.
_ITS_OWN_TIME = cast(func.extract("epoch", func.statement_timestamp()), Double)
_TOLD_TIME = bindparam("now", type_=Double)


@dataclass(frozen=True, slots=True)
class Words:
    """What the two databases say differently.

    Building a statement takes longer than most of ours take to run. So one that is needed often is
    built once: by a `@cache`d function of these words, with a `bindparam` for whatever varies.
    """

    shared: bool
    """Several machines may write; else this file is one machine's."""
    told_time: bool
    """The time is told to each statement, by `Transaction.told`; else the database knows it."""

    @property
    def now(self) -> ColumnElement[float]:
        """The time, in seconds since the epoch."""
        return _TOLD_TIME if self.told_time else _ITS_OWN_TIME

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """An insert that can say what happens on a conflict."""
        return insert_into(table, shared=self.shared)


@dataclass(frozen=True, slots=True)
class Transaction:
    """All or nothing: statements on one connection, with the database's own time."""

    connection: Connection
    clock: Clock | None

    @property
    def shared(self) -> bool:
        """Several machines may write; else this file is one machine's."""
        return self.connection.dialect.name == "postgresql"

    @property
    def words(self) -> Words:
        """For a statement that is built once."""
        return Words(self.shared, told_time=self.clock is not None)

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


Work = Callable[[Transaction], Result]
"""What is to be done in one transaction. It never waits for anything but the database, and can be
done again from the start where the transaction was taken back."""


def insert_into(table: Table, *, shared: bool) -> postgresql.Insert | sqlite.Insert:
    """An insert that can say what happens on a conflict, in the words of the database."""
    return postgresql.insert(table) if shared else sqlite.insert(table)


def later(one: ColumnElement[float], other: ColumnElement[float]) -> ColumnElement[float]:
    """The greater of two times, in words that both databases know."""
    return case((one > other, one), else_=other)


def earlier(one: ColumnElement[float], other: ColumnElement[float]) -> ColumnElement[float]:
    """The lesser of two times."""
    return case((one < other, one), else_=other)


def moment(seconds: float) -> datetime:
    """A column's number as a time."""
    return datetime.fromtimestamp(seconds, UTC)
