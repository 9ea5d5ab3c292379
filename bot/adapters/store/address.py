"""Which database does `DATABASE_URL` name?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


class StoreRefused(Exception):
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


Address = SqliteFile | PostgresServer


def address(url: str) -> Address:
    """The database that the URL names; `StoreRefused` where it names none that we know."""
    scheme, separator, rest = url.partition("://")
    if separator and scheme in {"postgresql", "postgres"}:
        return PostgresServer(f"postgresql://{rest}")
    if separator and scheme == "sqlite" and rest.startswith("/") and rest[1:]:
        return SqliteFile(Path(rest[1:]).absolute())
    raise StoreRefused(
        "DATABASE_URL names no known database; use sqlite:///relative.db, "
        "sqlite:////absolute.db or postgresql://user:password@host/name"
    )
