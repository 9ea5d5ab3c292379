"""Run the statements that are built once on SQLite's own driver, each compiled once.

For a statement that it has compiled already, SQLAlchemy takes five times as long as SQLite: it finds the text
by the statement's structure, and makes a context and a result for it. A turn runs some thirty statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection as DriverConnection
from sqlite3 import Error as DriverError
from typing import Any, cast
from weakref import WeakKeyDictionary

from sqlalchemy import Boolean, Dialect, Executable
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import IteratorResult, Result
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

from bot.store.database import set_timer

MAX_LISTED = 20
"""Values in the lists of a statement: each number of them makes another text."""

Parameters = Mapping[str, Any]
_LISTS = (tuple, list, set, frozenset)


@dataclass(frozen=True, slots=True)
class _Prepared:
    text: str
    constants: Parameters
    """The values that are part of the statement."""
    lists: Mapping[str, Sequence[str]]
    """For each list of values, the names of its members in the text."""
    columns: SimpleResultMetaData
    """Empty where it returns no rows."""
    booleans: tuple[int, ...]
    """The columns that SQLite, which has no such type, returns as a number."""
    timer: Callable[[], float]

    @classmethod
    def of(
        cls, statement: Executable, row: Parameters, dialect: Dialect, timer: Callable[[], float]
    ) -> _Prepared | None:
        """Compile a statement for these parameters; None if they are left to SQLAlchemy."""
        compiled = cast("Any", statement).compile(dialect=dialect, column_keys=list(row))
        if not isinstance(compiled, SQLCompiler) or compiled.insert_prefetch or compiled.update_prefetch:
            return None
        state = compiled.construct_expanded_state(row)
        lists = state.parameter_expansion
        if (
            any(type(row.get(name)) not in _LISTS for name in lists)
            or sum(map(len, lists.values())) > MAX_LISTED
        ):
            return None
        given = {*row, *(name for names in lists.values() for name in names)}
        columns = dict(getattr(statement, "exported_columns", {}).items())
        return cls(
            state.statement,
            {name: value for name, value in state.parameters.items() if name not in given},
            lists,
            SimpleResultMetaData(list(columns)),
            tuple(place for place, column in enumerate(columns.values()) if isinstance(column.type, Boolean)),
            timer,
        )

    def run(self, driver: DriverConnection, rows: Sequence[Parameters]) -> Result[Any]:
        found: list[Sequence[Any]] = []
        if self.columns.keys:
            for row in rows:
                found += driver.execute(self.text, self._fill(row)).fetchall()
        elif len(rows) == 1:
            driver.execute(self.text, self._fill(rows[0])).close()
        else:
            driver.executemany(self.text, map(self._fill, rows)).close()
        if self.booleans:
            found = [self._with_booleans(row) for row in found]
        return IteratorResult(self.columns, iter(found))

    def _fill(self, row: Parameters) -> Parameters:
        filled = {**self.constants, **row}
        if "now" in self.constants:
            filled["now"] = self.timer()
        for name, parts in self.lists.items():
            filled.update(zip(parts, filled.pop(name), strict=True))
        return filled

    def _with_booleans(self, row: Sequence[Any]) -> Sequence[Any]:
        return [
            bool(value) if place in self.booleans and value is not None else value
            for place, value in enumerate(row)
        ]


class PreparedStatements:
    """The compiled statements of a SQLite file; one that comes a second time is one that was built once."""

    def __init__(self, timer: Callable[[], float]) -> None:
        # By name: sqlite3 takes a mapping, and ignores what the text does not name.
        self._dialect = sqlite.dialect(paramstyle="named")
        self._timer = timer
        set_timer(self._dialect, timer)
        self._known: WeakKeyDictionary[Executable, dict[object, _Prepared | None]] = WeakKeyDictionary()

    def execute(
        self, driver: DriverConnection, statement: Executable, rows: Sequence[Parameters]
    ) -> Result[Any] | None:
        """Run a statement with each of these parameters; None if that is left to SQLAlchemy."""
        variants = self._known.get(statement)
        if variants is None:
            self._known[statement] = {}
            return None
        row = rows[0]
        shape = (*row, *(len(value) for value in row.values() if type(value) in _LISTS))
        if shape not in variants:
            variants[shape] = _Prepared.of(statement, row, self._dialect, self._timer)
        prepared = variants[shape]
        if prepared is None:
            return None
        try:
            return prepared.run(driver, rows)
        except DriverError as error:
            raise _translate(prepared.text, error) from error


def run_on_driver(driver: DriverConnection, command: str) -> None:
    """Run a command that returns nothing."""
    try:
        driver.execute(command).close()
    except DriverError as error:
        raise _translate(command, error) from error


def _translate(text: str, error: DriverError) -> Exception:
    """Return the error as SQLAlchemy raises it."""
    return cast("Exception", DBAPIError.instance(text, None, error, DriverError))
