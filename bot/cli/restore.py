"""`whetstone restore`: fill an empty store from a backup."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO, TYPE_CHECKING

from bot.cli import UsageError
from bot.resources import CannotStart, read_database_url

if TYPE_CHECKING:
    from bot.store.backup import BackupSize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", metavar="FILE", help="what `whetstone backup` wrote; - for stdin")


async def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from bot.store.backup import BadBackup

    try:
        with _open(arguments.file) as file:
            size = await _restore(file)
    except OSError as error:
        raise UsageError(f"{arguments.file}: {error.strerror or error}") from None
    except BadBackup as reason:
        raise UsageError(f"{arguments.file}: {reason}; nothing was restored") from None
    print(f"{size.rows} rows of {size.tables} tables were restored.")
    print("People who used /feedback-forget since the backup are in the store again; ask them to repeat it.")


@contextmanager
def _open(name: str) -> Iterator[IO[bytes]]:
    """Open the backup so that it can be read from the start again."""
    if name != "-":
        with Path(name).open("rb") as file:
            yield file
        return
    with tempfile.TemporaryFile() as copy:
        copyfileobj(sys.stdin.buffer, copy)
        yield copy


async def _restore(file: IO[bytes]) -> BackupSize:
    from bot.store.backup import restore_backup
    from bot.store.database import StoreConfigError, parse_store_url
    from bot.store.dialects import WorkerLock
    from bot.store.store import connect_database

    try:
        address = parse_store_url(read_database_url())
        async with AsyncExitStack() as stack:
            database = connect_database(address, None)
            stack.push_async_callback(database.close)
            if isinstance(address, Path):
                stack.callback(WorkerLock(address).release)
            return await restore_backup(database, file)
    except StoreConfigError as reason:
        raise CannotStart(str(reason)) from reason
