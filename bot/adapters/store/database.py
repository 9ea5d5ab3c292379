"""What does the store need of a database, and when is a database away?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from bot.adapters.store.transaction import Result, Work
from bot.ports import StoreUnavailable

COMMAND_SECONDS = 8
"""GitHub waits ten seconds for an answer: a store that needs longer is away."""


class Database(Protocol):
    """Runs work in transactions without blocking the event loop."""

    async def write(self, work: Work[Result]) -> Result:
        """Its result, once it is committed."""
        ...

    async def read(self, work: Work[Result]) -> Result:
        """Its result; each statement sees what is committed, and waits for no writer."""
        ...

    async def migrate(self, work: Work[None]) -> None:
        """Done while nobody else does it, however long it takes."""
        ...

    async def scrub(self, *, rewrite: bool = False) -> None:
        """Leave nothing of what was deleted in the database's files, as far as that is ours to do."""
        ...

    async def close(self) -> None:
        """Give every connection back."""
        ...


@contextmanager
def one_kind_of_error() -> Iterator[None]:
    """`StoreUnavailable` for whatever waiting mends; our own mistakes stay what they are."""
    try:
        yield
    except DBAPIError as error:
        if _is_our_mistake(error):
            raise
        raise StoreUnavailable(str(error.orig)) from error
    except (OSError, PoolTimeout) as error:  # a time-out is an OSError, too
        raise StoreUnavailable(str(error) or type(error).__name__) from error


_OURS = frozenset({"22", "23", "42", "54"})
"""Classes of errors: a value, a constraint, a statement, a limit of the database itself."""


def _is_our_mistake(error: DBAPIError) -> bool:
    """A value or a statement that the database will never take."""
    state = getattr(error.orig, "sqlstate", None) or ""
    return isinstance(error, IntegrityError | DataError | ProgrammingError) or state[:2] in _OURS
