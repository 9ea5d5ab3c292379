"""`whetstone export`: write a pull request's iterations as files."""

from __future__ import annotations

import argparse
from pathlib import Path

from bot.cli import CommandFailed, UsageError
from bot.cli.common import add_repository, positive_integer
from bot.resources import open_existing_store, read_database_url
from bot.turn.rule_book import stored_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_repository(parser)
    parser.add_argument("number", metavar="N", type=positive_integer, help="the pull request's number")
    parser.add_argument("directory", metavar="DIR", type=Path, help="the output directory, created if needed")


async def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    files = await _export_files(arguments.repository, arguments.number)
    if files is None:
        raise CommandFailed(
            f"no reviewed iteration is recorded for {arguments.repository}#{arguments.number}"
        )
    try:
        _write(arguments.directory, files)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error


def _write(directory: Path, files: dict[str, str]) -> None:
    for name, text in sorted(files.items()):
        path = directory / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.chmod(0o600)  # one that was there before, too
        path.write_text(text, encoding="utf-8")
        print(path)


async def _export_files(repository: str, number: int) -> dict[str, str] | None:
    """Every file of a pull request's export with its text; None if nothing is reviewed there."""
    from bot.history.export import export_files
    from bot.iterations.selection import selection_report
    from bot.store.pull_requests import load_pull_request
    from bot.store.repositories import find_repository

    async with open_existing_store(read_database_url()) as store:
        recorded = await store.read(find_repository, repository)
        lane = f"pr:{recorded.id}:{number}" if recorded else ""
        pull_request = await store.read(load_pull_request, lane)
        if pull_request is None:
            return None
        report = selection_report(pull_request, await stored_rules(store, pull_request.repository))
    if report is None:
        return None
    return export_files(report, pull_request.repository, pull_request.tracked)
