"""`whetstone backup`: write the whole store to a file."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING

from bot.cli import UsageError
from bot.resources import open_existing_store, read_database_url

if TYPE_CHECKING:
    from bot.store.backup import BackupSize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", metavar="FILE", help="the new file to write; - for stdout")


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.file == "-":
        if sys.stdout.isatty():
            raise UsageError("a backup is not text; redirect it to a file")
        size = _back_up(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        size = _back_up_to(Path(arguments.file))
    print(f"{size.rows} rows of {size.tables} tables were written to {arguments.file}.", file=sys.stderr)


def _back_up_to(target: Path) -> BackupSize:
    """Write a file that only its owner can read, and that is there only once it is whole."""
    part = target.with_name(f"{target.name}.part")
    if target.exists():
        raise UsageError(f"{target} exists; give another name")
    try:
        new = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(new, "wb") as file:
            try:
                size = _back_up(file)
                file.flush()
                os.fsync(file.fileno())
                part.rename(target)
            except BaseException:
                part.unlink()
                raise
    except OSError as error:
        raise UsageError(f"{target} can't be written: {error.strerror or error}") from None
    return size


def _back_up(file: IO[bytes]) -> BackupSize:
    from bot.store.backup import write_backup

    async def back_up() -> BackupSize:
        async with open_existing_store(read_database_url()) as store:
            return await write_backup(store.database, file, version("whetstone-bot"))

    return asyncio.run(back_up())
