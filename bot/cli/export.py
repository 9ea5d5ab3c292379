"""`whetstone export`: what is kept of a pull request's iterations, as files."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from bot import wiring
from bot.cli import Command, UsageError
from bot.cli.comment import repository_named
from bot.cli.mistakes import said_in_one_line
from bot.cli.numbers import at_least_one
from bot.ports import StoreUnavailable


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", help="where the pull request is")
    parser.add_argument("number", metavar="N", type=at_least_one, help="the pull request's number")
    parser.add_argument("directory", metavar="DIR", type=Path, help="where to write; made if it is not there")


def _run(arguments: argparse.Namespace) -> int:
    repository = repository_named(arguments.repository)
    try:
        with said_in_one_line():
            files = asyncio.run(wiring.bundle(repository, arguments.number))
    except StoreUnavailable as error:
        print(f"whetstone export: {error}", file=sys.stderr)
        return 1
    if files is None:
        where = f"{arguments.repository}#{arguments.number}"
        print(f"whetstone export: nothing is judged at {where}", file=sys.stderr)
        return 1
    try:
        _written(arguments.directory, files)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    return 0


def _written(directory: Path, files: dict[str, str]) -> None:
    for name, text in sorted(files.items()):
        path = directory / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.chmod(0o600)  # also one that was there before
        path.write_text(text, encoding="utf-8")
        print(path)


COMMAND = Command(
    "export",
    "Write scores, the best iteration and the selection report of a pull request as files.",
    "whetstone export acme/knowledge 212 ./export",
    _arguments,
    _run,
)
