"""Write every table to a file that either kind of database can be restored from."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import msgspec
from sqlalchemy import LargeBinary, MetaData, Table, insert, select, text, update
from sqlalchemy.exc import CompileError, DataError, IntegrityError, NoSuchTableError

from bot.store.database import StoreConfigError, Transaction
from bot.store.dialects import Database
from bot.store.schema import (
    READY,
    SENDING,
    instance_table,
    known_revisions,
    lane_table,
    metadata,
    outbox_table,
    read_revision,
    spending_table,
    upgrade,
)

FORMAT = 1
_ROWS_AT_ONCE = 500
_MAX_LINE = 256 * 1024 * 1024
_LEFT_OUT = frozenset({instance_table.name, spending_table.name})
"""What is true of running processes, and of the last hour only."""


class BadBackup(Exception):
    """The file is not a complete backup; the message says why."""


@dataclass(frozen=True, slots=True)
class BackupSize:
    """How much was written or read."""

    tables: int
    rows: int


async def write_backup(database: Database, file: IO[bytes], version: str) -> BackupSize:
    """Write all tables as they are at one moment; a server may go on working meanwhile."""
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
        return await database.snapshot(lambda transaction: _write(transaction, packed, version))


async def restore_backup(database: Database, file: IO[bytes]) -> BackupSize:
    """Fill an empty database in one transaction, at the backup's revision, then bring it up to date."""
    sizes: list[BackupSize] = []
    await database.migrate(lambda transaction: sizes.append(_restore(transaction, file)))
    return sizes[-1]


def _write(transaction: Transaction, packed: gzip.GzipFile, version: str) -> BackupSize:
    def put(value: object) -> None:
        packed.write(msgspec.json.encode(value) + b"\n")

    tables = [table for table in metadata.sorted_tables if table.name not in _LEFT_OUT]
    put({"whetstone_backup": FORMAT, "revision": read_revision(transaction), "version": version})
    rows = 0
    for table in tables:
        columns = [str(column.name) for column in table.columns]
        put({"table": str(table.name), "columns": columns})
        # Rows are fetched as they are written: a table may be larger than memory.
        query = select(table).execution_options(yield_per=_ROWS_AT_ONCE)
        for row in transaction.execute(query):
            put(list(row))
            rows += 1
    put({"rows": rows})  # a file that was cut off lacks it
    return BackupSize(len(tables), rows)


def _restore(transaction: Transaction, file: IO[bytes]) -> BackupSize:
    file.seek(0)  # the transaction may be run again
    with _readable(), gzip.GzipFile(fileobj=file, mode="rb") as packed:
        lines = _read_lines(packed)
        header = next(lines, None)
        if not isinstance(header, dict) or header.get("whetstone_backup") != FORMAT:
            raise BadBackup("this is not a Whetstone backup")
        if header["revision"] not in known_revisions():
            raise BadBackup(
                f"this backup is of version {header['version']}: restore it with that version or a newer one"
            )
        _make_empty(transaction, header["revision"])
        size = _fill(transaction, lines)
    upgrade(transaction)
    _settle(transaction)
    return size


def _make_empty(transaction: Transaction, revision: str) -> None:
    """Leave empty tables of this revision; refuse where anything is stored."""
    if read_revision(transaction) is not None:
        kept = [table for table in metadata.sorted_tables if table.name not in _LEFT_OUT]
        filled = [table.name for table in kept if transaction.execute(select(table).limit(1)).first()]
        if filled:
            raise StoreConfigError(
                f"the store is not empty ({', '.join(filled)}); set DATABASE_URL to a new one"
            )
        metadata.drop_all(transaction.connection)
        transaction.execute(text("DROP TABLE alembic_version"))
    upgrade(transaction, revision)


def _fill(transaction: Transaction, lines: Iterator[Any]) -> BackupSize:
    tables = rows = 0
    table: Table | None = None
    columns: list[str] = []
    batch: list[dict[str, Any]] = []

    def flush() -> None:
        if table is not None and batch:
            transaction.execute(insert(table), batch)
            batch.clear()

    for line in lines:
        if isinstance(line, list) and table is not None:
            batch.append(
                {name: _value(table, name, value) for name, value in zip(columns, line, strict=True)}
            )
            rows += 1
            if len(batch) >= _ROWS_AT_ONCE:
                flush()
            continue
        flush()
        if not isinstance(line, dict):
            break
        if "rows" in line:
            if line["rows"] != rows:
                break
            return BackupSize(tables, rows)
        columns = line["columns"]
        # As the backup's revision has it, which may be older than this program's.
        table = Table(line["table"], MetaData(), autoload_with=transaction.connection)
        tables += 1
    raise BadBackup("the backup is incomplete: its end is missing")


def _settle(transaction: Transaction) -> None:
    """Free what running processes held, and have every owed write looked up before it is repeated."""
    transaction.execute(update(lane_table).values(owner=None, isolated=None))
    # A write that was ready then may have been sent since the backup was made.
    ready = update(outbox_table).where(outbox_table.c.state == READY, outbox_table.c.refusal.is_(None))
    transaction.execute(ready.values(state=SENDING, sending_at=outbox_table.c.created_at))


def _value(table: Table, name: str, value: Any) -> Any:
    if isinstance(value, str) and isinstance(table.columns[name].type, LargeBinary):
        return msgspec.json.decode(msgspec.json.encode(value), type=bytes)
    return value


def _read_lines(packed: gzip.GzipFile) -> Iterator[Any]:
    while line := packed.readline(_MAX_LINE):
        yield msgspec.json.decode(line)


@contextmanager
def _readable() -> Iterator[None]:
    """Raise `BadBackup` for whatever is wrong with the file; inside the transaction, which is rolled back."""
    broken = (
        EOFError,
        gzip.BadGzipFile,
        zlib.error,
        msgspec.MsgspecError,
        LookupError,
        TypeError,
        ValueError,
    )
    try:
        yield
    except (*broken, NoSuchTableError, CompileError, IntegrityError, DataError) as error:
        raise BadBackup(f"the file is not a valid backup: {error}") from error
